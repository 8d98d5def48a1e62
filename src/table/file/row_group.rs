//! Row groups of a Parquet file: their columns are encoded and compressed by two threads.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, ArrowWriterOptions, compute_leaves,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedFileWriter;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Fewer rows are encoded sooner than a thread begins.
const ROWS_FOR_A_THREAD: usize = 2 * 1024;

/// The row groups of a file being written.
pub(super) struct RowGroups<W: Write + Send> {
    file: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// Of the row group that is filled; empty without one.
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
    /// Rows of a full row group.
    most: usize,
}

impl<W: Write + Send> RowGroups<W> {
    pub(super) fn new(sink: W, schema: SchemaRef, most: usize, options: ArrowWriterOptions) -> Result<Self> {
        let writer = ArrowWriter::try_new_with_options(sink, schema.clone(), options)?;
        let (file, factory) = writer.into_serialized_writer()?;
        Ok(Self { file, factory, schema, columns: Vec::new(), rows: 0, most })
    }

    /// Adds rows, which must fit into the row group that is filled.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = self.factory.create_column_writers(self.file.flushed_row_groups().len())?;
        }
        let mut leaves = Vec::with_capacity(self.columns.len());
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            leaves.extend(compute_leaves(field, column)?);
        }
        let work = self.columns.iter_mut().zip(leaves).collect();
        by_two(work, batch.num_rows(), |(column, leaf)| column.write(&leaf))?;
        self.rows += batch.num_rows();
        if self.rows >= self.most { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let columns = std::mem::take(&mut self.columns);
        let chunks = by_two(columns, self.rows, ArrowColumnWriter::close)?;
        self.rows = 0;
        let mut group = self.file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close().map(drop)
    }

    /// Writes the last row group and the footer. Returns the bytes of the file.
    pub(super) fn finish(&mut self) -> Result<usize> {
        self.flush()?;
        self.file.finish()?;
        Ok(self.file.bytes_written())
    }
}

/// Does the work of some rows by this thread and another one. The results are in the order of the work.
fn by_two<T: Send, R: Send>(
    work: Vec<T>,
    rows: usize,
    act: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if rows < ROWS_FOR_A_THREAD {
        return work.into_iter().map(act).collect();
    }
    let queue = Mutex::new(work.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let share = || {
        let mut done = Vec::new();
        while let Some((at, item)) = next() {
            done.push((at, act(item)?));
        }
        Ok::<_, ParquetError>(done)
    };
    let mut done = std::thread::scope(|scope| {
        let other = scope.spawn(share);
        let own = share();
        let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        own.and_then(|mut done| {
            done.extend(other?);
            Ok(done)
        })
    })?;
    done.sort_unstable_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
