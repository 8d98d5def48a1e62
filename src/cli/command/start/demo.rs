//! `demo`: the sample in a lake of its own, a first table, and what to do next.

use crate::cli::args::RowFormat;
use crate::cli::command::ask::query::{self, Question};
use crate::cli::command::run::Job;
use crate::cli::context::open_lake::open_lake;
use crate::cli::context::pipeline_file::read_pipeline;
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::{lines, print};
use crate::cli::session::Session;
use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

/// The sample, then details of some of its businesses.
const PIPELINES: [&str; 2] = ["sample", "sample-details"];

const COUNTIES: &str = "SELECT county, filings_settled_30_days AS filings, ROUND(100 * growth, 1) AS growth_percent, is_reliable AS differs_from_the_state FROM agg_county_window WHERE county IS NOT NULL ORDER BY filings DESC LIMIT 5";

pub(crate) async fn demo(session: &Session<'_>) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    let root = lake.root().display().to_string();
    if !session.common.quiet {
        // The first sign of life; the log follows.
        let _ = writeln!(
            std::io::stderr(),
            "Florida's filings, invented by sunlake, into {root}: no account, no key."
        );
    }
    let mut summaries = Vec::new();
    for name in PIPELINES {
        let pipeline = read_pipeline(session, Some(Path::new(name)))?;
        let (summary, _) = Job::new(session, &pipeline).published(true).await?;
        if summary.exit_code != exit::DONE {
            session.report(&summary, |text| writeln!(text, "{name}: {}", summary.outcome.name()))?;
            return Ok(summary.exit_code);
        }
        summaries.push(summary);
    }
    if session.common.json {
        return session.report(&summaries, |_| Ok(()));
    }
    print("\nCounties with the most filings of 15 to 44 days ago, and their growth:\n\n")?;
    let counties = Question { sql: COUNTIES.to_owned(), snapshot: None };
    query::answer(session, &counties, Some(RowFormat::Table), None)?;
    print(&lines(|text| {
        let flag = session.lake_flag();
        writeln!(text, "\nreport     {root}/catalog/report.html")?;
        writeln!(text, "\nnext")?;
        writeln!(
            text,
            "  sunlake query{flag} \"SELECT name, city_clean, county FROM businesses WHERE name LIKE 'SUNSHINE%' LIMIT 10\""
        )?;
        writeln!(text, "  sunlake changes{flag}")?;
        writeln!(text, "  sunlake init    pipelines of your own, for an account of the API")
    }))?;
    Ok(exit::DONE)
}
