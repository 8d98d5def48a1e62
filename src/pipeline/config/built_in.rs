//! The files of `pipelines/` that the program carries with it, so that it works in an empty folder.

/// A file: its path below `pipelines/`, and its text.
pub(crate) type BuiltIn = (&'static str, &'static str);

macro_rules! built_in {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!("../../../pipelines/", $path)))),+]
    };
}

/// The pipelines.
pub(crate) const PIPELINES: [BuiltIn; 7] = built_in![
    "backfill.toml",
    "daily.toml",
    "enrich.toml",
    "registry.toml",
    "sample.toml",
    "sample-details.toml",
    "state.toml",
];

/// The industry rules of an import.
pub(crate) const INDUSTRIES: BuiltIn = built_in!["industries.toml"][0];

/// The aggregates.
pub(crate) const AGGREGATES: [BuiltIn; 17] = built_in![
    "aggregates/city_month.sql",
    "aggregates/county_month.sql",
    "aggregates/county_type_day.sql",
    "aggregates/county_type_month.sql",
    "aggregates/county_type_window.sql",
    "aggregates/county_window.sql",
    "aggregates/hot_addresses.sql",
    "aggregates/month.sql",
    "aggregates/new_and_vanished.sql",
    "aggregates/reconcile.sql",
    "aggregates/sector_county_month.sql",
    "aggregates/sector_month.sql",
    "aggregates/type_month.sql",
    "aggregates/week.sql",
    "aggregates/weekday_profile.sql",
    "aggregates/weekday_type_profile.sql",
    "aggregates/zip3_month.sql",
];

/// What an editor reads of the pipelines.
pub(crate) const SCHEMAS: [BuiltIn; 1] = built_in!["schema/pipeline.json"];

/// Recipes that run a pipeline every morning.
pub(crate) const RECIPES: [BuiltIn; 9] = built_in![
    "deploy/airflow_dag.py",
    "deploy/crontab",
    "deploy/dagster_asset.py",
    "deploy/github-actions.yml",
    "deploy/kubernetes.yaml",
    "deploy/logrotate",
    "deploy/sunlake.service",
    "deploy/sunlake.timer",
    "deploy/until-done",
];

/// The text of a pipeline, by its name.
pub(crate) fn pipeline(name: &str) -> Option<&'static str> {
    let named = PIPELINES.iter().find(|(path, _)| path.strip_suffix(".toml") == Some(name));
    named.map(|(_, text)| *text)
}

/// The names of the pipelines.
pub(crate) fn pipeline_names() -> impl Iterator<Item = &'static str> {
    PIPELINES.iter().filter_map(|(path, _)| path.strip_suffix(".toml"))
}

/// Names and SQL of the aggregates.
pub(crate) fn aggregates() -> Vec<(String, String)> {
    let named = AGGREGATES.iter().filter_map(|(path, sql)| Some((path.rsplit('/').next()?, *sql)));
    named.map(|(file, sql)| (file.trim_end_matches(".sql").to_owned(), sql.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::load_aggregates;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn built_in_are_the_files_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines");
        let aggregates_on_disk = load_aggregates(&folder.join("aggregates")).expect("SQL files");
        assert_eq!(aggregates(), aggregates_on_disk);
        let on_disk: BTreeSet<String> = std::fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .filter(|name| name.ends_with(".toml") && name != INDUSTRIES.0)
            .collect();
        assert_eq!(PIPELINES.map(|(path, _)| path.to_owned()).into_iter().collect::<BTreeSet<_>>(), on_disk);
    }
}
