// The official SDKs as clients of examples/mcp_server: node use_notes.mjs v1 | v2 PROGRAM | URL.
// Prints what they got as one line of JSON.

const [, , generation, target] = process.argv;
const info = { name: 'interop', version: '1.0.0' };

async function transport(http, stdio) {
  if (!target.startsWith('http://')) {
    const { StdioClientTransport } = await import(stdio);
    return new StdioClientTransport({ command: target });
  }
  const { StreamableHTTPClientTransport } = await import(http);
  return new StreamableHTTPClientTransport(new URL(target));
}

async function connectV1() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const sdk = '@modelcontextprotocol/sdk/client';
  const client = new Client(info, { capabilities: {} });
  await client.connect(await transport(`${sdk}/streamableHttp.js`, `${sdk}/stdio.js`));
  return client;
}

async function connectV2() {
  const { Client } = await import('@modelcontextprotocol/client');
  const sdk = '@modelcontextprotocol/client';
  const client = new Client(info, { versionNegotiation: { mode: 'auto' } });
  await client.connect(await transport(sdk, `${sdk}/stdio`));
  return client;
}

const client = await (generation === 'v1' ? connectV1() : connectV2());
const added = { name: 'add_note', arguments: { name: 'desk', text: 'It wobbles.' } };
const out = {
  server: client.getServerVersion(),
  era: client.getProtocolEra?.() ?? 'legacy',
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  added: (await client.callTool(added)).structuredContent,
  wrong: (await client.callTool({ name: 'add_note', arguments: { name: 'x' } })).isError,
  counted: (await client.callTool({ name: 'count' })).content[0].text,
  prompt: (await client.getPrompt({ name: 'explain', arguments: { note: 'desk' } }))
    .messages[0].content.text,
  templates: (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
  read: (await client.readResource({ uri: 'note://desk' })).contents[0].text,
  missing: await client.readResource({ uri: 'note://none' }).catch((error) => error.code),
  completion: (await client.complete({
    ref: { type: 'ref/resource', uri: 'note://{name}' }, argument: { name: 'name', value: 'd' },
  })).completion.values,
};
await client.close();
console.log(JSON.stringify(out));
