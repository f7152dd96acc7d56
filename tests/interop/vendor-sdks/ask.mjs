// Asks models with the SDKs of their vendors. Each line of stdin is a list of jobs as JSON. They
// run at the same time, and a line of stdout says what each one came to: the turns in words of all
// vendors, with the vendor's own blocks as the SDK put them together, and what error ended them.
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { AzureOpenAI } from 'openai';

const MODEL = 'vendor-m';
const KEY = 'secret';
const TURNS_MAX = 4;

// The members of an object, without those that the SDK adds for convenience.
function plain(object, ...dropped) {
  const copy = JSON.parse(JSON.stringify(object));
  for (const name of dropped) delete copy[name];
  return copy;
}

function openAi(job) {
  const options = { apiKey: KEY, maxRetries: job.retries ?? 0 };
  if (job.azure === undefined) return new OpenAI({ ...options, baseURL: `${job.url}/v1` });
  if (job.azure !== '') {
    return new AzureOpenAI({ ...options, endpoint: job.url, apiVersion: job.azure });
  }
  // The client of Azure knows no v1, which is asked like OpenAI itself.
  const defaultHeaders = { 'api-key': KEY, Authorization: null };
  return new OpenAI({ ...options, baseURL: `${job.url}/openai/v1`, defaultHeaders });
}

class ChatAsker {
  constructor(job) {
    this.client = openAi(job);
    this.params = {
      model: MODEL,
      messages: [{ role: 'user', content: job.prompt }],
      stream_options: { include_usage: true },
    };
    if (job.tools) {
      this.params.tools = job.tools.map(({ name, description, schema }) => ({
        type: 'function', function: { name, description, parameters: schema },
      }));
    }
    if (job.schema) {
      const json_schema = { name: 'output', schema: job.schema, strict: true };
      this.params.response_format = { type: 'json_schema', json_schema };
    }
  }

  async turn() {
    const { choices, usage } = await this.client.chat.completions.stream(this.params)
      .finalChatCompletion();
    const { content, refusal, tool_calls: calls } = choices[0].message;
    const message = { role: 'assistant', content: content || null };
    if (calls) {
      message.tool_calls = calls.map((call) => ({
        id: call.id, type: call.type, function: plain(call.function, 'parsed_arguments'),
      }));
    }
    this.params.messages.push(message);
    return {
      blocks: [message],
      text: content ?? '',
      thinking: '',
      refusal: refusal ?? '',
      calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: raw } }) => ({
        id, name, args: JSON.parse(raw || '{}'),
      })),
      stop: choices[0].finish_reason,
      usage: usage && {
        input: usage.prompt_tokens,
        cached: usage.prompt_tokens_details.cached_tokens,
        output: usage.completion_tokens,
        thinking: usage.completion_tokens_details.reasoning_tokens,
      },
    };
  }

  answer(calls, result) {
    for (const { id } of calls) {
      this.params.messages.push({ role: 'tool', tool_call_id: id, content: result });
    }
  }
}

class ResponsesAsker {
  constructor(job) {
    this.client = openAi(job);
    this.params = {
      model: MODEL, input: [{ role: 'user', content: job.prompt }], store: false,
      include: ['reasoning.encrypted_content'],
    };
    if (job.tools) {
      this.params.tools = job.tools.map(({ name, description, schema }) => ({
        type: 'function', name, description, parameters: schema, strict: false,
      }));
    }
    if (job.schema) {
      const format = { type: 'json_schema', name: 'output', schema: job.schema, strict: true };
      this.params.text = { format };
    }
  }

  async turn() {
    const seen = { text: '', thinking: '', refusal: '', arguments: new Map() };
    const stream = this.client.responses.stream(this.params);
    stream.on('response.output_text.delta', (event) => { seen.text += event.delta; });
    stream.on('response.refusal.delta', (event) => { seen.refusal += event.delta; });
    stream.on('response.reasoning_summary_text.delta', (e) => { seen.thinking += e.delta; });
    stream.on('response.function_call_arguments.delta', (event) => {
      seen.arguments.set(event.item_id, event.snapshot);
    });
    const response = await stream.finalResponse();
    const blocks = response.output.map((item) => {
      const copy = plain(item, 'parsed_arguments');
      copy.content?.forEach((part) => { delete part.parsed; });
      return copy;
    });
    this.params.input.push(...blocks);
    const { usage } = response;
    return {
      blocks,
      text: seen.text,
      thinking: seen.thinking,
      refusal: seen.refusal,
      calls: blocks.filter((item) => item.type === 'function_call').map((item) => ({
        id: item.call_id, name: item.name, args: JSON.parse(seen.arguments.get(item.id) ?? '{}'),
      })),
      stop: response.incomplete_details?.reason ?? response.status,
      usage: usage && {
        input: usage.input_tokens,
        cached: usage.input_tokens_details.cached_tokens,
        output: usage.output_tokens,
        thinking: usage.output_tokens_details.reasoning_tokens,
      },
    };
  }

