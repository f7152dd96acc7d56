// The official SDKs as clients of an Errand workspace: node use_workspace.mjs v1 | v2 TARGET, where
// TARGET is JSON: {"url", "headers"} or {"command", "args"}, and "run", the id of a run. Prints
// what they got as one line of JSON.

const [, , generation, given] = process.argv;
const target = JSON.parse(given);
const info = { name: 'interop', version: '1.0.0' };

async function transport(http, stdio) {
  if (!target.url) {
    const { StdioClientTransport } = await import(stdio);
    return new StdioClientTransport({ command: target.command, args: target.args });
  }
  const { StreamableHTTPClientTransport } = await import(http);
  return new StreamableHTTPClientTransport(new URL(target.url),
    { requestInit: { headers: target.headers } });
}

async function connectV1() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new Client(info, { capabilities: {} });
  const sdk = '@modelcontextprotocol/sdk/client';
  await client.connect(await transport(`${sdk}/streamableHttp.js`, `${sdk}/stdio.js`));
  return client;
}

async function connectV2() {
  const { Client } = await import('@modelcontextprotocol/client');
  const client = new Client(info, { versionNegotiation: { mode: 'auto' } });
  const sdk = '@modelcontextprotocol/client';
  await client.connect(await transport(sdk, `${sdk}/stdio`));
  return client;
}

const client = await (generation === 'v1' ? connectV1() : connectV2());
const text = (result) => result.content[0].text;
const call = (name, args) => client.callTool({ name, arguments: args });
const { resourceTemplates } = await client.listResourceTemplates();
const out = {
  name: client.getServerVersion().name,
  era: client.getProtocolEra?.() ?? 'legacy',
  tools: (await client.listTools()).tools.map((tool) => tool.name).sort(),
  sum: text(await call('calculator', { expression: '2+3*4' })),
  wrong: (await call('calculator', {})).isError,
  unknown: await call('none', {}).catch((error) => error.code),
  templates: resourceTemplates.map((one) => one.uriTemplate),
  listed: (await client.listResources()).resources.map((one) => one.uri),
};
if (target.run) {
  const uri = `errand://runs/${target.run}/events`;
  const { contents } = await client.readResource({ uri });
  out.log = contents[0].text.trim().split('\n').map((line) => JSON.parse(line).type);
}
out.missing = await client.readResource({ uri: 'errand://runs/run_none/events' })
  .catch((error) => error.code);
await client.close();
console.log(JSON.stringify(out));
