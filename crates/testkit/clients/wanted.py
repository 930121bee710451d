"""What every Python client here is asked to do, and the line it prints. Never talks to a server."""

import argparse
import json


def arguments(modes):
    """The command line: where, as whom, how, and the names of what to use."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url", help="or `stdio:` and what to start, as JSON")
    parser.add_argument("--token", help="bearer token; without it none is sent")
    parser.add_argument("--mode", choices=modes, default=modes[0])
    parser.add_argument("--tool", default="test_simple_text")
    parser.add_argument("--arguments", type=json.loads, default={}, help="of the tool, as JSON")
    parser.add_argument("--ask", default="test_input_required_result_elicitation")
    parser.add_argument("--uri", default="test://static-text")
    parser.add_argument("--prompt", default="test_simple_prompt")
    parser.add_argument("--npm", help="the folder in which the npm packages are installed")
    parser.add_argument("--node", help="the Node that runs them")
    wanted = parser.parse_args()
    wanted.start = None
    if wanted.url.startswith("stdio:"):
        wanted.start = json.loads(wanted.url.removeprefix("stdio:"))
    return wanted


def headers(token):
    return {"Authorization": f"Bearer {token}"} if token else {}


def report(**seen):
    """One line of JSON: revision, tools, resources, prompts, call, asked, read, prompt."""
    print(json.dumps(seen), flush=True)


def text(result):
    """The first block of a tool's result. The words of a tool that failed are not what it was called for."""
    # `mcp` 1.x and 2.x call it differently.
    failed = result.is_error if hasattr(result, "is_error") else result.isError
    if failed:
        raise RuntimeError(f"the tool failed: {result}")
    return result.content[0].text


async def see(session, wanted, revision):
    """Lists, calls, reads and gets, through anything with the methods of a `ClientSession`."""
    tools = await session.list_tools()
    resources = await session.list_resources()
    prompts = await session.list_prompts()
    call = await session.call_tool(wanted.tool, wanted.arguments)
    asked = await session.call_tool(wanted.ask, {})
    read = await session.read_resource(wanted.uri)
    prompt = await session.get_prompt(wanted.prompt)
    report(
        revision=revision,
        tools=[tool.name for tool in tools.tools],
        resources=[str(resource.uri) for resource in resources.resources],
        prompts=[prompt.name for prompt in prompts.prompts],
        call=text(call),
        asked=text(asked),
        read=read.contents[0].text,
        prompt=prompt.messages[0].content.text,
    )
