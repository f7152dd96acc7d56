// The official SDKs as clients of a server over stdio: node use_server.mjs v1 | v2 PROGRAM. Prints
// what they got as one line of JSON.

const [, , generation, program] = process.argv;
const info = { name: 'interop', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };
const decline = async () => ({ action: 'decline' });

async function connectV1() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const client = new Client(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, decline);
  await client.connect(new StdioClientTransport({ command: program }));
  return [client, (params, onprogress) => client.callTool(params, undefined, { onprogress })];
}

async function connectV2() {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client(info, { capabilities, versionNegotiation: { mode: 'auto' } });
  client.setRequestHandler('elicitation/create', decline);
  await client.connect(new StdioClientTransport({ command: program }));
  return [client, (params, onprogress) => client.callTool(params, { onprogress })];
}

const [client, call] = await (generation === 'v1' ? connectV1() : connectV2());
const text = (result) => result.content[0].text;
const progress = [];
const out = {
  version: client.getServerVersion(),
  era: client.getProtocolEra?.() ?? 'legacy',
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  echo: text(await call({ name: 'echo', arguments: { text: 'hä?' } })),
  measure: (await call({ name: 'measure', arguments: { text: 'four' } })).structuredContent,
  steps: text(await call({ name: 'steps' }, (one) => progress.push(one.progress))),
  progress,
  ask: text(await call({ name: 'ask', arguments: {} })),
  failed: (await call({ name: 'fail', arguments: {} })).isError,
  unknown: await call({ name: 'none', arguments: {} }).catch((error) => error.code),
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  prompt: (await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } }))
    .messages[0].content.text,
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  resource: (await client.readResource({ uri: 'test://a' })).contents[0].text,
  completion: (await client.complete({
    ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'A' },
  })).completion.values,
};
await client.close();
console.log(JSON.stringify(out));
