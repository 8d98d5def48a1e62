//! Row groups of a Parquet file: their columns are encoded and compressed on all cores.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriter, ArrowWriterOptions, compute_leaves,
};
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::io::Write;

/// Fewer rows are encoded sooner than another thread wakes.
const ROWS_FOR_THREADS: usize = 2 * 1024;

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
        shared(work, batch.num_rows(), |(column, leaf)| column.write(&leaf))?;
        self.rows += batch.num_rows();
        if self.rows >= self.most { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let columns = std::mem::take(&mut self.columns);
        let chunks = shared(columns, self.rows, ArrowColumnWriter::close)?;
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
