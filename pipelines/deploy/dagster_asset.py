"""sunlake every morning under Dagster: an asset with its rows, days and requests as metadata.

The code location needs the binary, the pipeline files and a folder that outlives the run. The address and the key are set
for it as SUNLAKE_BASE_URL and SUNLAKE_API_KEY_FILE. SUNLAKE_STATE is a second folder to keep: it counts
the requests of the account.
"""

import json
import subprocess

import dagster as dg

# 5: paused, 6: API unavailable, 8: another run holds the lake. The others need a person.
AGAIN_LATER = {5, 6, 8}


@dg.asset(group_name="sunlake", op_tags={"dagster/concurrency_key": "sunlake"})
def florida_filings(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """The lake of Florida business filings."""
    command = ["sunlake", "run", "/etc/sunlake/pipelines/daily.toml", "--lake", "/var/lib/sunlake/lake", "--json"]
    # stderr goes to the run's log.
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode in AGAIN_LATER:
        context.log.warning(f"sunlake ended with {done.returncode}; again in an hour")
        raise dg.RetryRequested(max_retries=12, seconds_to_wait=3600)
    if done.returncode != 0:
        raise dg.Failure(f"sunlake ended with {done.returncode}: {done.stdout}", allow_retries=False)
    summary = json.loads(done.stdout.splitlines()[-1])
    coverage, filings = summary["coverage"], summary["rows"].get("filings", {})
    return dg.MaterializeResult(
        metadata={
            "snapshot": summary["snapshot"],
            "outcome": summary["outcome"],
            "dagster/row_count": filings.get("total", 0),
            "added": filings.get("added", 0),
            "days complete": coverage["complete"],
            "days wanted": coverage["days"],
            "requests": summary["requests"]["sent"],
        }
    )


daily = dg.ScheduleDefinition(
    name="sunlake_daily",
    target=[florida_filings],
    cron_schedule="15 6 * * *",
    execution_timezone="America/New_York",
    default_status=dg.DefaultScheduleStatus.RUNNING,
)
defs = dg.Definitions(assets=[florida_filings], schedules=[daily])
