// What a room takes if it is written for Node with `ws`, as a measure for the server's rooms: one
// room without tokens, grants, limits or checks, that keeps participants and public toolkits,
// passes calls on, and sends messages to those who want them. Prints its port.

import { createRequire } from 'node:module';

const { WebSocketServer } = createRequire(process.argv[2])('ws');

const PACKET_BYTES = 64 * 1024;
const toolkits = new Map();
const listeners = new Set();
const calls = new Map();
let lastId = 0;

function packets(id, type, header) {
  const text = Buffer.from(JSON.stringify(header));
  const payload = Buffer.alloc(8 + text.length);
  payload.writeBigUInt64BE(BigInt(text.length));
  text.copy(payload, 8);
  const count = Math.ceil(payload.length / PACKET_BYTES);
  const name = Buffer.from(type);
  const first = Buffer.alloc(16 + name.length);
  first.writeBigUInt64BE(BigInt(id));
  first.writeUInt32BE(count, 12);
  name.copy(first, 16);
  const all = [first];
  for (let k = 1; k <= count; k += 1) {
    const part = payload.subarray((k - 1) * PACKET_BYTES, k * PACKET_BYTES);
    const packet = Buffer.alloc(12 + part.length);
    packet.writeBigUInt64BE(BigInt(id));
    packet.writeUInt32BE(k, 8);
    part.copy(packet, 12);
    all.push(packet);
  }
  return all;
}

function send(socket, id, type, header) {
  for (const packet of packets(id, type, header)) socket.send(packet);
}

function sendMessaging(socket, id, { tool, arguments: given }) {
  send(socket, id, '__response__', { type: 'empty' });
  if (tool === 'enable') {
    listeners.add(socket);
    send(socket, 0, 'messaging.send',
      { from_participant_id: '', type: 'messaging.enabled', message: { participants: [] } });
  } else {
    const { type, message_json: text } = given.json;
    const all = packets(0, 'messaging.send',
      { from_participant_id: socket.id, type, message: JSON.parse(text) });
    for (const other of listeners) {
      if (other !== socket) for (const packet of all) other.send(packet);
    }
  }
}

function receive(socket, id, type, header) {
  if (type === 'room.register_toolkit') {
    toolkits.set(header.name, socket);
    send(socket, id, '__response__', { type: 'json', json: { id: header.name } });
  } else if (type === 'room.invoke_tool' && header.toolkit === 'messaging') {
    sendMessaging(socket, id, header);
  } else if (type === 'room.invoke_tool') {
    lastId += 1;
    calls.set(lastId, { socket, id });
    send(toolkits.get(header.toolkit), lastId, `room.tool_call.${header.toolkit}`, {
      name: header.tool, arguments: header.arguments, caller_id: socket.id,
      tool_call_id: `call-${lastId}`,
    });
  } else if (type === 'room.tool_call_response') {
    const call = calls.get(id);
    calls.delete(id);
    send(call.socket, call.id, '__response__', header);
  }
}

function accept(socket) {
  let reading = null;
  lastId += 1;
  socket.id = `p${lastId}`;
  socket.on('message', (data) => {
    const id = Number(data.readBigUInt64BE(0));
    if (!reading) {
      reading = { type: data.toString('utf8', 16), left: data.readUInt32BE(12), parts: [] };
      return;
    }
    reading.parts.push(data.subarray(12));
    reading.left -= 1;
    if (reading.left > 0) return;
    const payload = Buffer.concat(reading.parts);
    const size = Number(payload.readBigUInt64BE(0));
    const header = JSON.parse(payload.toString('utf8', 8, 8 + size));
    const { type } = reading;
    reading = null;
    receive(socket, id, type, header);
  });
  socket.on('close', () => listeners.delete(socket));
  send(socket, 0, 'connected',
    { type: 'init', participantId: socket.id, attributes: { name: 'x' } });
  send(socket, 0, 'room_ready', { room_name: 'r', room_url: '', session_id: 's' });
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', accept);
server.on('listening', () => process.stdout.write(`${server.address().port}\n`));
