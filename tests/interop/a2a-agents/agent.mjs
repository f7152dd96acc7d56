// An agent on the official SDKs: node agent.mjs 1.0 | 0.3. Prints its port. What it does follows
// from the first word of the message: echo, parts, ask, slow or fail. GET /sent and /canceled tell
// how many messages and cancels have arrived; GET /release lets slow tasks end.

import { randomUUID } from 'node:crypto';
import express from 'express';

const isNew = process.argv[2] === '1.0';
const server = await import(isNew ? '@a2a-js/sdk/server' : 'a2a-js-sdk-0.3/server');
const web = await import(isNew ? '@a2a-js/sdk/server/express' : 'a2a-js-sdk-0.3/server/express');

const states = isNew
  ? { submitted: 1, working: 2, completed: 3, failed: 4, canceled: 5, 'input-required': 6 } : null;
const text = (value) => (isNew
  ? { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' }
  : { kind: 'text', text: value });
const data = (value) => (isNew
  ? { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: '' }
  : { kind: 'data', data: value });
const file = (bytes, name, type) => (isNew
  ? { content: { $case: 'raw', value: Buffer.from(bytes) }, metadata: undefined, filename: name,
    mediaType: type }
  : { kind: 'file', file: { bytes: Buffer.from(bytes).toString('base64'), name, mimeType: type } });

let sent = 0;
let canceled = 0;
const slow = new Map();

class Executor {
  async execute(context, bus) {
    sent += 1;
    const ids = { taskId: context.taskId, contextId: context.contextId };
    const part = context.userMessage.parts[0];
    const said = isNew ? part.content.value : part.text;
    const word = said.split(' ')[0];
    const status = (state, note) => ({
      state: isNew ? states[state] : state, timestamp: new Date().toISOString(),
      message: note === undefined ? undefined : {
        messageId: randomUUID(), role: isNew ? 2 : 'agent', parts: [text(note)], ...ids,
        ...(isNew ? { extensions: [], referenceTaskIds: [], metadata: undefined }
          : { kind: 'message' }),
      },
    });
    const publish = (kind, value) => bus.publish(isNew
      ? server.AgentEvent[kind](value)
      : { ...value, kind: { task: 'task', statusUpdate: 'status-update',
        artifactUpdate: 'artifact-update' }[kind] });
    const tell = (state, note, final = false) => publish('statusUpdate',
      { ...ids, status: status(state, note), ...(isNew ? { metadata: undefined } : { final }) });
    const give = (parts) => publish('artifactUpdate', {
      ...ids, append: false, lastChunk: true,
      ...(isNew ? { metadata: undefined } : {}),
      artifact: { artifactId: 'a', name: 'a', description: '', parts,
        ...(isNew ? { metadata: undefined, extensions: [] } : {}) },
    });
    // The SDK of 1.0 wants every stream to begin with the task.
    if (isNew && context.task) publish('task', { ...context.task, status: status('working') });
    if (!context.task) {
      publish('task', { id: ids.taskId, contextId: ids.contextId, status: status('submitted'),
        history: [context.userMessage], artifacts: [], metadata: isNew ? undefined : {} });
    }
    tell('working', 'thinking');
    if (word === 'ask') {
      tell('input-required', 'Which colour?', true);
    } else if (word === 'fail') {
      tell('failed', 'It broke.', true);
    } else {
      if (word === 'slow') await new Promise((done) => { slow.set(ids.taskId, done); });
      give(word === 'parts'
        ? [text('some text'), data({ n: 7 }), file('hi', 'a.txt', 'text/plain')]
        : [text(`heard: ${said}`)]);
      tell('completed', undefined, true);
    }
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    canceled += 1;
    const update = { taskId, contextId: '', status: { state: isNew ? states.canceled : 'canceled',
      timestamp: new Date().toISOString(), message: undefined } };
    bus.publish(isNew ? server.AgentEvent.statusUpdate({ ...update, metadata: undefined })
      : { ...update, kind: 'status-update', final: true });
    bus.finished();
  }
}

const app = express();
const listener = app.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${listener.address().port}`;
  const skills = [{ id: 'hear', name: 'Hear', description: 'Hears.', tags: ['x'], examples: [],
    inputModes: [], outputModes: [], securityRequirements: [] }];
  const common = { name: 'Stranger', description: 'An agent of others.', version: '1.0.0', skills,
    defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] };
  const card = isNew
    ? { ...common, capabilities: { streaming: true, pushNotifications: false, extensions: [] },
      supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC',
        protocolVersion: '1.0', tenant: '' }], securitySchemes: {}, securityRequirements: [],
      signatures: [], provider: undefined, documentationUrl: '' }
    : { ...common, protocolVersion: '0.3.0', url: `${url}/rpc`, preferredTransport: 'JSONRPC',
      capabilities: { streaming: true, pushNotifications: false } };
  const handler = new server.DefaultRequestHandler(card, new server.InMemoryTaskStore(),
    new Executor());
  const { UserBuilder } = web;
  app.get('/sent', (_, answer) => answer.json(sent));
  app.get('/canceled', (_, answer) => answer.json(canceled));
  app.get('/release', (_, answer) => {
    for (const done of slow.values()) done();
    answer.json({});
  });
  app.use('/.well-known/agent-card.json',
    web.agentCardHandler({ agentCardProvider: handler }));
  app.use('/rpc', web.jsonRpcHandler({ requestHandler: handler,
    userBuilder: UserBuilder.noAuthentication }));
  console.log(listener.address().port);
});
