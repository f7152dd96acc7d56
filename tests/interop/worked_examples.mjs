// A client in the manner of the protocol's worked examples: creates a run, opens the stream at
// `streamUrl` as it came, and answers each call by its kind. Usage: node worked_examples.mjs URL
// WORKSPACE KEY KIND. Prints the text of the result.

const [base, workspace, key, kind] = process.argv.slice(2);
const api = `${base}/api/v1/workspaces/${workspace}`;
const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };

const CARD = {
  name: "Acme HR",
  description: "Knows about holidays.",
  url: "https://hr.intranet.acme/a2a",
  version: "1.0.0",
  skills: [{ id: "pto", name: "PTO", description: "Days that are left." }],
};
const SERVER_INFO = { name: "filesystem", version: "0.6.2" };
const TOOLS = [
  {
    name: "fs_read",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    annotations: { readOnlyHint: true },
  },
];

// The agents that this process reaches, by the URL of their card.
const peers = new Map([[CARD.url, { send: ({ message }) => `You asked: ${message}` }]]);
const mcp = {
  callTool: ({ name, arguments: args }) => ({
    content: [
      { type: "text", text: `${name} ${args.path}` },
      { type: "text", text: "127.0.0.1 localhost" },
    ],
  }),
};

const SPECS = {
  a2a_local: {
    systemPrompt: "You can delegate HR questions to the Acme HR agent.",
    prompt: "How many PTO days does Alice have left this year?",
    reasoningLevel: "low",
    tools: [{ kind: "a2a_local", name: "intranet_hr_agent", agentCard: CARD }],
  },
  mcp_local: {
    prompt: "Tell me what is at /etc/hosts.",
    tools: [{ kind: "mcp_local", name: "fs", serverInfo: SERVER_INFO, tools: TOOLS }],
  },
};

const ANSWERS = {
  a2a_local: (call) => peers.get(call.agentCard.url).send({ message: call.args.message }),
  mcp_local: (call) =>
    mcp
      .callTool({ name: call.mcpToolName, arguments: call.args })
      .content.filter((block) => block.type === "text")
      .map((block) => block.text)
      .join("\n"),
};

async function* readEvents(url) {
  const response = await fetch(url, { headers: { ...headers, Accept: "text/event-stream" } });
  if (!response.ok) throw new Error(`the stream answered with ${response.status}`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body) {
    text += decoder.decode(piece, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = text.slice(0, end).split("\n").find((line) => line.startsWith("data: "));
      text = text.slice(end + 2);
      if (data) yield JSON.parse(data.slice("data: ".length));
    }
  }
}

const created = await fetch(`${api}/agent-runs`, {
  method: "POST",
  headers,
  body: JSON.stringify(SPECS[kind]),
});
const { runId, streamUrl } = await created.json();
for await (const event of readEvents(streamUrl)) {
  if (event.type === "result") console.log(event.data.text);
  if (event.type !== "local_tool_call" || event.data.kind !== kind) continue;
  await fetch(`${api}/agent-runs/${runId}/tool-results`, {
    method: "POST",
    headers,
    body: JSON.stringify({ toolUseId: event.data.toolUseId, result: ANSWERS[kind](event.data) }),
  });
}
