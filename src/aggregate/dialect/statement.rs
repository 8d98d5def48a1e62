//! The one query of a text; what is given as a query and is none.

use super::refusal::{ALIKE, Result, wrong};
use crate::contract::hint::nearest;
use crate::table::VIEWS;
use sqlparser::ast::{BinaryOperator, Expr, ObjectName, Query, Statement, Value, Visit, Visitor};
use sqlparser::dialect::{Dialect, GenericDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError, ParserOptions};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, TokenizerError};
use std::any::TypeId;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::ControlFlow;

const BEGINNINGS: [&str; 3] = ["SELECT", "WITH", "FROM"];
const CHANGING: [&str; 8] = ["ALTER", "CREATE", "DELETE", "DROP", "INSERT", "MERGE", "TRUNCATE", "UPDATE"];
const SUCH_AS: &str = "such as: SELECT name FROM filings WHERE county = 'Duval' LIMIT 10";
const SUCH_CONDITIONS: &str = "such as: county = 'Duval' AND listed";
/// Operators of a query. The SQL engine takes minutes and gigabytes for a few thousand comparisons, and a tree that deep can end the
/// program.
const MAX_OPERATORS: usize = 1000;
/// Queries in one, which are planned one after another.
const MAX_QUERIES: usize = 128;
/// Expressions that the parser begins, by word or sign of the text, and for a short text. It tries some forms twice where what follows
/// is wrong (CASE, CAST, INTERVAL, a name with dots), each twice as often as the one around it; a text that is right takes about one.
const MAX_BEGUN: usize = 4;
const MAX_BEGUN_OF_SHORT: usize = 10_000;
/// SQL has brackets in brackets, and its plan calls in calls: the stack of a thread of the program is too small for some.
const STACK: usize = 64 << 20;
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
pub(super) fn parsed(sql: &str) -> Result<Query> {
    let tokens = tokens_of(sql);
    mistake(sql, tokens.as_deref().unwrap_or_default())?;
    let mut statements = read(tokens, SUCH_AS, |mut parser| parser.parse_statements())?.into_iter();
    match (statements.next(), statements.next()) {
        (Some(Statement::Query(query)), None) => Ok(*query),
        (_, Some(_)) => wrong("it has more than one statement", "ask one query at a time"),
        _ => wrong("it is no query", SUCH_AS),
    }
}

/// Fails if a text is not one condition. Without this, one with brackets of its own could become another query.
pub(in crate::aggregate) fn check_is_condition(sql: &str) -> Result<()> {
    let rest = read(tokens_of(sql), SUCH_CONDITIONS, |mut parser| {
        parser.parse_expr()?;
        Ok(parser.next_token().token)
    })?;
    match rest {
        Token::EOF => Ok(()),
        other => wrong(format!("it is more than one condition: it continues with {other}"), SUCH_CONDITIONS),
    }
}

type Tokens = Result<Vec<TokenWithSpan>, TokenizerError>;

fn tokens_of(sql: &str) -> Tokens {
    Tokenizer::new(&GenericDialect, sql).tokenize_with_location()
}

/// What the parser makes of a text. `such_as` is the hint where the parser gives no better one.
fn read<T>(
    tokens: Tokens,
    such_as: &str,
    parse: impl FnOnce(Parser<'_>) -> Result<T, ParserError>,
) -> Result<T> {
    let known = tokens.as_deref().unwrap_or_default();
    separated(known)?;
    bounded(known)?;
    let options = ParserOptions { trailing_commas: true, ..ParserOptions::default() };
    let dialect = Bounded { left: Cell::new(MAX_BEGUN_OF_SHORT + MAX_BEGUN * known.len()) };
    let parser = Parser::new(&dialect).with_options(options);
    let made = tokens
        .map_err(ParserError::from)
        .and_then(|tokens| on_large_stack(|| parse(parser.with_tokens_with_locations(tokens))));
    match made {
        Ok(made) => Ok(made),
        Err(ParserError::RecursionLimitExceeded) => too_deep(),
        Err(error) => {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default().trim_start_matches("sql parser error: ");
            let form = FORMS.iter().find(|(part, _)| reason.contains(part)).map_or(such_as, |(_, form)| form);
            wrong(reason, form)
        }
    }
}

/// The result, on a stack for SQL of any depth: a new one, unless most of such a stack is left.
pub(super) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, run)
}

