"""PyPI `mcp` 2.x over Streamable HTTP or stdio, in each of its modes."""

import asyncio

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from wanted import arguments, headers, see


async def answer(_context, _question):
    return ElicitResult(action="accept", content={"name": "Alice"})


async def main():
    wanted = arguments(["auto", "legacy", "2026-07-28"])
    async with httpx2.AsyncClient(headers=headers(wanted.token), timeout=60) as http:
        if wanted.start:
            transport = stdio_client(StdioServerParameters(**wanted.start))
        else:
            transport = streamable_http_client(wanted.url, http_client=http)
        async with Client(transport, mode=wanted.mode, elicitation_callback=answer) as client:
            await see(client, wanted, client.protocol_version)


asyncio.run(main())
