// The official SDKs as clients of an agent: node use_agent.mjs 1.0 | 0.3 CARD_URL KEY. Prints what
// they got as one line of JSON.

import { randomUUID } from 'node:crypto';

const [, , version, cardUrl, key] = process.argv;
const isNew = version === '1.0';
const { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } =
  await import(isNew ? '@a2a-js/sdk/client' : 'a2a-js-sdk-0.3/client');

const fetchImpl = (url, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set('Authorization', `Bearer ${key}`);
  return fetch(url, { ...options, headers });
};
const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  transports: [new JsonRpcTransportFactory({ fetchImpl })],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
}));
const client = await factory.createFromUrl(cardUrl, '');

const part = (text) => (isNew
  ? { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }
  : { kind: 'text', text });
const message = (text, contextId) => ({
  message: {
    messageId: randomUUID(), role: isNew ? 1 : 'user', parts: [part(text)],
    ...(isNew ? { contextId: contextId ?? '', taskId: '', extensions: [], referenceTaskIds: [],
      metadata: undefined } : { kind: 'message', ...(contextId && { contextId }) }),
  },
});
const textOf = (one) => (isNew ? one?.content?.value : one?.text);
const stateOf = (task) => (isNew ? task.status.state : task.status.state);
const taskOf = (result) => (isNew && result.payload ? result.payload.value : result);

const sent = taskOf(await client.sendMessage(message('Say it.')));
const events = [];
let streamed = '';
for await (const event of client.sendMessageStream(message('Again.', sent.contextId))) {
  const kind = isNew ? event.payload.$case : event.kind;
  if (events.at(-1) !== kind) events.push(kind);
  const value = isNew ? event.payload.value : event;
  if (value.artifact) streamed += value.artifact.parts.map(textOf).join('');
}
const got = await client.getTask({ id: sent.id });
const missing = await client.getTask({ id: 'run_none' }).then(() => 'found',
  (e) => e.constructor.name);
const late = await client.cancelTask({ id: sent.id }).then(() => 'cancelled',
  (e) => e.constructor.name);
console.log(JSON.stringify({
  text: sent.artifacts.flatMap((one) => one.parts.map(textOf)).join(''),
  state: stateOf(sent), same: got.id === sent.id && stateOf(got) === stateOf(sent),
  events, streamed, missing, late,
}));
