// Participants of rooms on the MeshAgent client of npm. Reads a command as a line of JSON, {"do":
// NAME, "as": PARTICIPANT, ...}, and answers each with a line: {"ok": RESULT} or {"error": TEXT,
// "code": CODE}.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { serviceCommands } from './services.mjs';

// The package cannot be imported: its modules are CommonJS.
const {
  ApiScope, BinaryContent, ControlContent, EmptyContent, ErrorContent, FileContent, JsonContent,
  LinkContent, ParticipantToken, RoomClient, TextContent, Tool, Toolkit, WebSocketClientProtocol,
  packMessage, startHostedToolkit, unpackContent, unpackMessage,
} = createRequire(import.meta.url)('@meshagent/meshagent');

const rooms = new Map();
const hosted = new Map();
const pending = new Map();
const seen = new Map();
const inboxes = new Map();  // messages that have come

const waits = { begun: 0, changed: () => {} };  // calls of the tool `wait`

const bytes = (text) => new TextEncoder().encode(text);
const text = (data) => new TextDecoder().decode(data);

// A content as JSON that a test can compare.
function show(content) {
  if (content instanceof JsonContent) return { json: content.json };
  if (content instanceof TextContent) return { text: content.text };
  if (content instanceof LinkContent) return { link: [content.name, content.url] };
  if (content instanceof FileContent) {
    return { file: [content.name, content.mimeType, text(content.data)] };
  }
  if (content instanceof BinaryContent) return { binary: [content.headers, text(content.data)] };
  if (content instanceof EmptyContent) return { empty: true };
  if (content instanceof ErrorContent) return { error: content.text, code: content.code };
  if (content instanceof ControlContent) {
    return { control: content.method, status: content.statusCode };
  }
  return { unknown: String(content) };
}

// The same the other way.
function made(shown) {
  if ('json' in shown) return new JsonContent({ json: shown.json });
  if ('text' in shown) return new TextContent({ text: shown.text });
  if ('link' in shown) return new LinkContent({ name: shown.link[0], url: shown.link[1] });
  if ('file' in shown) {
    const [name, mimeType, data] = shown.file;
    return new FileContent({ name, mimeType, data: bytes(data) });
  }
  if ('binary' in shown) {
    return new BinaryContent({ headers: shown.binary[0], data: bytes(shown.binary[1]) });
  }
  return new EmptyContent();
}

class Made extends Tool {
  constructor(name, execute, more = {}) {
    super({ name, title: name, description: `gives ${name}`, ...more });
    this.execute = execute;
  }
}

const schema = {
  type: 'object',
  required: ['days', 'unit'],
  additionalProperties: false,
  properties: { days: { type: 'integer' }, unit: { type: ['string', 'null'] } },
};

const tools = [
  new Made('json', async (given) => new JsonContent({ json: given }), { inputSchema: schema }),
  new Made('text', async () => new TextContent({ text: 'Grüße' })),
  new Made('link', async () => new LinkContent({ url: 'https://example.com/', name: 'there' })),
  new Made('file', async () => new FileContent({
    name: 'a.txt', mimeType: 'text/plain', data: bytes('x'.repeat(100_000)),
  })),
  new Made('empty', async () => new EmptyContent()),
  new Made('binary', async () => new BinaryContent({ headers: { n: 1 }, data: bytes('b') })),
  new Made('fail', async () => { throw new Error('no luck'); }),
  new Made('wait', () => {
    waits.begun += 1;
    waits.changed();
    return new Promise(() => {});
  }),
];

