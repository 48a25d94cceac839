"""Calls the tools of a server of the Model Context Protocol, one for each line of
standard input: {"name": ..., "arguments": {...}}. Prints the result of each."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command, arguments):
    server = StdioServerParameters(command=command, args=arguments)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = await session.list_tools()
        print(json.dumps([tool.name for tool in listed.tools]))
        for line in sys.stdin:
            call = json.loads(line)
            result = await session.call_tool(call["name"], call["arguments"])
            print(json.dumps({"failed": bool(result.isError), "texts": [part.text for part in result.content]}))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
