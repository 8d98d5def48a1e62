//! The OpenAPI document against the server that gives it: every operation, every parameter, every bound, every status.

use crate::support::http::Answer;
use crate::support::mcp::TOOLS;
use crate::support::server::{ApiServer, ENTERPRISE};
use crate::support::{python, source};
use serde_json::Value;

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}"))
}

/// The target of an operation with one parameter set, plus the other parameters it needs.
fn target(template: &str, param: &Value, value: &str) -> String {
    let name = param["name"].as_str().expect("a name");
    let mut path = template.to_owned();
    for (other, right) in
        [("date", "2026-03-20"), ("key", "DUVAL"), ("id", "1"), ("document_number", "L24000123456")]
    {
        let value = if param["in"] == "path" && name == other { encoded(value) } else { right.to_owned() };
        path = path.replace(&format!("{{{other}}}"), &value);
    }
    if param["in"] == "path" {
        return path;
    }
    let required = match (template, name) {
        (_, "q") | ("/v1/fl/filings/daily" | "/v1/fl/filings/daily/{date}", _) => "",
        (_, "filed_to") => "&q=SU&filed_from=0001-01-01",
        _ => "&q=SU",
    };
    format!("{path}?{name}={}{required}", encoded(value))
}

/// Values a schema allows, and values it does not.
fn values(schema: &Value) -> (Vec<String>, Vec<String>) {
    let number = |name: &str| schema[name].as_i64();
    let (mut right, mut wrong) = (Vec::new(), vec![String::new()]);
    if schema["type"] == "integer" {
        wrong.extend(["x", "1.5", "-1", "0x1", " 1"].map(str::to_owned));
        let (least, most) = (number("minimum").expect("a minimum"), number("maximum"));
        right.extend([Some(least), most].into_iter().flatten().map(|bound| bound.to_string()));
        wrong.push((least - 1).to_string());
        wrong.extend(most.map(|most| (most + 1).to_string()));
        return (right, wrong);
    }
    for word in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        right.push(word.to_owned());
        wrong.push(word.to_uppercase());
    }
    if let Some((least, most)) = number("minLength").zip(number("maxLength")) {
        let of = |length: i64| "\u{c9}".repeat(usize::try_from(length).expect("a length"));
        right.extend([of(least), of(most), "A ~".to_owned()]);
        wrong.extend([of(least - 1), of(most + 1), "a\u{7f}b".to_owned(), "a\nb".to_owned()]);
    }
    match schema["pattern"].as_str() {
        Some("^[0-9]{3,5}$") => {
            right.extend(["331", "33101"].map(str::to_owned));
            wrong.extend(["33", "331011", "33a", "\u{661}\u{661}\u{661}"].map(str::to_owned));
        }
        Some("^[A-Za-z0-9]{6,12}$") => {
            right.extend(["abc123", "ABCDEF123456"].map(str::to_owned));
            wrong.extend(["abc12", "ABCDEF1234567", "abc-123"].map(str::to_owned));
        }
        Some("^[A-Za-z][A-Za-z .'-]{0,39}$") => {
            right.extend(["D".to_owned(), "St. John's-x".to_owned(), "A".repeat(40)]);
            wrong.extend([" D".to_owned(), "D1".to_owned(), "A".repeat(41)]);
        }
        Some("^[0-9]{4}-[0-9]{2}-[0-9]{2}$") => {
            right.extend(["2026-03-01", "2026-02-28"].map(str::to_owned));
            wrong.extend(["2026-3-1", "2026-02-30", "tomorrow", "2026-03-01T00:00"].map(str::to_owned));
        }
        _ => {}
    }
    (right, wrong)
}

/// Whether the answer says that this parameter is wrong.
fn blames(answer: &Answer, name: &str) -> bool {
    let body = answer.json();
    let messages: Vec<&str> = match &body["message"] {
        Value::Array(messages) => messages.iter().filter_map(Value::as_str).collect(),
        message => message.as_str().into_iter().collect(),
    };
    answer.status == 400 && messages.iter().any(|message| message.starts_with(&format!("{name} must")))
}

#[test]
fn every_operation_and_parameter_of_the_document_is_the_servers_and_so_is_every_bound() {
    let server = ApiServer::generous(source::small(), ENTERPRISE);
    let answer = server.send("GET", "/openapi.json", &[]);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let document = answer.json();
    assert_eq!((&document["openapi"], &document["info"]["version"]), (&"3.1.0".into(), &"1".into()));
    assert_eq!(document["servers"][0]["url"], server.url());
    let paths = document["paths"].as_object().expect("paths");
    let listed: Vec<&str> = paths.keys().map(String::as_str).collect();
    assert_eq!(listed, TOOLS.map(|(template, _)| template));
    let mut tried = 0;
    for (template, item) in paths {
        let operation = &item["get"];
        for param in operation["parameters"].as_array().expect("parameters") {
            let name = param["name"].as_str().expect("a name");
            let (mut right, wrong) = values(&param["schema"]);
            let example = &param["example"];
            right.push(example.as_str().map_or_else(|| example.to_string(), str::to_owned));
            for value in right {
                let target = target(template, param, &value);
                let answer = server.get(&target);
                assert!(
                    !blames(&answer, name) || value == "100000" || name == "date",
                    "{target}: {}",
                    answer.text()
                );
                tried += 1;
            }
            for value in wrong.iter().filter(|value| param["in"] == "query" || !value.is_empty()) {
                let target = target(template, param, value);
                let answer = server.get(&target);
                assert!(blames(&answer, name), "{target}: {} {}", answer.status, answer.text());
                tried += 1;
            }
        }
        let stray = server.get(&format!(
            "{}?stray=1",
            target(template, &serde_json::json!({"name": "", "in": "path"}), "")
        ));
        let takes_parameters = operation["parameters"].as_array().is_some_and(|all| !all.is_empty());
        assert_eq!(stray.status == 400, takes_parameters, "{template}: {}", stray.text());
        assert_eq!(operation["responses"]["400"].is_object(), takes_parameters, "{template}");
    }
    assert!(tried > 150, "{tried}");
}

/// Runs schemathesis with this number of examples for each operation.
fn schemathesis(examples: u32) {
    let server = ApiServer::detailed(ENTERPRISE);
    let run = python::tool("schemathesis")
        .current_dir(server.scratch.lake().parent().expect("a folder"))
        .arg("--config-file")
        .arg(crate::support::command::project().join("tests/it/schemathesis.toml"))
        .args(["run", &format!("{}/openapi.json", server.url()), "--seed", "1", "--no-color"])
        .args(["--header", &format!("Authorization: Bearer {}", server.key)])
        .args(["--max-examples", &examples.to_string(), "--phases", "examples,coverage,fuzzing,stateful"])
        .output()
        .expect("schemathesis");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{}\n{said}{}", run.status, String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("Tested: 12"), "{said}");
}

#[test]
fn schemathesis_finds_nothing() {
    schemathesis(5);
}

#[test]
#[ignore = "the same with many more examples, some minutes"]
fn schemathesis_finds_nothing_in_many_examples() {
    schemathesis(100);
}
