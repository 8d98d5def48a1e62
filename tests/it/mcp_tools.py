"""Calls tools over MCP with the Python SDK, in each of its modes; prints what it saw as JSON.

Arguments: a JSON file of {"url", "key", "calls": [{"tool", "arguments"}]}.
"""

import asyncio
import json
import sys

import httpx2
import jsonschema
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

MODES = ["legacy", "auto", "2026-07-28"]


async def drive(task, mode):
    requests = 0

    async def count(_request):
        nonlocal requests
        requests += 1

    headers = {"Authorization": f"Bearer {task['key']}"}
    http_client = httpx2.AsyncClient(headers=headers, event_hooks={"request": [count]})
    transport = streamable_http_client(task["url"], http_client=http_client)
    async with http_client, Client(transport, mode=mode) as client:
        listed = (await client.list_tools()).tools
        tools = {tool.name: tool for tool in listed}
        results = []
        for call in task["calls"]:
            result = await client.call_tool(call["tool"], call["arguments"])
            structured = result.structured_content
            if not result.is_error:
                jsonschema.validate(structured, tools[call["tool"]].output_schema, jsonschema.Draft202012Validator)
            results.append(
                {
                    "is_error": bool(result.is_error),
                    "texts": [block.text for block in result.content],
                    "structured": structured,
                }
            )
        for call in task["calls"]:
            jsonschema.validate(call["arguments"], tools[call["tool"]].input_schema, jsonschema.Draft202012Validator)
        return {
            "version": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "requests": requests,
            "tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed],
            "results": results,
        }


async def main(task):
    return {mode: await drive(task, mode) for mode in MODES}


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps(asyncio.run(main(json.load(file)))))
