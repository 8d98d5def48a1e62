//! A small invented Florida that changes from one morning to the next, as an API and as files of the state.

use crate::state_order::{company, complete_set, file, put, renamed};
use crate::support::changing_api::ChangingApi;
use crate::support::command::Sunlake;
use crate::support::dice::Dice;
use crate::support::lake::{current, files_below};
use crate::support::listings::{Filing, Listings};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, Plan};
use crate::support::source;
use jiff::ToSpan;
use jiff::civil::{Date, date};
use std::path::Path;
use std::sync::OnceLock;
use sunlake::table::{FilingRow, read_rows};

/// The first morning of each life.
const FIRST: Date = date(2026, 3, 11);
/// Days of filings before it.
const DAYS: i64 = 4;
/// Filings of each of these days.
const FILINGS_OF_A_DAY: usize = 9;

/// Where a life's filings come from, on which day.
pub(super) struct World {
    pub(super) today: Date,
    pub(super) source: Source,
}

/// Where filings come from.
pub(super) enum Source {
    Api(Api),
    State(State),
}

impl World {
    pub(super) fn of_api(seed: u64, dice: &mut Dice) -> Self {
        Self { today: FIRST, source: Source::Api(Api::start(seed, dice)) }
    }

    pub(super) fn of_state(scratch: &Scratch, dice: &mut Dice) -> Self {
        Self { today: FIRST, source: Source::State(State::start(scratch, dice)) }
    }

    pub(super) fn api(&self) -> Option<&Api> {
        match &self.source {
            Source::Api(api) => Some(api),
            Source::State(_) => None,
        }
    }

    /// The oldest day that the plan reaches; none of files.
    pub(super) fn oldest_day(&self) -> Option<Date> {
        self.api().map(|api| api.changing.state().listings.oldest_day())
    }

    /// The lines of a pipeline that say where it reads.
    pub(super) fn reads(&self) -> (&'static str, &'static str) {
        match &self.source {
            Source::Api(_) => ("extract", "days = \"window\"\n"),
            Source::State(_) => ("import", "folder = \"files\"\n"),
        }
    }

    /// A run of a pipeline file as of a day.
    pub(super) fn run(&self, pipeline: &Path, lake: &Path, today: Date) -> Sunlake {
        let run = Sunlake::run(pipeline, lake).args(["--no-progress"]);
        match &self.source {
            Source::Api(api) => run.asking(&api.changing.proxy.url(), &today.to_string(), api.key),
            Source::State(_) => run.args(["--today", &today.to_string()]),
        }
    }

    /// The next morning; on one without news only the day is another.
    pub(super) fn advance(&mut self, scratch: &Scratch, dice: &mut Dice, has_news: bool) {
        self.today += 1.day();
        match &mut self.source {
            Source::Api(api) => api.advance(self.today, dice, has_news),
            Source::State(state) => state.advance(scratch, self.today, dice, has_news),
        }
    }
}

/// An API with few rows.
pub(super) struct Api {
    pub(super) changing: ChangingApi,
    key: &'static str,
    newest_id: u64,
}

/// What has lists that do not change, for all lives.
fn server() -> &'static ApiServer {
    static SERVER: OnceLock<ApiServer> = OnceLock::new();
    SERVER.get_or_init(|| ApiServer::generous(source::small(), AGENCY))
}

/// Filings that new ones resemble.
fn patterns() -> &'static [Filing] {
    static PATTERNS: OnceLock<Vec<Filing>> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        let files = files_below(&current(&source::small().lake).join("filings"));
        let rows = files.iter().flat_map(|file| read_rows::<FilingRow>(file).expect("rows"));
        rows.filter(|row| row.listed && row.status == "active").map(Filing::from).collect()
    })
}

/// A plan; every one reaches all days of a life.
pub(super) fn plan(dice: &mut Dice) -> Plan {
    let rows_per_call = *dice.one_of(&[5, 7, 10, 25]);
    Plan {
        name: "custom",
        rows_per_call,
        max_offset: rows_per_call * *dice.one_of(&[1, 2, 5, 20]),
        window_days: 90,
    }
}

impl Api {
    fn start(seed: u64, dice: &mut Dice) -> Self {
        let listings = Listings::new(FIRST, plan(dice));
        let changing = ChangingApi::start(server(), listings, Vec::new(), !seed);
        let mut api = Self { changing, key: &server().key, newest_id: 1_000_000 };
        for day in 0..DAYS {
            (0..FILINGS_OF_A_DAY).for_each(|_| api.file(FIRST - day.days(), dice));
        }
        api
    }

