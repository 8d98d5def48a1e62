//! Whether a run may change a lake: its source is that of the lake, and its day is none before.

use super::run_state::{RunState, SourceKind};
use crate::lake::Lake;
use crate::pipeline::error::{PipelineError, Result};
use jiff::civil::Date;

/// Refuses two runs that would damage a lake. The ids of another source would replace those of the register. On an earlier day, newer
/// filings would be missing from the listing and count as removed.
pub(in crate::pipeline) fn check_source_and_day(lake: &Lake, source: SourceKind, today: Date) -> Result<()> {
    let Some(commit) = lake.current()? else { return Ok(()) };
    let state = RunState::of(Some(&commit));
    match (state.source, state.as_of) {
        (Some(filled_from), _) if filled_from != source => {
            Err(PipelineError::OtherSource { lake: lake.to_string(), filled_from, asked: source })
        }
        (_, Some(newest)) if today < newest => {
            let undo = newest_as_of(lake, today)?;
            Err(PipelineError::EarlierDay { lake: lake.to_string(), newest, today, undo })
        }
        _ => Ok(()),
    }
}

/// The newest snapshot that no run of a later day came before.
fn newest_as_of(lake: &Lake, today: Date) -> Result<Option<u64>> {
    for number in lake.kept_snapshots()?.into_iter().rev() {
        let as_of = RunState::of(Some(&lake.commit(number)?)).as_of;
        if as_of.is_some_and(|as_of| as_of <= today) {
            return Ok(Some(number));
        }
    }
    Ok(None)
}
