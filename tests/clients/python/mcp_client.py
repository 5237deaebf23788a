"""The official MCP client for Python against moss: with a session, without one, over HTTP, with forms."""

import argparse
import asyncio
import json
import os

import httpx2
import mcp
from mcp import types
from mcp.client.streamable_http import streamable_http_client


async def with_session(server, root):
    """Opens a session as clients did before 2026-07-28."""
    seen = {"forms": [], "progress": 0}

    async def roots(context):
        return types.ListRootsResult(roots=[types.Root(uri=f"file://{root}")])

    async def form(context, params):
        seen["forms"].append(params.message)
        return types.ElicitResult(action="accept", content={"decision": "allow_once"})

    async def progress(done, total, message):
        seen["progress"] += 1

    async with mcp.stdio_client(server) as (read, write):
        session = mcp.ClientSession(
            read, write, list_roots_callback=roots, elicitation_callback=form
        )
        async with session:
            hello = await session.initialize()
            seen["revision"] = hello.protocol_version
            listed = await session.list_tools()
            seen["tools"] = [tool.name for tool in listed.tools]
            # The client holds results to the output schemas of the tools.
            result = await session.call_tool(
                "read_file", {"path": "a.txt"}, progress_callback=progress
            )
            seen["read"] = result.structured_content
            result = await session.call_tool("create_file", {"path": "b.txt", "content": "new\n"})
            seen["created"] = not result.is_error
            result = await session.call_tool("read_file", {"path": "missing.txt"})
            seen["failed"] = result.content[0].text if result.is_error else None
            try:
                await session.call_tool("no_such_tool", {})
            except mcp.MCPError as error:
                seen["unknown"] = str(error)
    return seen


async def without_session(server):
    """Lets the client find out what the server speaks."""
    async with mcp.Client(server) as client:
        listed = await client.list_tools()
        result = await client.call_tool("read_file", {"path": "a.txt"})
        return {
            "revision": client.protocol_version,
            "tools": len(listed.tools),
            "read": result.structured_content,
        }


async def with_action(streams, action):
    """Opens a session, answers forms in one way, and asks and edits."""
    forms = []

    async def form(context, params):
        forms.append(params.message)
        properties = params.requested_schema["properties"]
        said = {"answer": "tabs"} if "answer" in properties else {"decision": "allow_once"}
        return types.ElicitResult(action=action, content=said if action == "accept" else None)

    async with streams as (read, write, *_):
        async with mcp.ClientSession(read, write, elicitation_callback=form) as session:
            hello = await session.initialize()
            read = await session.call_tool("read_file", {"path": "a.txt"})
            asked = await session.call_tool("clarify", {"question": "Tabs?", "choices": ["tabs"]})
            edited = await session.call_tool("create_file", {"path": "c.txt", "content": "c\n"})
            return {
                "revision": hello.protocol_version,
                "read": read.structured_content,
                "answered": asked.structured_content["answered"],
                "edited": edited.content[0].text if edited.is_error else None,
                "forms": len(forms),
            }


async def over_http(url, token, action):
    """The same over HTTP."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as client:
        return await with_action(streamable_http_client(url, http_client=client), action)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--moss", required=True)
    parser.add_argument("--workspace", required=True)
    parser.add_argument("--url")
    parser.add_argument("--token")
    arguments = parser.parse_args()
    environment = dict(os.environ)
    with_forms = mcp.StdioServerParameters(
        command=arguments.moss, args=["mcp", "--elicit"], env=environment, cwd="/"
    )
    with_forms_here = mcp.StdioServerParameters(
        command=arguments.moss,
        args=["mcp", "--elicit"],
        env=environment,
        cwd=arguments.workspace,
    )
    plain = mcp.StdioServerParameters(
        command=arguments.moss,
        args=["mcp", "--set", "all"],
        env=environment,
        cwd=arguments.workspace,
    )
    report = {
        "session": await with_session(with_forms, arguments.workspace),
        "stateless": await without_session(plain),
        "decline": await with_action(mcp.stdio_client(with_forms_here), "decline"),
        "cancel": await with_action(mcp.stdio_client(with_forms_here), "cancel"),
        "http": await over_http(arguments.url, arguments.token, "accept"),
        "http_decline": await over_http(arguments.url, arguments.token, "decline"),
        "http_cancel": await over_http(arguments.url, arguments.token, "cancel"),
    }
    print(json.dumps(report))


asyncio.run(main())