/// What is wrong with a text that cannot be a query.
fn mistake(sql: &str, tokens: &[TokenWithSpan]) -> Result<()> {
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
    let hint = match nearest(&upper, BEGINNINGS, ALIKE) {
        Some(near) => format!("did you mean {near}?"),
        None if CHANGING.contains(&&*upper) => {
            "a query changes nothing; for tables of your own: `sunlake export duckdb FILE`".to_owned()
        }
        None => "for the tables: `sunlake status --tables`; for their columns: catalog/TABLES.md of the lake"
            .to_owned(),
    };
    let word = if word == "." { given } else { &word };
    wrong(format!("a query begins with SELECT or WITH, not with {word}"), hint)
}

/// Refuses a number with `_` between its digits, which would end before it, with a name after it.
fn separated(tokens: &[TokenWithSpan]) -> Result<()> {
    for pair in tokens.windows(2) {
        if let (Token::Number(number, _), Token::Word(word)) = (&pair[0].token, &pair[1].token)
            && word.quote_style.is_none()
            && word.value.starts_with('_')
        {
            let number = format!("{number}{}", word.value);
            let plain = number.replace('_', "");
            return wrong(
                format!("the number {number} has signs between its digits"),
                format!("write {plain}"),
            );
        }
    }
    Ok(())
}

fn too_deep<T>() -> Result<T> {
    wrong("it is nested too deeply", "name its inner steps: WITH step AS (SELECT …) SELECT … FROM step")
}

/// Refuses a query with more operators or queries in it than the engine can plan.
fn bounded(tokens: &[TokenWithSpan]) -> Result<()> {
    let count = |counts: fn(&Token) -> bool| tokens.iter().filter(|token| counts(&token.token)).count();
    let operators = count(is_operator);
    if operators > MAX_OPERATORS {
        let what = format!("it has {operators} operators, at most {MAX_OPERATORS} can run");
        return wrong(what, "many values are one operator: zip IN ('32801', '32803')");
    }
    let queries = count(|token| matches!(token, Token::Word(word) if word.keyword == Keyword::SELECT));
    if queries > MAX_QUERIES {
        let what = format!("it has {queries} queries in one, at most {MAX_QUERIES} can run");
        return wrong(
            what,
            "many rows are one query: SELECT zip, city FROM filings WHERE zip IN ('32801', '32803')",
        );
    }
    Ok(())
}

/// The parser's dialect for all engines, with the order of operators of `DuckDB`, and with an end to what it tries.
#[derive(Debug)]
struct Bounded {
    left: Cell<usize>,
}

/// What the parser asks for in a query.
macro_rules! as_generic {
    ($($supports:ident)*) => { $(fn $supports(&self) -> bool { GenericDialect.$supports() })* };
}