// Tools that stream, which this client calls but cannot host: their host is written by hand.
function hostStreams(room, toolkit) {
  const answer = (id, content) => room.protocol.send('room.tool_call_response', content.pack(),
    { id });
  const give = (id, call, content) => {
    const [chunk, data] = unpackMessage(content.pack());
    return room.protocol.send('room.tool_call_response_chunk',
      packMessage({ tool_call_id: call, chunk }, data), { id });
  };
  const open = new Map();
  room.protocol.addHandler(`room.tool_call.${toolkit}`, async (_protocol, id, _type, data) => {
    const [{ name, tool_call_id: call }] = unpackMessage(data);
    open.set(call, { name, id, items: [] });
    if (name === 'sum') return;
    await answer(id, new ControlContent({ method: 'open' }));
  });
  room.protocol.addHandler(`room.tool_call_request_chunk.${toolkit}`,
    async (_protocol, _id, _type, data) => {
      const [{ tool_call_id: call, chunk }, payload] = unpackMessage(data);
      const { name, id, items } = open.get(call);
      const content = unpackContent(packMessage(chunk, payload));
      if (!(content instanceof ControlContent)) {
        items.push(show(content));
        if (name === 'echo') await give(id, call, content);
        return;
      }
      if (name === 'sum') return answer(id, new JsonContent({ json: { items } }));
      if (name === 'broken') await give(id, call, new ErrorContent({ text: 'broke' }));
      return give(id, call, new ControlContent({ method: 'close', statusCode: 1000 }));
    });
  const spec = (stream) => ({ types: ['json', 'binary'], stream });
  const described = Object.fromEntries(['sum', 'echo', 'broken'].map((name) =>
    [name, { title: name, description: '', input_spec: spec(true),
      output_spec: spec(name !== 'sum') }]));
  return room.sendRequest('room.register_toolkit',
    { name: toolkit, title: toolkit, description: '', public: true, tools: described });
}

async function* each(items) {
  for (const item of items) yield made(item);
}

async function* given(items) {
  for (const item of items) {
    yield typeof item === 'string' ? new BinaryContent({ data: bytes(item), headers: { n: 1 } })
      : new JsonContent({ json: item });
  }
}

// The bytes of a file of this size; both peers know them.
function pattern(size) {
  return Uint8Array.from({ length: size }, (_, i) => i % 251);
}

