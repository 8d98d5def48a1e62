//! The recipes of `pipelines/deploy` for a server: their flags and variables, and proxies that run on their files.

use crate::support::certificate::{Certificate, curl};
use crate::support::command::{Sunlake, project};
use crate::support::free_port::free_port;
use crate::support::http::Answer;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::{PATIENCE, source, wait_for};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The name in all recipes.
const NAME: &str = "filings.example.org";

fn recipe(name: &str) -> String {
    std::fs::read_to_string(project().join("pipelines/deploy").join(name)).expect("a recipe")
}

#[test]
fn every_variable_and_flag_of_the_recipes_is_one_of_serve() {
    let help = Sunlake::new(["serve", "--help"]).finish().exits(0).stdout;
    for name in [
        "sunlake-serve.service",
        "kubernetes-serve.yaml",
        "shared/kubernetes.yaml",
        "nginx.conf",
        "shared/nginx.conf",
        "Caddyfile",
    ] {
        let text = recipe(name);
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
        let named: Vec<&str> = words
            .filter(|word| word.starts_with("--") && word.len() > 3 || word.starts_with("SUNLAKE_"))
            .collect();
        assert!(!named.is_empty(), "{name}");
        for word in named {
            assert!(help.contains(word), "{name}: {word}");
        }
    }
}

/// A shell that stayed in front of it ignored the signal to end, and the counts of the last second were lost.
#[test]
fn the_store_of_the_recipe_takes_the_place_of_its_shell_and_reads_its_settings() {
    let (scratch, text) = (Scratch::new(), recipe("shared/kubernetes.yaml"));
    let script: Vec<&str> = text.lines().map(str::trim).collect();
    let start = script.iter().position(|line| line.starts_with("exec valkey-server")).expect("a command");
    let end = script.iter().position(|line| *line == "END").expect("an end");
    std::fs::write(scratch.path("password"), "secret\n").expect("written");
    // Prints its own number and what it reads.
    let store = "#!/bin/sh\necho $$ $*\ncat\n";
    std::fs::write(scratch.path("valkey-server"), store).expect("written");
    let bin = scratch.path("").display().to_string();
    let script = script[start..=end].join("\n").replace("/run/secrets/counts", bin.trim_end_matches('/'));
    let script = format!("chmod +x {bin}/valkey-server; PATH={bin}:$PATH\n{script}\n");
    let shell = Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().expect("a shell");
    let number = shell.id();
    let output = shell.wait_with_output().expect("an end");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(said.starts_with(&format!("{number} -\nrequirepass secret\nappendonly yes\n")), "{said}");
    assert!(said.ends_with("dir /data\n"), "{said}");
}

/// A proxy under way; killed when dropped.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        // Already ended, mostly.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Behind {
    server: ApiServer,
    certificate: Certificate,
    port: u16,
    _proxy: Proxy,
    _scratch: Scratch,
}

/// A recipe with the server's address, a port and a certificate in the place of its own.
fn fitted(recipe: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(recipe.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} in\n{text}");
        text.replace(from, to)
    })
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

impl Behind {
    /// Starts a server, and the proxy that `command` makes of its address, a port, a certificate and a folder.
    fn start(command: impl FnOnce(&str, u16, &Certificate, &Scratch) -> Command) -> Self {
        let server =
            ApiServer::reported(source::small(), AGENCY, &["--public-url", &format!("https://{NAME}")]);
        let scratch = Scratch::new();
        let certificate = Certificate::make(&scratch, NAME);
        let port = free_port();
        let mut command = command(&server.address.to_string(), port, &certificate, &scratch);
        let child =
            command.stdin(Stdio::null()).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let behind = Self { server, certificate, port, _proxy: Proxy(child), _scratch: scratch };
        wait_for("the proxy", PATIENCE, || {
            behind.ask("/healthz", &[]).is_ok_and(|answer| answer.status == 200).then_some(())
        });
        behind
    }

    fn ask(&self, target: &str, arguments: &[&str]) -> Result<Answer, String> {
        let authorization = format!("Authorization: Bearer {}", self.server.key);
        let resolve = format!("{NAME}:{}:127.0.0.1", self.port);
        let own = ["--resolve", &resolve, "-H", &authorization];
        curl(
            &self.certificate.cert,
            &format!("https://{NAME}:{}{target}", self.port),
            &[&own, arguments].concat(),
        )
    }

