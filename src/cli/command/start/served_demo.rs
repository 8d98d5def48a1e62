//! `serve --demo`: the sample as the API serves it, with a key for this start alone.

use crate::cli::context::embedded_api::sample_folder;
use crate::cli::context::pipeline_file::SAMPLE;
use crate::cli::exit::CommandError;
use crate::cli::output::words::lines;
use crate::cli::session::Session;
use crate::contract::plan::Plan;
use crate::pipeline::PipelineError;
use crate::pipeline::config::file::Pipeline;
use crate::serve::{Accounts, AccountsSource, IndexSource, KeyFile, KeyRequest, UsagePlace};
use secrecy::{ExposeSecret, SecretString};
use std::fmt::Write;
use tempfile::TempDir;

const ACCOUNT: &str = "demo";
const PLAN: Plan = Plan::Agency;

/// A sample that is served until it is dropped.
pub(crate) struct ServedDemo {
    folder: TempDir,
    key: SecretString,
}

impl ServedDemo {
    /// Writes the sample of the built-in pipeline, and makes a key.
    pub(crate) async fn make(session: &Session<'_>) -> Result<Self, CommandError> {
        let sample = Pipeline::built_in(SAMPLE)
            .ok_or_else(|| CommandError::Bug("the sample is not built in".to_owned()))?
            .map_err(PipelineError::from)?;
        let request =
            KeyRequest { account: ACCOUNT, plan: PLAN, scopes: &["data".to_owned()], expires_on: None };
        let made = KeyFile::default().create(request, session.random("a key")?, session.now());
        let key = made.map_err(|error| CommandError::Serve(error.into()))?.key;
        Ok(Self { folder: sample_folder(sample.spec.source.sample, session.today).await?, key })
    }

    /// What the server reads: the sample, its one key, and counts that end with it.
    pub(crate) fn sources(&self) -> (IndexSource, AccountsSource, UsagePlace) {
        let accounts = Accounts::single(self.key.expose_secret(), ACCOUNT, PLAN.limits(), &["data"]);
        (
            IndexSource::Snapshot(self.folder.path().join("current")),
            AccountsSource::Fixed(accounts),
            UsagePlace::Memory,
        )
    }

    /// The key, and a request to copy to the server at `url`.
    pub(crate) fn greeting(&self, url: &str) -> String {
        let key = self.key.expose_secret();
        lines(|text| {
            writeln!(
                text,
                "\nThe sample, invented by sunlake: no business in it exists. The key ends with this server.\n"
            )?;
            writeln!(text, "key       {key}")?;
            writeln!(
                text,
                "try       curl -H 'Authorization: Bearer {key}' '{url}/v1/fl/businesses?q=SUNSHINE&limit=2'"
            )
        })
    }
}
