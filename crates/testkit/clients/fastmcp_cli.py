"""The command line of PyPI `fastmcp`, one run for each thing it is asked."""

import json
import subprocess
import sys

from wanted import arguments, report

# What a run is begun with, and what the line begins with that tells its revision.
TAPPED = "--tapped"
SPOKEN = "speaks MCP "


def tapped():
    """The command line itself, which does not say what it speaks: its client is asked as soon as it is connected."""
    from fastmcp import Client
    from fastmcp.cli import app

    connect = Client.__aenter__

    async def noted(client):
        connected = await connect(client)
        print(f"{SPOKEN}{client.protocol_version}", file=sys.stderr, flush=True)
        return connected

    Client.__aenter__ = noted
    sys.argv = ["fastmcp", *sys.argv[2:]]
    sys.exit(app())


def main():
    wanted = arguments(["http", "sse"])
    revisions = set()

    def run(command, *rest):
        # Without `--auth` it would look for a login of its own.
        line = [sys.executable, "-B", __file__, TAPPED, command, wanted.url, *rest, "--json"]
        line += ["--transport", wanted.mode, "--auth", wanted.token or "none"]
        done = subprocess.run(line, capture_output=True)
        said = done.stderr.decode()
        if done.returncode != 0:
            sys.exit(said + done.stdout.decode())
        spoken = [line.removeprefix(SPOKEN) for line in said.splitlines() if line.startswith(SPOKEN)]
        revisions.update(spoken or ["nothing"])
        return json.loads(done.stdout)

    def call():
        result = run("call", wanted.tool, "--input-json", json.dumps(wanted.arguments))
        if result["is_error"]:
            sys.exit(f"the tool failed: {result}")
        return result["content"][0]["text"]

    listed = run("list", "--resources", "--prompts")
    seen = {
        "tools": [tool["name"] for tool in listed["tools"]],
        "resources": [resource["uri"] for resource in listed["resources"]],
        "prompts": [prompt["name"] for prompt in listed["prompts"]],
        "call": call(),
        "read": run("call", wanted.uri)[0]["text"],
        "prompt": run("call", wanted.prompt, "--prompt")["messages"][0]["content"]["text"],
    }
    # Every run connects anew.
    report(revision=" and ".join(sorted(revisions)), **seen)


if sys.argv[1] == TAPPED:
    tapped()
else:
    main()
