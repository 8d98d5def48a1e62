//! The one query of a text; what is given as a query and is none.

use super::refusal::{Planned, wrong};
use crate::contract::nearest::nearest;
use crate::table::VIEWS;
use sqlparser::ast::{BinaryOperator, Expr, ObjectName, Query, Statement, Value, Visit, Visitor};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError, ParserOptions};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// How alike a misspelt first word is to the right one.
const ALIKE: f64 = 0.8;
const BEGINNINGS: [&str; 3] = ["SELECT", "WITH", "FROM"];
const CHANGING: [&str; 8] = ["ALTER", "CREATE", "DELETE", "DROP", "INSERT", "MERGE", "TRUNCATE", "UPDATE"];
const SUCH_AS: &str = "such as: SELECT name FROM filings WHERE county = 'Duval' LIMIT 10";
/// Operators of a query. The SQL engine takes minutes and gigabytes for a few thousand comparisons, and a tree that deep can end the
/// program.
const MAX_OPERATORS: usize = 1000;
/// Of [`RETRIED`] in one another. The parser tries each twice where what follows is wrong: 18 without their ends took two seconds
/// without optimisation, and each one more doubles that.
const MAX_RETRIED: usize = 12;
/// SQL has brackets in brackets, and its plan calls in calls: the stack of a thread of the program is too small for some.
const STACK: usize = 64 << 20;
/// Words whose parentheses the parser reads as an expression of its own, and then as a call.
const RETRIED: [Keyword; 12] = [
    Keyword::ARRAY,
    Keyword::CASE,
    Keyword::CAST,
    Keyword::CEIL,
    Keyword::CONVERT,
    Keyword::FLOOR,
    Keyword::NOT,
    Keyword::OVERLAY,
    Keyword::POSITION,
    Keyword::SAFE_CAST,
    Keyword::SUBSTRING,
    Keyword::TRY_CAST,
];
/// Operators that are words.
const WORDS: [Keyword; 17] = [
    Keyword::AND,
    Keyword::AT,
    Keyword::BETWEEN,
    Keyword::CASE,
    Keyword::COLLATE,
    Keyword::EXCEPT,
    Keyword::ILIKE,
    Keyword::IN,
    Keyword::INTERSECT,
    Keyword::IS,
    Keyword::JOIN,
    Keyword::LIKE,
    Keyword::NOT,
    Keyword::OR,
    Keyword::UNION,
    Keyword::WHEN,
    Keyword::XOR,
];
/// Parts of what the parser says, and the form to use.
const FORMS: [(&str, &str); 3] = [
    ("Unterminated string", "a text ends with a single quote, and a quote in it is written twice: 'O''NEIL'"),
    ("Unterminated encoded string", "a text is in single quotes: LIKE '%SUN%'"),
    ("found: %", "a text is in single quotes: LIKE '%SUN%'"),
];

/// The query of a text.
pub(super) fn parsed(sql: &str) -> Planned<Query> {
    let tokens = Tokenizer::new(&GenericDialect, sql).tokenize_with_location();
    let known = tokens.as_deref().unwrap_or_default();
    mistake(sql, known)?;
    bounded(known)?;
    let options = ParserOptions { trailing_commas: true, ..ParserOptions::default() };
    let parser = Parser::new(&GenericDialect).with_options(options);
    let statements = tokens
        .map_err(ParserError::from)
        .and_then(|tokens| on_large_stack(|| parser.with_tokens_with_locations(tokens).parse_statements()));
    let mut statements = match statements {
        Ok(statements) => statements.into_iter(),
        Err(ParserError::RecursionLimitExceeded) => return too_deep(),
        Err(error) => {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default().trim_start_matches("sql parser error: ");
            let form = FORMS.iter().find(|(part, _)| reason.contains(part)).map_or(SUCH_AS, |(_, form)| form);
            return wrong(reason, form);
        }
    };
    match (statements.next(), statements.next()) {
        (Some(Statement::Query(query)), None) => Ok(*query),
        (_, Some(_)) => wrong("it has more than one statement", "ask one query at a time"),
        _ => wrong("it is no query", SUCH_AS),
    }
}

/// The result, on a stack for SQL of any depth.
pub(super) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::grow(STACK, run)
}

/// What is wrong with a text that cannot be a query.
fn mistake(sql: &str, tokens: &[TokenWithSpan]) -> Planned<()> {
    let is_code = |token: &&Token| !matches!(token, Token::Whitespace(_) | Token::LParen);
    let mut code = tokens.iter().map(|token| &token.token).filter(is_code);
    let Some(first) = code.next() else {
        let is_empty = sql.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with("--"));
        if is_empty {
            return wrong("it is empty", "such as: SELECT county, filings FROM agg_county_window");
        }
        // The parser says what is wrong.
        return Ok(());
    };
    let word = first.to_string();
    let upper = word.to_uppercase();
    if BEGINNINGS.contains(&&*upper) {
        return Ok(());
    }
    let given = sql.trim();
    if given.ends_with(".sql") && !given.contains(char::is_whitespace) {
        return wrong(format!("{given} is a file"), format!("sunlake query -f {given}"));
    }
    let way_out = match nearest(&upper, BEGINNINGS, ALIKE) {
        Some(near) => format!("did you mean {near}?"),
        None if CHANGING.contains(&&*upper) => {
            "a query changes nothing; for tables of your own: `sunlake export duckdb FILE`".to_owned()
        }
        None => "for the tables: `sunlake status --tables`; for their columns: catalog/TABLES.md of the lake"
            .to_owned(),
    };
    let word = if word == "." { given } else { &word };
    wrong(format!("a query begins with SELECT or WITH, not with {word}"), way_out)
}

