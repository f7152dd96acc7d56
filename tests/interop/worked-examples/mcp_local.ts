// ── 1. Connect + resolve catalog locally ────────────────────────────────
const mcp = new McpClient(stdio("./mcp-server-filesystem"));
const initImpl = await mcp.initialize(); // → { name, version, ... }
const { tools } = await mcp.listTools(); // → MCP Tool[]

// ── 2. Submit the spec ──────────────────────────────────────────────────
const create = await fetch(`${MANTYX}/api/v1/workspaces/${slug}/agent-runs`, {
method: "POST",
headers: { "Content-Type": "application/json", Authorization: `Bearer ${apiKey}` },
body: JSON.stringify({
modelId: "openai:gpt-5.5",
prompt: "Tell me what's at /etc/hosts.",
tools: [
{
kind: "mcp_local",
name: "fs",
serverInfo: initImpl,
tools, // ← verbatim from listTools()
},
],
}),
});
const { runId, streamUrl } = await create.json();

// ── 3. Open SSE and dispatch ────────────────────────────────────────────
for await (const ev of parseSSE(streamFromUrl(streamUrl, apiKey))) {
if (ev.type !== "local_tool_call") continue;
if (ev.data.kind !== "mcp_local") continue;

const result = await mcp.callTool({
name: ev.data.mcpToolName, // identical to ev.data.name
arguments: ev.data.args,
});
const text = result.content
.filter((b) => b.type === "text")
.map((b) => b.text)
.join("\n");

await fetch(`${MANTYX}/api/v1/workspaces/${slug}/agent-runs/${runId}/tool-results`, {
method: "POST",
headers: { "Content-Type": "application/json", Authorization: `Bearer ${apiKey}` },
body: JSON.stringify({ toolUseId: ev.data.toolUseId, result: text }),
});
}