const commands = {
  // A token that the client signs itself, with a key of the workspace.
  async sign({ name, room, key, api }) {
    const token = new ParticipantToken({ name });
    token.addRoomGrant(room);
    if (api) token.addApiGrant(ApiScope.fromJSON(api));
    return token.toJwt({ apiKey: key });
  },
  async join({ as, url, token }) {
    const room = new RoomClient({
      protocolFactory: () => new WebSocketClientProtocol({ url, token }),
    });
    seen.set(as, []);
    for (const name of ['disconnected', 'reconnected']) {
      room.on(name, () => seen.get(as).push(name));
    }
    await room.start();
    rooms.set(as, room);
    return { id: room.localParticipant.id, name: room.localParticipant.getAttribute('name'),
      room: room.roomName, url: room.roomUrl };
  },
  async host({ as, toolkit, isPublic = true }) {
    const kit = new Toolkit({ name: toolkit, title: 'Kit', description: 'all kinds', tools });
    hosted.set(as, await startHostedToolkit({ room: rooms.get(as), toolkit: kit,
      public_: isPublic }));
  },
  async hostStreams({ as, toolkit }) {
    await hostStreams(rooms.get(as), toolkit);
  },
  async stop({ as }) {
    await hosted.get(as).stop();
  },
  async list({ as, ...filter }) {
    const toolkits = await rooms.get(as).agents.listToolkits(filter);
    return Object.fromEntries(toolkits.map((one) => [one.name, one.tools.map((t) => t.name)]));
  },
  async call({ as, toolkit, tool, input, participantId }) {
    return show(await rooms.get(as).invoke({ toolkit, tool, input, participantId }));
  },
  // A call with any content.
  async give({ as, content, ...call }) {
    return show(await rooms.get(as).invoke({ ...call, input: made(content) }));
  },
  // A call that streams contents both ways; its output without the close at its end.
  async exchange({ as, items, ...call }) {
    const output = [];
    const stream = await rooms.get(as).invokeStream({ ...call, input: each(items) });
    for await (const item of stream) {
      if (!(item instanceof ControlContent)) output.push(show(item));
    }
    return output;
  },
  // The same with a single answer.
  async collect({ as, items, ...call }) {
    return show(await rooms.get(as).invokeWithStreamInput({ ...call, input: each(items) }));
  },
  async enable({ as }) {
    const { messaging } = rooms.get(as);
    inboxes.set(as, { messages: [], changed: () => {} });
    messaging.on('message', ({ message }) => {
      if (message.type !== 'chat') return;
      inboxes.get(as).messages.push(message);
      inboxes.get(as).changed();
    });
    const enabled = new Promise((resolve) => { messaging.on('messaging_enabled', resolve); });
    messaging.enable();
    await enabled;
  },
  async message({ as, to, text: said }) {
    const { messaging } = rooms.get(as);
    await messaging.sendMessage({ to: messaging.getParticipantByName(to), type: 'chat',
      message: { text: said }, attachment: bytes('attached') });
  },
  async broadcast({ as, text: said }) {
    await rooms.get(as).messaging.broadcastMessage({ type: 'chat', message: { text: said } });
  },
  // The next message that has come.
  async read({ as }) {
    const inbox = inboxes.get(as);
    while (!inbox.messages.length) await new Promise((resolve) => { inbox.changed = resolve; });
    const message = inbox.messages.shift();
    const from = rooms.get(as).messaging.getParticipant(message.fromParticipantId);
    return { from: from.getAttribute('name'), type: message.type, message: message.message,
      attachment: message.attachment ? text(message.attachment) : '' };
  },
  async present({ as }) {
    return Object.fromEntries(rooms.get(as).messaging.getParticipants().map((one) =>
      [one.getAttribute('name'), one.role]));
  },
  async queueSend({ as, queue, message }) {
    await rooms.get(as).queues.send(queue, message, { create: true });
  },
  async queueReceive({ as, queue, wait = false }) {
    return rooms.get(as).queues.receive(queue, { create: true, wait });
  },
  async queues({ as }) {
    return Object.fromEntries((await rooms.get(as).queues.list()).map((q) => [q.name, q.size]));
  },
  async queueDrain({ as, queue }) {
    await rooms.get(as).queues.drain(queue);
  },
  async queueClose({ as, queue }) {
    await rooms.get(as).queues.close(queue);
  },
  // Starts a call; `finish` gives its result.
  async begin({ as, ...call }) {
    pending.set(as, commands.call({ as, ...call }).then((ok) => ({ ok }), failure));
  },
  async finish({ as }) {
    return pending.get(as);
  },
  // Returns once the tool `wait` has been called so many times, whoever hosts it.
  async waiting({ calls }) {
    while (waits.begun < calls) await new Promise((resolve) => { waits.changed = resolve; });
  },
  async streamIn({ as, toolkit, tool, items }) {
    return show(await rooms.get(as).invokeWithStreamInput({ toolkit, tool, input: given(items) }));
  },
  async stream({ as, toolkit, tool, items }) {
    const output = [];
    const stream = await rooms.get(as).invokeStream({ toolkit, tool, input: given(items) });
    for await (const item of stream) output.push(show(item));
    return output;
  },
  // What became of the connection, once it has come back so many times.
  async statuses({ as, reconnected }) {
    const count = () => seen.get(as).filter((one) => one === 'reconnected').length;
    while (count() < reconnected) {
      await new Promise((resolve) => { rooms.get(as).on('reconnected', resolve); });
    }
    return seen.get(as);
  },
  async upload({ as, path, size, overwrite = true }) {
    await rooms.get(as).storage.upload(path, pattern(size), { overwrite });
  },
  async download({ as, path }) {
    const file = await rooms.get(as).storage.download(path);
    const { length } = file.data;
    return { name: file.name, type: file.mimeType, size: length,
      same: Buffer.compare(Buffer.from(file.data), Buffer.from(pattern(length))) === 0 };
  },
  async downloadUrl({ as, path }) {
    return rooms.get(as).storage.downloadUrl(path);
  },
  async files({ as, path }) {
    return (await rooms.get(as).storage.list(path)).map((entry) => entry.name);
  },
  async callAgent({ as, name, url, arguments: given, api }) {
    await rooms.get(as).agents.call({ name, url, arguments: given, api });
  },
  // What the WebSocket has negotiated.
  async extensions({ as }) {
    return rooms.get(as)._protocolInstance.channel.webSocket.extensions;
  },
  async leave({ as }) {
    rooms.get(as).dispose();
  },
};

Object.assign(commands, serviceCommands(rooms));

function failure(error) {
  return { error: error.message, code: error.code };
}

// The client raises what it has reported already when a room refuses it.
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => {});
for (const name of ['debug', 'info', 'log', 'warn', 'error']) console[name] = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...command } = JSON.parse(line);
  let answer;
  try {
    answer = { ok: (await commands[name](command)) ?? null };
  } catch (error) {
    answer = failure(error);
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