impl Dialect for Bounded {
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or_default());
        left.is_none().then_some(Err(ParserError::RecursionLimitExceeded))
    }

    /// `a = b IN (c)` is `a = (b IN (c))`.
    fn prec_value(&self, of: Precedence) -> u8 {
        match of {
            Precedence::Between | Precedence::Like => GenericDialect.prec_value(Precedence::Eq) + 1,
            of => GenericDialect.prec_value(of),
        }
    }

    /// `a IS DISTINCT FROM b AND c` is `(a IS DISTINCT FROM b) AND c`. The parser takes all that follows.
    fn parse_infix(&self, parser: &mut Parser<'_>, expr: &Expr, _: u8) -> Option<Result<Expr, ParserError>> {
        use Keyword::{DISTINCT, FROM, IS, NOT};
        let compared = if parser.parse_keywords(&[IS, DISTINCT, FROM]) {
            Expr::IsDistinctFrom
        } else if parser.parse_keywords(&[IS, NOT, DISTINCT, FROM]) {
            Expr::IsNotDistinctFrom
        } else {
            return None;
        };
        let other = parser.parse_subexpr(self.prec_value(Precedence::Is));
        Some(other.map(|other| compared(Box::new(expr.clone()), Box::new(other))))
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        GenericDialect.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        GenericDialect.is_identifier_part(ch)
    }

    as_generic! {
        supports_array_join_syntax supports_group_by_expr supports_group_by_with_modifier supports_match_recognize
        supports_left_associative_joins_without_parens supports_pipe_operator supports_dictionary_syntax supports_cte_without_as
        supports_window_function_null_treatment_arg supports_window_clause_named_window_reference supports_limit_comma
        supports_select_wildcard_except supports_select_wildcard_exclude supports_select_wildcard_replace supports_limit_by
        supports_select_wildcard_ilike supports_select_wildcard_rename support_map_literal_syntax allow_extract_custom
        allow_extract_single_quotes supports_extract_comma_syntax supports_parens_around_table_factor supports_try_convert
        supports_values_as_table_factor supports_from_first_select supports_projection_trailing_commas supports_struct_literal
        supports_bitwise_shift_operators supports_named_fn_args_with_assignment_operator supports_empty_projections
        supports_array_typedef_with_brackets supports_match_against supports_filter_during_aggregation supports_prewhere
        supports_data_type_signed_suffix supports_interval_options supports_with_fill supports_interpolate supports_settings
        supports_select_format supports_comment_optimizer_hint supports_comma_separated_trim supports_xml_expressions
        supports_select_item_multi_column_alias supports_connect_by
    }
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

/// A part of a query that is looked for.
pub(super) enum Part<'a> {
    Table(&'a ObjectName),
    Expr(&'a Expr),
}

/// Calls `look` with each part of a query or of a piece of one, and with the number of queries around it.
pub(super) fn walk(of: &impl Visit, look: &mut dyn FnMut(Part<'_>, u32)) {
    let _ = of.visit(&mut Walk { queries: 0, look });
}

/// The one visitor of syntax trees: each is compiled once more for some 500 types.
struct Walk<'a> {
    queries: u32,
    look: &'a mut dyn FnMut(Part<'_>, u32),
}

impl Visitor for Walk<'_> {
    type Break = Infallible;

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<Infallible> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Infallible> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, table: &ObjectName) -> ControlFlow<Infallible> {
        (self.look)(Part::Table(table), self.queries);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
        (self.look)(Part::Expr(expr), self.queries);
        ControlFlow::Continue(())
    }
}

/// The tables that a query names, those of a view in place of the view. Names that it defines itself may be among them.
pub(super) fn tables_of(query: &Query) -> BTreeSet<String> {
    let mut tables = BTreeSet::new();
    walk(query, &mut |part, _| {
        let Part::Table(name) = part else { return };
        let name = name.to_string().trim_matches('"').to_lowercase();
        match VIEWS.iter().find(|view| view.name == name) {
            Some(view) => tables.extend(view.tables.iter().map(|table| (*table).to_owned())),
            None => _ = tables.insert(name),
        }
    });
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
        walk(&query, &mut |part, _| {
            if let Part::Expr(expr) = part {
                compared.add(expr);
            }
        });
    }
    compared
}

impl ComparedTexts {
    fn add(&mut self, expr: &Expr) {
        let (found, of, with) = match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right } => {
                (&mut self.equal, left, std::slice::from_ref(&**right))
            }
            Expr::InList { expr, list, .. } => (&mut self.equal, expr, &list[..]),
            Expr::Like { expr, pattern, .. } => (&mut self.like, expr, std::slice::from_ref(&**pattern)),
            _ => return,
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
    }
}
