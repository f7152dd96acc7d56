// Runs a program of worked-examples/ as it is printed in the protocol's document, and provides only
// what the document leaves undefined. Usage: node worked_examples.mjs URL WORKSPACE KEY KIND
// PEER_URL [COMMAND...]. PEER_URL stands in for https://hr.intranet.acme, and COMMAND is the MCP
// server. Prints the text of the result.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [base, workspace, key, kind, peerUrl, ...command] = process.argv.slice(2);
const INTRANET = "https://hr.intranet.acme";
const children = [];

const reach = (url, options) => fetch(String(url).replace(INTRANET, peerUrl), options);

async function* parseSSE(pending) {
  const response = await pending;
  if (!response.ok) throw new Error(`the stream answered with ${response.status}`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body) {
    text += decoder.decode(piece, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = text.slice(0, end).split("\n").find((line) => line.startsWith("data: "));
      text = text.slice(end + 2);
      if (!data) continue;
      const event = JSON.parse(data.slice("data: ".length));
      if (event.type === "result") console.log(event.data.text);
      yield event;
    }
  }
}

const streamFromUrl = (url, apiKey) =>
  fetch(url, { headers: { Authorization: `Bearer ${apiKey}`, Accept: "text/event-stream" } });

// Agents by the URL of their card; each is asked over A2A.
const a2aClients = {
  get: (url) => ({
    async send({ message }) {
      const parts = [{ kind: "text", text: message }];
      const params = { message: { kind: "message", messageId: "m1", role: "user", parts } };
      const answer = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params }),
      });
      const { result } = await answer.json();
      return { text: result.parts.map((part) => part.text).join("") };
    },
  }),
};

// The server that the document names is not of this machine: the command stands in for it.
function stdio() {
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  return child;
}

class McpClient {
  #child;
  #waiting = new Map();
  #last = 0;

  constructor(child) {
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message.result);
    });
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #ask(method, params) {
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  async initialize() {
    const clientInfo = { name: "worked-example", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const { serverInfo } = await this.#ask("initialize", params);
    this.#send({ method: "notifications/initialized" });
    return serverInfo;
  }

  listTools() {
    return this.#ask("tools/list", {});
  }

  callTool(params) {
    return this.#ask("tools/call", params);
  }
}

const provided = {
  fetch: reach, MANTYX: base, slug: workspace, apiKey: key, INTRANET_TOKEN: "intranet-token",
  parseSSE, streamFromUrl, a2aClients, McpClient, stdio,
};
const printed = readFileSync(new URL(`worked-examples/${kind}.ts`, import.meta.url), "utf8");
const AsyncFunction = (async () => {}).constructor;
// A function has no imports; the one of the document is among what is provided.
const body = printed.replace('import { fetch } from "undici";', "");
await new AsyncFunction(...Object.keys(provided), body)(...Object.values(provided));
for (const child of children) child.kill();
