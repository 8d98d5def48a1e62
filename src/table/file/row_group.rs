//! Row groups of a Parquet file: their columns are encoded and compressed on all cores.

use super::properties::ROW_GROUP_ROWS;
use super::read::BATCH_ROWS;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowWriter, ArrowWriterOptions, compute_leaves};
use parquet::errors::Result;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::io::Write;
use std::sync::Arc;

/// Fewer rows are encoded sooner than another thread wakes.
const ROWS_FOR_THREADS: usize = 2 * 1024;

/// Writes rows in row groups, and the footer. Returns the bytes of the file. Holds at most one encoded row group in memory.
pub(super) fn write_groups(
    sink: impl Write + Send,
    schema: &Arc<Schema>,
    rows: &RecordBatch,
    options: ArrowWriterOptions,
) -> Result<usize> {
    let writer = ArrowWriter::try_new_with_options(sink, schema.clone(), options)?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    for (number, rows) in pieces(rows, ROW_GROUP_ROWS).enumerate() {
        let mut columns = factory.create_column_writers(number)?;
        for batch in pieces(&rows, BATCH_ROWS) {
            let mut leaves = Vec::with_capacity(columns.len());
            for (field, column) in schema.fields().iter().zip(batch.columns()) {
                leaves.extend(compute_leaves(field, column)?);
            }
            let work = columns.iter_mut().zip(leaves).collect();
            shared(work, batch.num_rows(), |(column, leaf)| column.write(&leaf))?;
        }
        let chunks = shared(columns, rows.num_rows(), ArrowColumnWriter::close)?;
        let mut group = file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
    }
    file.finish()?;
    Ok(file.bytes_written())
}

/// The rows in pieces of at most this number.
fn pieces(rows: &RecordBatch, most: usize) -> impl Iterator<Item = RecordBatch> + '_ {
    let starts = (0..rows.num_rows()).step_by(most);
    starts.map(move |start| rows.slice(start, most.min(rows.num_rows() - start)))
}

/// Does the work of some rows, on all cores where there are many. The results are in the order of the work.
fn shared<T: Send, R: Send>(
    work: Vec<T>,
    rows: usize,
    act: impl Fn(T) -> Result<R> + Sync + Send,
) -> Result<Vec<R>> {
    if rows < ROWS_FOR_THREADS {
        return work.into_iter().map(act).collect();
    }
    work.into_par_iter().with_max_len(1).map(act).collect()
}
