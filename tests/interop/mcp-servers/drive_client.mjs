// An official SDK as a client that a test drives: node drive_client.mjs v1 | v2 TARGET. TARGET
// is JSON: {"url", "headers"} or {"command", "args"}. Reads commands, one JSON object a line, and
// answers each with a line:
//   {"list": true}                         the names of the tools
//   {"changed": true}                      the names, once the server tells of a change
//   {"call": NAME, "arguments", "cancel"}  {"text", "failed", "structured", "progress"}; with
//                                          "cancel", the call is given up at its first progress

import { createInterface } from 'node:readline';

const [, , generation, given] = process.argv;
const target = JSON.parse(given);
const info = { name: 'interop', version: '1.0.0' };
const isNew = generation === 'v2';
const sdk = isNew ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client';

const changes = [];
let changed = () => {};
const options = {
  capabilities: {},
  listChanged: { tools: { debounceMs: 0, onChanged: (error, tools) => {
    changes.push(error ? String(error) : tools.map((tool) => tool.name).sort());
    changed();
  } } },
  ...(isNew ? { versionNegotiation: { mode: 'auto' } } : {}),
};

async function transport() {
  if (!target.url) {
    const { StdioClientTransport } = await import(`${sdk}/stdio${isNew ? '' : '.js'}`);
    return new StdioClientTransport({ command: target.command, args: target.args });
  }
  const { StreamableHTTPClientTransport } = await import(isNew ? sdk : `${sdk}/streamableHttp.js`);
  return new StreamableHTTPClientTransport(new URL(target.url),
    { requestInit: { headers: target.headers } });
}

async function call(command) {
  const progress = [];
  const leaving = new AbortController();
  const more = { signal: leaving.signal, onprogress: (one) => {
    progress.push(one.message);
    if (command.cancel) leaving.abort('enough');
  } };
  const params = { name: command.call, arguments: command.arguments ?? {} };
  try {
    const result = await (isNew ? client.callTool(params, more)
      : client.callTool(params, undefined, more));
    return { text: result.content[0]?.text, failed: result.isError ?? false,
      structured: result.structuredContent, progress };
  } catch (error) {
    return { error: String(error.message), code: error.code, progress };
  }
}

async function answer(command) {
  if (command.call) return call(command);
  if (command.changed) {
    while (changes.length === 0) await new Promise((done) => { changed = done; });
    return changes.splice(0).pop();
  }
  return (await client.listTools()).tools.map((tool) => tool.name).sort();
}

const { Client } = await import(isNew ? sdk : `${sdk}/index.js`);
const client = new Client(info, options);
await client.connect(await transport());
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
await client.close();
