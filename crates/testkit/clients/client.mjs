// npm `@modelcontextprotocol/client` 2.x over Streamable HTTP or stdio, in each of its modes.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { report, text, wanted } from './wanted.mjs';

const want = wanted(['auto', 'legacy', '2026-07-28']);
const load = createRequire(join(want.npm, 'package.json'));
const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');

const mode = want.mode === '2026-07-28' ? { pin: want.mode } : want.mode;
const client = new Client(
  { name: 'switchboard-tests', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
);
client.setRequestHandler('elicitation/create', async () => ({
  action: 'accept',
  content: { name: 'Alice' },
}));
const requestInit = { headers: want.headers };
const transport = want.start
  ? new StdioClientTransport(want.start)
  : new StreamableHTTPClientTransport(new URL(want.url), { requestInit });
await client.connect(transport);

const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
const call = await client.callTool({ name: want.tool, arguments: want.arguments });
const asked = await client.callTool({ name: want.ask, arguments: {} });
const read = await client.readResource({ uri: want.uri });
const prompt = await client.getPrompt({ name: want.prompt });
report({
  revision: client.getNegotiatedProtocolVersion(),
  tools: tools.map((tool) => tool.name),
  resources: resources.map((resource) => resource.uri),
  prompts: prompts.map((prompt) => prompt.name),
  call: text(call),
  asked: text(asked),
  read: read.contents[0].text,
  prompt: prompt.messages[0].content.text,
});
await client.close();
