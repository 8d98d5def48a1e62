//! Writes `catalog/report.html` from the newest snapshot.
