// Serves models of all vendors with aimock, from fixtures that are the first line of stdin as JSON.
// Prints its URL, and ends when stdin does.
import { createInterface } from 'node:readline';
import { LLMock } from '@copilotkit/aimock';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
mock.addFixturesFromJSON(JSON.parse((await lines.next()).value));
process.stdout.write(`${JSON.stringify(await mock.start())}\n`);
await lines.next();
await mock.stop();