  answer(calls, result) {
    for (const { id } of calls) {
      this.params.input.push({ type: 'function_call_output', call_id: id, output: result });
    }
  }
}

class AnthropicAsker {
  constructor(job) {
    this.client = new Anthropic({ apiKey: KEY, baseURL: job.url, maxRetries: job.retries ?? 0 });
    this.params = {
      model: MODEL, max_tokens: 4096, messages: [{ role: 'user', content: job.prompt }],
    };
    if (job.tools) {
      this.params.tools = job.tools.map(({ name, description, schema }) => ({
        name, description, input_schema: schema,
      }));
    }
    if (job.schema) {
      this.params.output_config = { format: { type: 'json_schema', schema: job.schema } };
    }
  }

  async turn() {
    const message = await this.client.messages.stream(this.params).finalMessage();
    const blocks = message.content.map((block) => plain(block, 'parsed', 'parsed_output'));
    this.params.messages.push({ role: 'assistant', content: blocks });
    const all = (type) => blocks.filter((block) => block.type === type);
    const { usage } = message;
    return {
      blocks,
      text: all('text').map((block) => block.text).join(''),
      thinking: all('thinking').map((block) => block.thinking).join(''),
      refusal: message.stop_details?.explanation ?? '',
      calls: all('tool_use').map(({ id, name, input }) => ({ id, name, args: input })),
      stop: message.stop_reason,
      usage: usage.input_tokens === undefined ? null : {
        input: usage.input_tokens + usage.cache_read_input_tokens,
        cached: usage.cache_read_input_tokens,
        output: usage.output_tokens,
        thinking: usage.output_tokens_details.thinking_tokens,
      },
    };
  }

  answer(calls, result) {
    const content = calls.map(({ id }) => ({
      type: 'tool_result', tool_use_id: id, content: result,
    }));
    this.params.messages.push({ role: 'user', content });
  }
}

class GeminiAsker {
  constructor(job) {
    const retryOptions = { attempts: (job.retries ?? 0) + 1 };
    this.client = new GoogleGenAI({
      apiKey: KEY, httpOptions: { baseUrl: job.url, ...(job.retries ? { retryOptions } : {}) },
    });
    this.params = {
      model: MODEL, contents: [{ role: 'user', parts: [{ text: job.prompt }] }], config: {},
    };
    if (job.tools) {
      const functionDeclarations = job.tools.map(({ name, description, schema }) => ({
        name, description, ...(schema.properties ? { parametersJsonSchema: schema } : {}),
      }));
      this.params.config.tools = [{ functionDeclarations }];
    }
    if (job.schema) {
      this.params.config.responseMimeType = 'application/json';
      this.params.config.responseJsonSchema = job.schema;
    }
  }

  async turn() {
    const seen = { blocks: [], text: '', thinking: '', calls: [], stop: null, usage: null };
    for await (const chunk of await this.client.models.generateContentStream(this.params)) {
      const candidate = chunk.candidates?.[0];
      for (const part of candidate?.content?.parts ?? []) {
        seen.blocks.push(plain(part));
        seen[part.thought ? 'thinking' : 'text'] += part.text ?? '';
      }
      for (const { id, name, args } of chunk.functionCalls ?? []) {
        seen.calls.push({ id, name, args });
      }
      seen.stop = candidate?.finishReason ?? chunk.promptFeedback?.blockReason ?? seen.stop;
      if (chunk.usageMetadata) {
        const usage = chunk.usageMetadata;
        const thinking = usage.thoughtsTokenCount ?? 0;
        seen.usage = {
          input: usage.promptTokenCount,
          cached: usage.cachedContentTokenCount ?? 0,
          output: usage.candidatesTokenCount + thinking,
          thinking,
        };
      }
    }
    this.params.contents.push({ role: 'model', parts: seen.blocks });
    return { ...seen, refusal: '' };
  }

  answer(calls, result) {
    const parts = calls.map(({ id, name }) => ({
      functionResponse: { ...(id ? { id } : {}), name, response: { output: result } },
    }));
    this.params.contents.push({ role: 'user', parts });
  }
}

const ASKERS = {
  chat: ChatAsker, responses: ResponsesAsker, anthropic: AnthropicAsker, gemini: GeminiAsker,
};

async function run(job) {
  const turns = [];
  try {
    const asker = new ASKERS[job.format](job);
    while (turns.length < TURNS_MAX) {
      const turn = await asker.turn();
      turns.push(turn);
      if (turn.calls.length === 0 || job.result === undefined) break;
      asker.answer(turn.calls, job.result);
    }
    return { turns, error: null };
  } catch (error) {
    const { status = null, message } = error;
    return { turns, error: { name: error.constructor.name, status, message } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const results = await Promise.all(JSON.parse(line).map(run));
  process.stdout.write(`${JSON.stringify(results)}\n`);
}
