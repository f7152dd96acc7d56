// Reads the stream at URL with an EventSource until the run ends, through every cut, and prints
// each event as a line of JSON.
import { EventSource } from 'eventsource';

const [url, key] = process.argv.slice(2);
const TYPES = [
  'assistant_delta', 'assistant_message', 'local_tool_call', 'local_tool_result_in', 'tool_call',
  'tool_result', 'thinking_delta', 'turn_restarted', 'message',
];
const TERMINAL = ['result', 'cancelled'];

// The timer with which an EventSource comes back does not keep the process alive; this one does.
const alive = setInterval(() => {}, 60_000);

const source = new EventSource(url, {
  fetch: (input, init) =>
    fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } }),
});

function print(event) {
  const { type, lastEventId, data } = event;
  process.stdout.write(JSON.stringify({ id: lastEventId, event: type, data }) + '\n');
}

for (const type of TYPES) source.addEventListener(type, print);
for (const type of TERMINAL) {
  source.addEventListener(type, (event) => {
    print(event);
    source.close();
    clearInterval(alive);
  });
}
source.onerror = (event) => {
  // An EventSource comes back by itself, unless the server refused it.
  if (source.readyState === EventSource.CLOSED) {
    console.error(`closed: ${event.code} ${event.message}`);
    process.exit(1);
  }
};
