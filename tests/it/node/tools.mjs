// Calls tools over MCP with the TypeScript SDK; prints what it saw as JSON.
// Arguments: a JSON file of {"url", "key", "calls": [{"tool", "arguments"}]}.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const task = JSON.parse(readFileSync(process.argv[2], "utf8"));
const headers = { Authorization: `Bearer ${task.key}` };
const transport = new StreamableHTTPClientTransport(new URL(task.url), { requestInit: { headers } });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
// Once the tools are listed, the client holds every structured result against its tool's output schema.
const { tools } = await client.listTools();
const results = [];
for (const call of task.calls) {
  const result = await client.callTool({ name: call.tool, arguments: call.arguments });
  results.push({
    is_error: result.isError ?? false,
    texts: result.content.map((block) => block.text),
    structured: result.structuredContent ?? null,
  });
}
console.log(JSON.stringify({ version: transport.protocolVersion, server: client.getServerVersion().name, tools, results }));
await client.close();