fn too_deep<T>() -> Planned<T> {
    wrong("it is nested too deeply", "name its inner steps: WITH step AS (SELECT …) SELECT … FROM step")
}

/// The most of [`RETRIED`] that are open at a place.
fn retried(tokens: &[TokenWithSpan]) -> usize {
    let code = tokens.iter().map(|token| &token.token).filter(|token| !matches!(token, Token::Whitespace(_)));
    let (mut open, mut is_retried, mut depth, mut most) = (Vec::new(), false, 0, 0);
    for token in code {
        let keyword = if let Token::Word(word) = token { word.keyword } else { Keyword::NoKeyword };
        let opened = match token {
            Token::LParen | Token::LBracket => Some(is_retried),
            _ => (keyword == Keyword::CASE).then_some(true),
        };
        let is_end = matches!(token, Token::RParen | Token::RBracket) || keyword == Keyword::END;
        depth += usize::from(opened == Some(true));
        depth -= usize::from(is_end && open.pop() == Some(true));
        open.extend(opened);
        is_retried = RETRIED.contains(&keyword);
        most = most.max(depth);
    }
    most
}

/// Refuses a query with more operators than the engine can plan, or nested deeper than the parser can read.
fn bounded(tokens: &[TokenWithSpan]) -> Planned<()> {
    if retried(tokens) > MAX_RETRIED {
        return too_deep();
    }
    let operators = tokens.iter().filter(|token| is_operator(&token.token)).count();
    if operators <= MAX_OPERATORS {
        return Ok(());
    }
    let what = format!("it has {operators} operators, at most {MAX_OPERATORS} can run");
    wrong(what, "many values are one operator: zip IN ('32801', '32803')")
}

fn is_operator(token: &Token) -> bool {
    match token {
        Token::Word(word) => WORDS.contains(&word.keyword),
        Token::Comma | Token::LParen | Token::RParen | Token::Period | Token::SemiColon | Token::EOF => false,
        Token::Whitespace(_) | Token::Number(..) => false,
        Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) => false,
        _ => true,
    }
}

/// The tables that a query names, those of a view in place of the view. Names that it defines itself may be among them.
pub(super) fn tables_of(query: &Query) -> BTreeSet<String> {
    let mut names = Names::default();
    let _ = query.visit(&mut names);
    let mut tables = BTreeSet::new();
    for name in names.0 {
        match VIEWS.iter().find(|view| view.name == name) {
            Some(view) => tables.extend(view.tables.iter().map(|table| (*table).to_owned())),
            None => _ = tables.insert(name),
        }
    }
    tables
}

/// The texts that a query compares columns with.
#[derive(Default)]
pub(crate) struct ComparedTexts {
    /// Column and text of each equality, inequality and list.
    pub(crate) equal: Vec<(String, String)>,
    /// Column and pattern of each `LIKE`.
    pub(crate) like: Vec<(String, String)>,
    /// Columns that are compared with NULL, which none is equal to.
    pub(crate) null: Vec<String>,
}

/// What a query compares with texts; nothing of one that cannot be read.
pub(crate) fn compared_texts(sql: &str) -> ComparedTexts {
    let mut compared = ComparedTexts::default();
    if let Ok(query) = parsed(sql) {
        let _ = query.visit(&mut compared);
    }
    compared
}

impl Visitor for ComparedTexts {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let (found, of, with) = match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right } => {
                (&mut self.equal, left, std::slice::from_ref(&**right))
            }
            Expr::InList { expr, list, .. } => (&mut self.equal, expr, &list[..]),
            Expr::Like { expr, pattern, .. } => (&mut self.like, expr, std::slice::from_ref(&**pattern)),
            _ => return ControlFlow::Continue(()),
        };
        let column = match &**of {
            Expr::Identifier(name) => Some(name),
            Expr::CompoundIdentifier(names) => names.last(),
            _ => None,
        };
        for value in with {
            let (Some(column), Expr::Value(value)) = (column, value) else { continue };
            match &value.value {
                Value::SingleQuotedString(text) => found.push((column.value.clone(), text.clone())),
                Value::Null => self.null.push(column.value.clone()),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

#[derive(Default)]
struct Names(BTreeSet<String>);

impl Visitor for Names {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        self.0.insert(name.to_string().trim_matches('"').to_lowercase());
        ControlFlow::Continue(())
    }
}
