"""PyPI `mcp` 1.x: a `ClientSession` over Streamable HTTP, HTTP+SSE or stdio, also through `mcp-remote`."""

import asyncio
import re
import sys
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
    """The streams, and what a bridge writes about itself, if there is one."""
    own = headers(wanted.token)
    if wanted.start:
        async with stdio_client(StdioServerParameters(**wanted.start)) as streams:
            yield *streams, None
    elif wanted.mode == "http":
        async with streamablehttp_client(wanted.url, headers=own) as (read, write, _):
            yield read, write, None
    elif wanted.mode == "sse":
        async with sse_client(wanted.url, headers=own) as streams:
            yield *streams, None
    else:
        with tempfile.TemporaryDirectory() as place:
            with open(Path(place) / "log", "w+") as log:
                try:
                    async with stdio_client(bridge(wanted, place), errlog=log) as streams:
                        yield *streams, log
                finally:
                    log.seek(0)
                    sys.stderr.write(log.read())


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


def spoken(log):
    """What a bridge speaks with the server, where it says that it speaks another revision than its client."""
    log.seek(0)
    said = re.search(r"speaks MCP (\S+);", log.read())
    return said and said[1]


async def main():
    wanted = arguments(["http", "sse", "stdio", "remote", "remote-auto"])
    async with connect(wanted) as (read, write, log):
        limit = timedelta(seconds=60)
        async with ClientSession(read, write, limit, elicitation_callback=answer) as session:
            hello = await session.initialize()
            # It is written before the answer to the handshake.
            revision = log and spoken(log)
            await see(session, wanted, revision or hello.protocolVersion)


asyncio.run(main())