    /// A filing of a day.
    fn file(&mut self, filed: Date, dice: &mut Dice) {
        self.newest_id += 1 + dice.below(9);
        let mut filing = dice.one_of(patterns()).clone();
        (filing.id, filing.filed) = (self.newest_id, filed);
        filing.document_number = format!("Z{:011}", filing.id);
        filing.name.push_str(&format!(" NO {}", filing.id));
        self.changing.state().listings.add(filing);
    }

    /// Days that get late filings lose none: a day with the same number of other rows is noticed weeks later, as documented.
    fn may_lose(day: Date) -> bool {
        day.day() % 2 == 0
    }

    fn advance(&mut self, today: Date, dice: &mut Dice, has_news: bool) {
        self.changing.state().advance(today);
        if !has_news {
            return;
        }
        (0..1 + dice.below(4)).for_each(|_| self.file(today, dice));
        let late = today - (1 + dice.below(4) as i64).days();
        if !Self::may_lose(late) {
            self.file(late, dice);
        }
        if dice.below(3) == 0 {
            self.dissolve(dice);
        }
    }

    /// One business is dissolved; not one of a fictitious name, whose days have no count of their own.
    pub(super) fn dissolve(&self, dice: &mut Dice) {
        let mut state = self.changing.state();
        let (from, to) = (state.listings.oldest_day(), state.listings.today);
        let query = crate::support::listings::Query::of_days(from, to, None);
        let is_due = |filing: &&Filing| filing.dissolved.is_none() && Self::may_lose(filing.filed);
        let ids: Vec<u64> = state.listings.rows(&query).filter(is_due).map(|filing| filing.id).collect();
        if !ids.is_empty() {
            state.listings.dissolve(*dice.one_of(&ids));
        }
    }
}

/// Files of the state.
pub(super) struct State {
    /// Records of all businesses, by document number, with their filing day.
    records: Vec<(String, Date)>,
    sets: u64,
    /// The day of the newest set.
    pub(super) set_of: Date,
}

fn digits(day: Date) -> String {
    day.strftime("%m%d%Y").to_string()
}

/// The name of the daily file of a day.
pub(super) fn daily_name(day: Date, kind: &str) -> String {
    format!("{}{kind}.txt", day.strftime("%Y%m%d"))
}

fn record(number: &str, filed: Date, transacted: Date) -> String {
    company(number, &[(473, &digits(filed)), (496, &digits(transacted))])
}

impl State {
    fn start(scratch: &Scratch, dice: &mut Dice) -> Self {
        let mut state = Self { records: Vec::new(), sets: 0, set_of: FIRST - DAYS.days() };
        for day in 0..DAYS {
            for _ in 0..FILINGS_OF_A_DAY {
                state.file(FIRST - (DAYS + day).days());
            }
        }
        state.deliver_set(scratch, FIRST - DAYS.days());
        for day in (0..DAYS).rev() {
            state.deliver_day(scratch, FIRST - day.days(), dice);
        }
        state
    }

    /// A new business; returns its place.
    fn file(&mut self, filed: Date) -> usize {
        let number = format!("L2600{:06}5", self.records.len());
        self.records.push((number, filed));
        self.records.len() - 1
    }

    /// A quarterly set of everything up to a day.
    pub(super) fn deliver_set(&mut self, scratch: &Scratch, day: Date) {
        self.sets += 1;
        self.set_of = day;
        let known = self.records.iter().filter(|(_, filed)| *filed <= day);
        let lines: Vec<String> = known.map(|(number, filed)| record(number, *filed, day)).collect();
        put(scratch, &complete_set(&format!("set{}", self.sets), &digits(day), &lines));
    }

    fn deliver_day(&mut self, scratch: &Scratch, day: Date, dice: &mut Dice) {
        let mut lines = Vec::new();
        for _ in 0..1 + dice.below(4) {
            let place = self.file(day - (dice.below(3) as i64).days());
            let (number, filed) = &self.records[place];
            lines.push(record(number, *filed, day));
        }
        put(scratch, &[file(&daily_name(day, "c"), &lines)]);
        if dice.below(3) == 0 {
            let (number, _) = dice.one_of(&self.records);
            let name = format!("NAME OF {day} LLC");
            put(scratch, &[file(&daily_name(day, "ce"), &[renamed(number, &digits(day), &name)])]);
        }
    }

    fn advance(&mut self, scratch: &Scratch, today: Date, dice: &mut Dice, has_news: bool) {
        if has_news {
            self.deliver_day(scratch, today, dice);
        } else {
            put(scratch, &[file(&daily_name(today, "c"), &[])]);
        }
    }
}
