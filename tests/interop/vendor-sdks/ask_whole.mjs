// Asks models for answers that are not streamed, with the SDKs of their vendors. Each line of stdin
// is a list of jobs as JSON. They run at the same time, and a line of stdout says what each of them
// came to, in words of all vendors.
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

const MODEL = 'vendor-m';
const TOOL = { name: 'look', description: 'Reads a file.' };
const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };

function openAi({ url, key }) {
  return new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
}

async function askChat(job) {
  const { choices: [{ message, finish_reason: stop }], usage } =
    await openAi(job).chat.completions.create({
      model: MODEL,
      messages: [{ role: 'user', content: job.prompt }],
      tools: [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }],
    });
  return {
    text: message.content ?? '',
    calls: (message.tool_calls ?? []).map((call) => JSON.parse(call.function.arguments)),
    stop,
    usage: [usage.prompt_tokens, usage.completion_tokens],
  };
}

async function askResponses(job) {
  const response = await openAi(job).responses.create({
    model: MODEL,
    input: job.prompt,
    tools: [{ type: 'function', ...TOOL, parameters: SCHEMA, strict: false }],
    previous_response_id: job.previous,
  });
  return {
    id: response.id,
    text: response.output_text,
    calls: response.output.filter((item) => item.type === 'function_call')
      .map((item) => JSON.parse(item.arguments)),
    stop: response.status,
    usage: [response.usage.input_tokens, response.usage.output_tokens],
  };
}

async function askAnthropic(job) {
  const client = new Anthropic({ apiKey: job.key, baseURL: job.url, maxRetries: 0 });
  const { content, stop_reason: stop, usage } = await client.messages.create({
    model: MODEL,
    max_tokens: 1024,
    messages: [{ role: 'user', content: job.prompt }],
    tools: [{ ...TOOL, input_schema: SCHEMA }],
  });
  return {
    text: content.filter(({ type }) => type === 'text').map(({ text }) => text).join(''),
    calls: content.filter(({ type }) => type === 'tool_use').map(({ input }) => input),
    stop,
    usage: [usage.input_tokens, usage.output_tokens],
  };
}

async function askGemini(job) {
  const client = new GoogleGenAI({ apiKey: job.key, httpOptions: { baseUrl: job.url } });
  const response = await client.models.generateContent({
    model: MODEL,
    contents: job.prompt,
    config: { tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: SCHEMA }] }] },
  });
  const { promptTokenCount, candidatesTokenCount } = response.usageMetadata;
  const [{ content: { parts }, finishReason }] = response.candidates;
  return {
    text: parts.map(({ text }) => text ?? '').join(''),
    calls: (response.functionCalls ?? []).map(({ args }) => args),
    stop: finishReason,
    usage: [promptTokenCount, candidatesTokenCount],
  };
}

async function listModels(job) {
  const ids = [];
  for await (const { id } of openAi(job).models.list()) ids.push(id);
  return { ids };
}

const ASK = {
  chat: askChat, responses: askResponses, anthropic: askAnthropic, gemini: askGemini,
  models: listModels,
};

async function run(job) {
  try {
    return await ASK[job.format]({ key: 'secret', ...job });
  } catch (error) {
    const { status = null, message } = error;
    return { error: error.constructor.name, status, message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const results = await Promise.all(JSON.parse(line).map(run));
  process.stdout.write(`${JSON.stringify(results)}\n`);
}
