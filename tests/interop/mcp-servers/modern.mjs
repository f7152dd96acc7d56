// A server of the modern era on the official SDK: node modern.mjs stdio | http. Over HTTP it prints
// its port on the first line.

import { createServer } from 'node:http';
import {
  McpServer, createMcpHandler, fromJsonSchema, inputRequired,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const object = (properties) => ({ type: 'object', properties });
const integer = { type: 'integer' };
const string = { type: 'string' };

function makeServer() {
  const server = new McpServer({ name: 'modern', version: '1.0.0' });
  server.registerTool('add', {
    description: 'Adds.',
    inputSchema: fromJsonSchema(object({ a: integer, b: integer })),
    outputSchema: fromJsonSchema({ ...object({ sum: integer }), required: ['sum'] }),
  }, ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }));
  server.registerTool('where', {
    inputSchema: fromJsonSchema(object({ region: { ...string, 'x-mcp-header': 'Region' } })),
  }, ({ region }) => text(region));
  server.registerTool('ask', { inputSchema: fromJsonSchema(object({})) }, (_, context) => {
    const answer = context.mcpReq.inputResponses?.name;
    if (answer) return text(`the user chose ${answer.action}`);
    const question = { message: 'Your name?', requestedSchema: object({ name: string }) };
    return inputRequired({ inputRequests: { name: inputRequired.elicit(question) } });
  });
  server.registerTool('introduce', { inputSchema: fromJsonSchema(object({})) }, (_, context) => {
    const { name, words } = context.mcpReq.inputResponses ?? {};
    if (words) return text(`${name.content.name} says: ${words.content.text}`);
    const form = { message: 'Who are you?', requestedSchema: object({ name: string }) };
    const messages = [{ role: 'user', content: { type: 'text', text: 'And what do you say?' } }];
    return inputRequired({
      inputRequests: {
        name: inputRequired.elicit(form),
        words: inputRequired.createMessage({ messages, maxTokens: 50 }),
      },
    });
  });
  return server;
}

if (process.argv[2] === 'stdio') {
  serveStdio(makeServer);
} else {
  const handler = toNodeHandler(createMcpHandler(makeServer));
  const http = createServer((request, response) => handler(request, response));
  http.listen(0, '127.0.0.1', () => console.log(http.address().port));
}
