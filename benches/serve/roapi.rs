//! ROAPI from the Python index, on the same rows.

use crate::florida::{Florida, files_below};
use crate::process::{free_address, get, rss};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The release that is measured.
const PACKAGE: &str = "roapi==0.12.7";

/// ROAPI under way; killed when dropped.
pub(crate) struct Roapi {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Roapi {
    /// Serves the filings of a lake from memory.
    pub(crate) fn start(florida: &Florida, folder: &Path) -> Result<Self, String> {
        let program = installed(folder)?;
        let file = one_file(florida);
        let address = free_address();
        let process = Command::new(program)
            .args(["--addr-http", &address.to_string(), "--table"])
            .arg(format!("filings={}", file.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let roapi = Self { process, address };
        let schema = get(address, "/api/schema");
        if schema.contains("document_number") { Ok(roapi) } else { Err(format!("its schema is {schema}")) }
    }

    /// A question in SQL.
    pub(crate) fn request(&self, sql: &str) -> Vec<u8> {
        format!(
            "POST /api/sql HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{sql}",
            sql.len()
        )
        .into_bytes()
    }

    /// Memory of the process, in bytes.
    pub(crate) fn rss(&self) -> u64 {
        rss(self.process.id())
    }
}

impl Drop for Roapi {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program, in an environment of its own.
fn installed(folder: &Path) -> Result<PathBuf, String> {
    let home = folder.join(PACKAGE.replace("==", "-"));
    let program = home.join("bin").join("roapi");
    if !program.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        run(Command::new(home.join("bin").join("pip")).args(["install", "--quiet", PACKAGE]))?;
    }
    Ok(program)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {said}")) }
}

/// The filings in one file next to the lake, because ROAPI loads one file.
fn one_file(florida: &Florida) -> PathBuf {
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;
    let path = florida.lake.with_extension("parquet");
    if path.exists() {
        return path;
    }
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(128 * 1024))
        .build();
    let unfinished = path.with_extension("unfinished");
    let file = std::fs::File::create(&unfinished).expect("a file");
    let schema = sunlake::table::Table::Filings.schema();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).expect("a writer");
    for part in files_below(&florida.filings()) {
        for batch in sunlake::table::read_parquet(&part, None).expect("a file") {
            writer.write(&batch.expect("a batch")).expect("written");
        }
    }
    writer.close().expect("closed");
    std::fs::rename(unfinished, &path).expect("in its place");
    path
}
