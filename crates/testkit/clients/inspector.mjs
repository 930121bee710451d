// The command line of npm `@modelcontextprotocol/inspector` 2.x, one run for each thing it is asked.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { report, text, wanted } from './wanted.mjs';

const want = wanted(['auto', 'legacy', 'modern']);
const launcher = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const place = await mkdtemp(join(tmpdir(), 'inspector-'));
const config = join(place, 'config.json');
const there = want.start
  ? { type: 'stdio', ...want.start }
  : { type: 'streamable-http', url: want.url, headers: want.headers };
const server = { ...there, protocolEra: want.mode };
await writeFile(config, JSON.stringify({ mcpServers: { server } }));

async function run(...rest) {
  const line = [join(want.npm, launcher), '--cli', '--config', config, '--server', 'server'];
  // A home of its own: it keeps its state there.
  const env = { ...process.env, HOME: place };
  const { stdout } = await promisify(execFile)(process.execPath, [...line, '--method', ...rest], {
    env,
    maxBuffer: 1 << 26,
  });
  return JSON.parse(stdout);
}

try {
  const { protocolVersion } = await run('initialize');
  const { tools } = await run('tools/list');
  const { resources } = await run('resources/list');
  const { prompts } = await run('prompts/list');
  const given = Object.entries(want.arguments).flatMap(([key, value]) => [
    '--tool-arg',
    `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  ]);
  const call = await run('tools/call', '--tool-name', want.tool, ...given);
  const read = await run('resources/read', '--uri', want.uri);
  const prompt = await run('prompts/get', '--prompt-name', want.prompt);
  report({
    revision: protocolVersion,
    tools: tools.map((tool) => tool.name),
    resources: resources.map((resource) => resource.uri),
    prompts: prompts.map((prompt) => prompt.name),
    call: text(call),
    read: read.contents[0].text,
    prompt: prompt.messages[0].content.text,
  });
} finally {
  await rm(place, { recursive: true, force: true });
}
