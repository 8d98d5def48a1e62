//! A served source, a proxy before it that follows a script, and a lake that runs through the proxy write.

use super::command::{Finished, Sunlake};
use super::lake;
use super::proxy::{Proxy, Reply, Request};
use super::scratch::Scratch;
use super::server::{AGENCY, ApiServer};
use super::source::{self, Source};
use std::path::{Path, PathBuf};

/// A served source, a proxy that misbehaves before it, and a lake.
pub(crate) struct Weather {
    pub(crate) source: &'static Source,
    pub(crate) server: ApiServer,
    pub(crate) proxy: Proxy,
    pub(crate) scratch: Scratch,
    daily: PathBuf,
}

impl Weather {
    pub(crate) fn new(script: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        Self::over(source::small(), script)
    }

    pub(crate) fn over(
        source: &'static Source,
        script: impl FnMut(&Request) -> Reply + Send + 'static,
    ) -> Self {
        let server = ApiServer::unhurried(source, AGENCY);
        let proxy = Proxy::scripted(server.address, script);
        let scratch = Scratch::new();
        let daily = scratch.file("daily.toml", "name = \"daily\"\n[aggregates]\nenabled = false\n");
        Self { source, server, proxy, scratch, daily }
    }

    /// A run into a lake. Its pipeline file is never rewritten, so several may run at once.
    pub(crate) fn run_into(&self, lake: &Path) -> Sunlake {
        self.asking(Sunlake::run(&self.daily, lake), self.source.today)
    }

    /// A run with further lines in its pipeline file.
    pub(crate) fn command(&self, lines: &str) -> Sunlake {
        self.command_of(self.source.today, lines)
    }

    /// The same as of a day.
    pub(crate) fn command_of(&self, today: &str, lines: &str) -> Sunlake {
        self.asking(Sunlake::run(&self.pipeline(lines), &self.scratch.lake()), today)
    }

    /// A pipeline file with further lines.
    pub(crate) fn pipeline(&self, lines: &str) -> PathBuf {
        let text = format!("name = \"backfill\"\n{lines}\n[aggregates]\nenabled = false\n");
        self.scratch.file("backfill.toml", &text)
    }

    /// A command that asks through the proxy as of a day.
    pub(crate) fn asking(&self, command: Sunlake, today: &str) -> Sunlake {
        command.asking(&self.proxy.url(), today, &self.server.key)
    }

    pub(crate) fn run(&self, lines: &str) -> Finished {
        self.command(lines).finish()
    }

    pub(crate) fn assert_complete(&self) {
        let found = lake::filings(&self.scratch.lake());
        lake::assert_same(&found, &lake::filings(&self.source.lake), "after the faults");
    }

    pub(crate) fn assert_nothing_published(&self) {
        assert!(lake::commits(&self.scratch.lake()).is_empty());
        assert!(self.scratch.lake().join("current").symlink_metadata().is_err());
    }
}
