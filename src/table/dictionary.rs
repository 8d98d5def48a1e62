//! The column dictionary: the columns of every table, from its row type.

use super::business::{DetailRow, FilingRow, OfficerRow};
use super::change::{ChangeRow, EventRow, ImportRow, RecordRow, UnmatchedEventRow};
use super::column::{Column, schema_of};
use super::count::{
    CountyRow, CoverageRow, DailyCountRow, DayRow, MonthRow, MonthlyCountRow, StatewideRow, TypeCountRow,
};
use super::reference::{CountyFactsRow, EntityTypeRow, IndustryLabelRow, IndustryTypeRow, SegmentRow};
use super::row::Row;
use super::tables::Table;
use arrow_schema::SchemaRef;

/// The columns of a table, in file order.
pub const fn columns(table: Table) -> &'static [Column] {
    use Table as T;
    match table {
        T::Filings => FilingRow::COLUMNS,
        T::Details => DetailRow::COLUMNS,
        T::Officers => OfficerRow::COLUMNS,
        T::Changes => ChangeRow::COLUMNS,
        T::DailyCounts | T::DailyCountsHistory => DailyCountRow::COLUMNS,
        T::Counties | T::CountiesHistory => CountyRow::COLUMNS,
        T::MonthlyCounts | T::MonthlyCountsHistory => MonthlyCountRow::COLUMNS,
        T::Statewide | T::StatewideHistory => StatewideRow::COLUMNS,
        T::TypeSplit | T::TypeSplitHistory => TypeCountRow::COLUMNS,
        T::IndustryTypes | T::IndustryTypesHistory => IndustryTypeRow::COLUMNS,
        T::IndustrySegments | T::IndustrySegmentsHistory => SegmentRow::COLUMNS,
        T::EntityTypes | T::EntityTypesHistory => EntityTypeRow::COLUMNS,
        T::Coverage => CoverageRow::COLUMNS,
        T::Days => DayRow::COLUMNS,
        T::Months => MonthRow::COLUMNS,
        T::Events => EventRow::COLUMNS,
        T::UnmatchedEvents => UnmatchedEventRow::COLUMNS,
        T::Records => RecordRow::COLUMNS,
        T::Imports => ImportRow::COLUMNS,
        T::CountyFacts => CountyFactsRow::COLUMNS,
        T::IndustryLabels => IndustryLabelRow::COLUMNS,
    }
}

impl Table {
    /// The Arrow schema of every file of the table.
    pub fn schema(self) -> SchemaRef {
        schema_of(columns(self))
    }
}