    /// Every kind of request, through the proxy.
    fn works(&self) {
        let get = |target: &str| self.ask(target, &[]).unwrap_or_else(|error| panic!("{target}: {error}"));
        let listing = get("/v1/fl/businesses?q=su&limit=2");
        assert_eq!((listing.status, listing.json()["data"].as_array().map(Vec::len)), (200, Some(2)));
        assert_eq!(listing.json(), self.server.get("/v1/fl/businesses?q=su&limit=2").json());
        let tag = format!("If-None-Match: {}", listing.header("etag").expect("a tag"));
        let cached = self.ask("/v1/fl/businesses?q=su&limit=2", &["-H", &tag]).expect("an answer");
        assert_eq!(cached.status, 304);
        let packed = self.ask("/v1/fl/counties", &["--compressed"]).expect("an answer");
        assert_eq!(packed.json()["data"].as_array().map(Vec::len), Some(67));
        for (target, status) in [("/v1/nowhere", 404), ("/v1/fl/businesses", 400)] {
            let answer = get(target);
            assert_eq!((answer.status, &answer.json()["statusCode"]), (status, &status.into()), "{target}");
            let docs_url = format!("https://{NAME}/docs.md");
            assert_eq!(answer.json()["docs_url"], docs_url.as_str(), "{target}");
        }
        let tool = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "get_county", "arguments": {"key": "DUVAL"}}}"#;
        let call =
            ["-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream"];
        let called = self.ask("/mcp", &[&call[..], &["-d", tool]].concat()).expect("an answer");
        assert_eq!(
            (called.status, &called.json()["result"]["isError"]),
            (200, &false.into()),
            "{}",
            called.text()
        );
        (0..200).for_each(|_| assert_eq!(get("/v1/fl/entity-types").status, 200));
    }
}

/// nginx with one site, everything it writes in a folder.
fn nginx(site: &str, scratch: &Scratch) -> Command {
    let path = |name: &str| scratch.path(name);
    std::fs::write(path("site.conf"), site).expect("written");
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {};\n", shown(&path(kind))))
        .concat();
    let main = format!(
        "daemon off; pid {};\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}include {};\n}}\n",
        shown(&path("pid")),
        shown(&path("site.conf"))
    );
    std::fs::write(path("nginx.conf"), main).expect("written");
    let mut command = Command::new("nginx");
    // One process: a killed master would leave its worker.
    command.args(["-e", "stderr", "-g", "master_process off;", "-c"]).arg(path("nginx.conf"));
    command
}

fn nginx_site(upstream: &str, port: u16, certificate: &Certificate) -> String {
    let folder = format!("/etc/letsencrypt/live/{NAME}");
    fitted(
        &recipe("nginx.conf"),
        &[
            ("127.0.0.1:8080", upstream),
            ("listen 443 ", &format!("listen 127.0.0.1:{port} ")),
            (&format!("{folder}/fullchain.pem"), shown(&certificate.cert)),
            (&format!("{folder}/privkey.pem"), shown(&certificate.key)),
        ],
    )
}

#[test]
#[ignore = "needs Debian's package nginx"]
fn api_and_tools_work_behind_nginx_with_its_recipe() {
    Behind::start(|upstream, port, certificate, scratch| {
        nginx(&nginx_site(upstream, port, certificate), scratch)
    })
    .works();
}

#[test]
#[ignore = "needs Debian's package nginx"]
fn nginx_without_the_line_of_the_host_gets_a_message_that_says_so() {
    let behind = Behind::start(|upstream, port, certificate, scratch| {
        let site = nginx_site(upstream, port, certificate);
        nginx(&fitted(&site, &[("proxy_set_header Host $host;", "")]), scratch)
    });
    assert_eq!(behind.ask("/v1/fl/stats", &[]).expect("an answer").status, 200);
    let refused =
        behind.ask("/mcp", &["-H", "Content-Type: application/json", "-d", "{}"]).expect("an answer");
    assert_eq!(refused.status, 403);
    let message = refused.json()["message"].to_string();
    assert!(message.contains("sunlake") && message.contains("a proxy must send the Host"), "{message}");
}

#[test]
#[ignore = "needs Debian's package caddy"]
fn api_and_tools_work_behind_caddy_with_its_recipe() {
    Behind::start(|upstream, port, certificate, scratch| {
        let site = format!(
            "https://{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls {} {}",
            shown(&certificate.cert),
            shown(&certificate.key)
        );
        let text = fitted(
            &recipe("Caddyfile"),
            &[("127.0.0.1:8080", upstream), (&format!("\n{NAME} {{"), &format!("\n{site}"))],
        );
        let file: PathBuf = scratch.path("Caddyfile");
        std::fs::write(&file, format!("{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{text}"))
            .expect("written");
        let mut command = Command::new("caddy");
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file).stderr(Stdio::null());
        // Its own files stay here.
        command.env("XDG_DATA_HOME", scratch.path("data")).env("XDG_CONFIG_HOME", scratch.path("config"));
        command
    })
    .works();
}
