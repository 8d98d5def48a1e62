//! The twelve operations as tools: their descriptions, and the results of calls.

use super::body_place::place_of_body;
use super::rpc_error;
use crate::contract::account::Remaining;
use crate::contract::argument::Arguments;
use crate::contract::endpoint::Endpoint;
use crate::contract::query::quoted;
use crate::lake::INVENTED;
use crate::serve::auth::Caller;
use crate::serve::reference::json_schema;
use crate::serve::service::{ApiError, Service, Versioned};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

/// The supported versions of the protocol, oldest first.
pub(super) const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

const INSTRUCTIONS: &str = "Florida business filings, read-only. Every HTTP request counts against the account's limits, \
so ask for full pages and narrow searches. search_businesses needs q (a name prefix), city, zip or filed_from. Page \
with limit and offset until pagination.has_more is false. Values of the industry and type filters come from \
list_industries and list_entity_types, county keys from list_counties. A failed call says which rules were broken.";

const INITIALIZE: &str = "initialize";
/// Supported methods whose `params` can be wrong.
const METHODS: &[&str] = &[INITIALIZE, "server/discover", "tools/list", "tools/call"];

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| Endpoint::ALL.map(tool).into());

fn tool(endpoint: Endpoint) -> Tool {
    let title = title(endpoint);
    let annotations = ToolAnnotations::with_title(title.clone())
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    let description = format!("{} {}", endpoint.purpose(), endpoint.rules());
    Tool::new(endpoint.tool(), description.trim_end().to_owned(), Arc::new(json_schema::input(endpoint)))
        .with_title(title)
        .with_raw_output_schema(Arc::new(json_schema::output(endpoint)))
        .with_annotations(annotations)
}

fn title(endpoint: Endpoint) -> String {
    let words = endpoint.tool().replace('_', " ");
    words[..1].to_uppercase() + &words[1..]
}

/// Whether a request has a version without a handshake.
fn is_standalone(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn missing(method: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
}

/// A method of the protocol that this server does not have.
macro_rules! absent {
    ($name:ident, $params:ty, $result:ty, $method:literal) => {
        async fn $name(&self, _: $params, _: RequestContext<RoleServer>) -> Result<$result, ErrorData> {
            Err(missing($method))
        }
    };
}

/// The tools, for one request of one caller.
#[derive(Clone)]
pub(super) struct Tools {
    pub(super) service: Arc<Service>,
    pub(super) docs_url: Arc<str>,
    pub(super) caller: Caller,
    /// Requests that the caller's account has left.
    pub(super) left: Remaining,
    /// The answer of a call that succeeded.
    pub(super) answer: Arc<OnceLock<Versioned>>,
}

impl Tools {
    async fn answer(&self, endpoint: Endpoint, given: &JsonObject) -> Result<Versioned, ApiError> {
        self.service.authorize(&self.caller, endpoint)?;
        let arguments = Arguments::from_json(endpoint, given);
        // Over HTTP such an operation ignores its query, but the schema of its tool allows no argument.
        if !endpoint.has_parameters() && !arguments.violations().is_empty() {
            return Err(ApiError::Broken(arguments.violations().to_vec()));
        }
        self.service.answer(&self.caller, &self.left, arguments).await
    }

    /// The result of a call; its text is the body or the error body of the endpoint, byte for byte. A body is not in it yet.
    fn result(&self, answer: Result<Versioned, ApiError>) -> CallToolResult {
        match answer {
            Ok(answer) => {
                // Nobody else sets it: these tools are of one call.
                let _ = self.answer.set(answer);
                place_of_body()
            }
            Err(error) => {
                let body = error.body(&self.docs_url);
                let text = serde_json::to_string(&body).unwrap_or_else(|_| error.to_string());
                CallToolResult::error(vec![ContentBlock::text(text)])
            }
        }
    }

    fn invalid_params(&self, message: String) -> ErrorData {
        rpc_error::invalid(&self.docs_url, ErrorCode::INVALID_PARAMS, message)
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let is_sample = self.service.is_sample();
        let instructions =
            if is_sample { format!("{INVENTED} {INSTRUCTIONS}") } else { INSTRUCTIONS.to_owned() };
        let server = Implementation::new("sunlake", env!("CARGO_PKG_VERSION"))
            .with_title("Florida business filings")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(instructions)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    /// The handshake. A request of a version without one called the wrong method.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if is_standalone(&context) {
            return Err(missing(INITIALIZE));
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    /// All twelve tools on one page, in the order of the API document.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        match request.and_then(|request| request.cursor) {
            Some(cursor) => {
                Err(self.invalid_params(format!("no page begins at the cursor {}", quoted(&cursor))))
            }
            None => Ok(ListToolsResult::with_all_items(TOOLS.clone())),
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let endpoint = Endpoint::from_tool(&request.name)
            .ok_or_else(|| self.invalid_params(format!("unknown tool {}", quoted(&request.name))))?;
        let answer = self.answer(endpoint, &request.arguments.unwrap_or_default()).await;
        Ok(self.result(answer).into())
    }

    /// rmcp calls this for an unknown method, and for a known one whose `params` cannot be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let is_supported = METHODS.contains(&request.method.as_str());
        if is_supported && !(request.method == INITIALIZE && is_standalone(&context)) {
            return Err(self.invalid_params(format!(
                "the params of {} are not as the protocol has them",
                request.method
            )));
        }
        Err(missing(request.method))
    }

    // There are no prompts, resources or completions, and the capabilities say so.
    absent!(complete, CompleteRequestParams, CompleteResult, "completion/complete");
    absent!(list_prompts, Option<PaginatedRequestParams>, ListPromptsResult, "prompts/list");
    absent!(list_resources, Option<PaginatedRequestParams>, ListResourcesResult, "resources/list");
    absent!(
        list_resource_templates,
        Option<PaginatedRequestParams>,
        ListResourceTemplatesResult,
        "resources/templates/list"
    );
}
