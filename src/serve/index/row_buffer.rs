//! Rows while they are collected, in any order, column by column.

use super::column::{CodedColumn, permuted};
use super::columns::{UncodedCells, UncodedColumns};
use crate::contract::business::Summary;
use crate::contract::eastern::{epoch_days, parse_date};

/// The columns that are stored as codes, because their texts repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodedField {
    EntityType,
    CompanyType,
    Status,
    City,
    Zip,
    County,
    Sector,
    IndustryType,
}

pub(crate) const CODED_FIELDS: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    pub(crate) uncoded: UncodedColumns,
    /// Whether listings and counts show each row; look-ups find it anyway.
    pub(crate) listed: Vec<bool>,
    coded: [CodedColumn; CODED_FIELDS],
}

impl RowBuffer {
    pub(crate) fn coded(&self, field: CodedField) -> &CodedColumn {
        &self.coded[field as usize]
    }

    pub(crate) fn coded_mut(&mut self, field: CodedField) -> &mut CodedColumn {
        &mut self.coded[field as usize]
    }

    /// Adds a summary record.
    pub(crate) fn push(&mut self, business_id: i64, summary: &Summary, listed: bool) {
        let dissolved = summary.dissolved_date.as_deref().and_then(parse_date);
        self.listed.push(listed);
        self.uncoded.push(UncodedCells {
            business_id,
            id: &summary.id,
            document_number: &summary.document_number.to_uppercase(),
            name: &summary.name,
            filed_day: epoch_days(summary.filed_date),
            dissolved_day: dissolved.map(epoch_days),
            url: &summary.url,
        });
        for (field, text) in [
            (CodedField::EntityType, &summary.entity_type),
            (CodedField::CompanyType, &summary.company_type),
            (CodedField::Status, &summary.status),
            (CodedField::City, &summary.city),
            (CodedField::Zip, &summary.zip),
            (CodedField::County, &summary.county),
            (CodedField::Sector, &summary.industry.sector),
            (CodedField::IndustryType, &summary.industry.kind),
        ] {
            self.coded_mut(field).push(text);
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.uncoded.append(other.uncoded);
        self.listed.extend(other.listed);
        for (column, added) in self.coded.iter_mut().zip(&other.coded) {
            column.append(added);
        }
    }

    pub(crate) fn permuted(self, order: &[u32]) -> Self {
        Self {
            uncoded: self.uncoded.permuted(order),
            listed: permuted(&self.listed, order),
            coded: self.coded.map(|column| column.permuted(order)),
        }
    }
}
