"""The command line of PyPI `fastmcp`, one run for each thing it is asked."""

import json
import subprocess
import sys
from pathlib import Path

from wanted import arguments, report


def main():
    wanted = arguments(["http", "sse"])
    program = Path(sys.executable).with_name("fastmcp")

    def run(command, *rest):
        # Without `--auth` it would look for a login of its own.
        line = [program, command, wanted.url, *rest, "--json", "--transport", wanted.mode]
        done = subprocess.run([*line, "--auth", wanted.token or "none"], capture_output=True)
        if done.returncode != 0:
            sys.exit(done.stderr.decode() + done.stdout.decode())
        return json.loads(done.stdout)

    def call():
        result = run("call", wanted.tool, "--input-json", json.dumps(wanted.arguments))
        if result["is_error"]:
            sys.exit(f"the tool failed: {result}")
        return result["content"][0]["text"]

    listed = run("list", "--resources", "--prompts")
    report(
        tools=[tool["name"] for tool in listed["tools"]],
        resources=[resource["uri"] for resource in listed["resources"]],
        prompts=[prompt["name"] for prompt in listed["prompts"]],
        call=call(),
        read=run("call", wanted.uri)[0]["text"],
        prompt=run("call", wanted.prompt, "--prompt")["messages"][0]["content"]["text"],
    )


main()
