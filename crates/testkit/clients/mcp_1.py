"""PyPI `mcp` 1.x: a `ClientSession` over Streamable HTTP, HTTP+SSE or stdio, also through `mcp-remote`."""

import asyncio
import tempfile
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import ElicitResult
from wanted import arguments, headers, see


async def answer(_context, _question):
    return ElicitResult(action="accept", content={"name": "Alice"})


@asynccontextmanager
async def connect(wanted):
    own = headers(wanted.token)
    if wanted.start:
        async with stdio_client(StdioServerParameters(**wanted.start)) as streams:
            yield streams
    elif wanted.mode == "http":
        async with streamablehttp_client(wanted.url, headers=own) as (read, write, _):
            yield read, write
    elif wanted.mode == "sse":
        async with sse_client(wanted.url, headers=own) as streams:
            yield streams
    else:
        with tempfile.TemporaryDirectory() as place:
            async with stdio_client(bridge(wanted, place)) as streams:
                yield streams


def bridge(wanted, place):
    """`mcp-remote`, the token in its environment rather than in the list of processes."""
    proxy = Path(wanted.npm) / "node_modules/mcp-remote/dist/proxy.js"
    # Plain HTTP is for loopback only, which is what these tests use.
    line = [str(proxy), wanted.url, "--allow-http", "--transport", "http-only"]
    # The logins it keeps are not those of whoever runs the tests.
    environment = {"MCP_REMOTE_CONFIG_DIR": place}
    if wanted.token:
        line += ["--header", "Authorization:${AUTH_HEADER}"]
        environment["AUTH_HEADER"] = f"Bearer {wanted.token}"
    if wanted.mode == "remote-auto":
        line += ["--protocol", "auto"]
    return StdioServerParameters(command=wanted.node, args=line, env=environment)


async def main():
    wanted = arguments(["http", "sse", "stdio", "remote", "remote-auto"])
    async with connect(wanted) as (read, write):
        limit = timedelta(seconds=60)
        async with ClientSession(read, write, limit, elicitation_callback=answer) as session:
            hello = await session.initialize()
            await see(session, wanted, hello.protocolVersion)


asyncio.run(main())
