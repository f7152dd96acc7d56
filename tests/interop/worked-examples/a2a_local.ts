import { fetch } from "undici";

// ── 1. Resolve the Agent Card locally ───────────────────────────────────
const cardResp = await fetch("https://hr.intranet.acme/.well-known/agent-card.json", {
headers: { Authorization: `Bearer ${INTRANET_TOKEN}` },
});
const agentCard = await cardResp.json(); // ← whole document, passed through

// ── 2. Submit the spec ──────────────────────────────────────────────────
const create = await fetch(`${MANTYX}/api/v1/workspaces/${slug}/agent-runs`, {
method: "POST",
headers: { "Content-Type": "application/json", Authorization: `Bearer ${apiKey}` },
body: JSON.stringify({
modelId: "openai:gpt-5.5",
systemPrompt: "You can delegate HR questions to the Acme HR agent.",
prompt: "How many PTO days does Alice have left this year?",
reasoningLevel: "low",
tools: [
{ kind: "a2a_local", name: "intranet_hr_agent", agentCard },
],
}),
});
const { runId, streamUrl } = await create.json();

// ── 3. Open the SSE stream and dispatch local_tool_calls ────────────────
const stream = await fetch(streamUrl, {
headers: { Authorization: `Bearer ${apiKey}`, Accept: "text/event-stream" },
});

for await (const ev of parseSSE(stream)) {
if (ev.type !== "local_tool_call") continue;
if (ev.data.kind !== "a2a_local") continue;

const peer = a2aClients.get(ev.data.agentCard.url); // ← dispatch by URL
const reply = await peer.send({ message: ev.data.args.message });

await fetch(`${MANTYX}/api/v1/workspaces/${slug}/agent-runs/${runId}/tool-results`, {
method: "POST",
headers: { "Content-Type": "application/json", Authorization: `Bearer ${apiKey}` },
body: JSON.stringify({ toolUseId: ev.data.toolUseId, result: reply.text }),
});
}
