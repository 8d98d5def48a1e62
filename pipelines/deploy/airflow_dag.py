"""sunlake every morning under Airflow 3 (under Airflow 2, import dag and task from airflow.decorators).

The worker needs the binary, the pipeline files and a folder that outlives the task. The address and the key are set for
the worker as SUNLAKE_BASE_URL and SUNLAKE_API_KEY_FILE. SUNLAKE_STATE is a second folder to keep: it
counts the requests of the account.
"""

import json
import subprocess
from datetime import timedelta

import pendulum
from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import dag, task

# 5: paused, 6: API unavailable, 8: another run holds the lake. The others need a person.
AGAIN_LATER = {5, 6, 8}


@dag(
    schedule="15 6 * * *",
    start_date=pendulum.datetime(2026, 1, 1, tz="America/New_York"),
    catchup=False,
    max_active_runs=1,
)
def sunlake_daily():
    @task(retries=12, retry_delay=timedelta(hours=1))
    def run() -> dict:
        command = ["sunlake", "run", "/etc/sunlake/pipelines/daily.toml", "--lake", "/var/lib/sunlake/lake", "--json"]
        # stderr goes to the task's log.
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode in AGAIN_LATER:
            raise AirflowException(f"sunlake ended with {done.returncode}; again later")
        if done.returncode != 0:
            raise AirflowFailException(f"sunlake ended with {done.returncode}: {done.stdout}")
        return json.loads(done.stdout.splitlines()[-1])

    run()


sunlake_daily()
