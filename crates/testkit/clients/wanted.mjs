// What every Node client here is asked to do. Never talks to a server.
import { parseArgs } from 'node:util';

export function wanted(modes) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      token: { type: 'string' },
      mode: { type: 'string', default: modes[0] },
      tool: { type: 'string', default: 'test_simple_text' },
      arguments: { type: 'string', default: '{}' },
      ask: { type: 'string', default: 'test_input_required_result_elicitation' },
      uri: { type: 'string', default: 'test://static-text' },
      prompt: { type: 'string', default: 'test_simple_prompt' },
      npm: { type: 'string' },
      node: { type: 'string' },
    },
  });
  if (positionals.length !== 1) throw new Error('one URL, please');
  if (!modes.includes(values.mode)) throw new Error(`modes: ${modes.join(', ')}`);
  const headers = values.token ? { Authorization: `Bearer ${values.token}` } : {};
  const [url] = positionals;
  // What to start, instead of where to go.
  const start = url.startsWith('stdio:') ? JSON.parse(url.slice('stdio:'.length)) : undefined;
  return { url, start, headers, ...values, arguments: JSON.parse(values.arguments) };
}

// The first block of a tool's result. The words of a tool that failed are not what it was called for.
export function text(result) {
  if (result.isError) throw new Error(`the tool failed: ${JSON.stringify(result)}`);
  return result.content[0].text;
}

export function report(seen) {
  console.log(JSON.stringify(seen));
}
