// The least that an agent is in Node: asks a model over HTTP, reads its stream, makes its calls,
// and asks again, without a framework and without keeping anything. What the C++ SDK is measured
// by.
//
// node node_loop.mjs URL MODEL RUNS IN_FLIGHT [tool]: prints the CPU of the process for a run.

const [url, model, runs, inFlight, tool] = process.argv.slice(2);
const TOOLS = tool && [{
  type: "function",
  function: {
    name: "fetch",
    description: "Fetches a page.",
    parameters: { type: "object", properties: { page: { type: "integer" } } },
  },
}];

async function* events(body) {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const bytes of body) {
    pending += decoder.decode(bytes, { stream: true });
    let end;
    while ((end = pending.indexOf("\n\n")) >= 0) {
      const line = pending.slice(0, end);
      pending = pending.slice(end + 2);
      if (line.startsWith("data: ") && line !== "data: [DONE]") yield JSON.parse(line.slice(6));
    }
  }
}

async function ask(messages) {
  const answer = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer k" },
    body: JSON.stringify({ model, messages, stream: true, tools: TOOLS || undefined }),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
  let text = "";
  const calls = [];
  for await (const event of events(answer.body)) {
    const delta = event.choices?.[0]?.delta;
    if (delta?.content) text += delta.content;
    for (const part of delta?.tool_calls || []) {
      const call = calls[part.index] ||= { id: "", type: "function",
                                           function: { name: "", arguments: "" } };
      call.id ||= part.id;
      call.function.name += part.function?.name || "";
      call.function.arguments += part.function?.arguments || "";
    }
  }
  return { text, calls };
}

async function run() {
  const messages = [{ role: "user", content: "Say something." }];
  for (;;) {
    const { text, calls } = await ask(messages);
    if (calls.length === 0) return text;
    messages.push({ role: "assistant", content: text || null, tool_calls: calls });
    for (const call of calls) {
      JSON.parse(call.function.arguments || "{}");
      messages.push({ role: "tool", tool_call_id: call.id, content: "Here you are." });
    }
  }
}

async function play(count) {
  let begun = 0;
  const worker = async () => {
    while (begun++ < count) if (!(await run())) throw new Error("the model said nothing");
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, worker));
}

await play(Math.ceil(Number(runs) / 4));
const before = process.cpuUsage();
await play(Number(runs));
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuMs: (user + system) / 1000 / Number(runs) }));
process.exit(0);
