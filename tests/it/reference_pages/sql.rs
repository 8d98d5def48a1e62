//! The functions of SQL, in the page of `query`.

use super::page::{project, same, table};
use sunlake::aggregate::sql_functions;

const BEGIN: &str = "Do not edit this table. -->\n\n";
const END: &str = "<!-- End of the table. -->";

#[test]
fn page_of_queries_has_every_function() {
    let file = project().join("docs/guides/query.md");
    let page = std::fs::read_to_string(&file).expect("a page");
    let (before, rest) = page.split_once(BEGIN).expect("the begin of the table");
    let (_, after) = rest.split_once(END).expect("the end of the table");
    let rows: Vec<Vec<String>> =
        sql_functions().into_iter().map(|(of, calls)| vec![of.to_owned(), calls]).collect();
    same(&file, &format!("{before}{BEGIN}{}{END}{after}", table(&["function", "calls"], &rows)));
}
