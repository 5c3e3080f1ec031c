/**
 * The flood itself, in a process of its own: viewers and agents that ask for all that they may and more, over every transport,
 * and wait for nothing. Told what to flood by a message; says what came of it when it is over.
 */
import { WebSocket } from "ws";

export interface FloodOrder {
  readonly url: string;
  readonly viewers: readonly string[];
  readonly agents: readonly string[];
  readonly conversation: string;
  /** A block of a megabyte. */
  readonly block: string;
  readonly seconds: number;
}

export interface FloodOutcome {
  /** Answers by what they were: a status over HTTP, `answer` or a problem's code on sockets. */
  readonly answers: Readonly<Record<string, number>>;
}

const SOCKETS = 10;
const READS_AT_ONCE = 50;
const LOOPS = 4;

let isOver = false;
const answers: Record<string, number> = {};
const count = (what: string | number) => {
  answers[what] = (answers[what] ?? 0) + 1;
};

process.on("message", async (order: FloodOrder) => {
  const open: WebSocket[] = [];
  for (const token of [...order.viewers, ...order.agents]) {
    for (let i = 0; i < SOCKETS; i++) open.push(readOverSocket(order, token));
    for (let i = 0; i < LOOPS; i++) {
      void loop(() => post(order, token, "/v1/tools/block.read", { block_id: order.block }));
      void loop(() => post(order, token, "/v1/tools/kernel.search", { query: "wor.*d", kinds: "all" }));
      void loop(() => post(order, token, "/mcp", mcpCall("block_read", { block_id: order.block })));
      void loop(() => get(order, token, `/v1/conversations/${order.conversation}/export?format=html`));
    }
  }
  const { conversation } = order;
  for (const token of order.agents) {
    const made = { conversation, kind: "text", role: "model", content: "x".repeat(10_000) };
    for (let i = 0; i < LOOPS; i++) {
      void loop(() => post(order, token, "/v1/tools/block.create", made));
      void loop(() => post(order, token, "/v1/ingest?provider=claude", `${"x".repeat(200)}\n`.repeat(500)));
    }
  }
  setTimeout(() => {
    isOver = true;
    for (const socket of open) socket.terminate();
    process.send?.({ answers } satisfies FloodOutcome, () => process.exit(0));
  }, order.seconds * 1_000);
});

async function loop(ask: () => Promise<unknown>): Promise<void> {
  while (!isOver) await ask().catch(() => count("cut"));
}

function mcpCall(name: string, input: unknown): unknown {
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } };
}

async function post({ url }: FloodOrder, token: string, path: string, body: unknown): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const sent = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: sent });
  await response.arrayBuffer();
  count(response.status);
}

async function get({ url }: FloodOrder, token: string, path: string): Promise<void> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  count(response.status);
}

/** Fifty reads of a megabyte, and the next as soon as one is answered. */
function readOverSocket({ url, block }: FloodOrder, token: string): WebSocket {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/feed`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  let id = 0;
  const read = () =>
    socket.send(JSON.stringify({ type: "call", id: ++id, tool: "block.read", input: { block_id: block } }));
  socket.on("open", () => socket.send(JSON.stringify({ type: "hello", protocol: 1 })));
  socket.on("message", (data: Buffer) => {
    if (data.length < 300 && data.includes('"hello"')) {
      for (let i = 0; i < READS_AT_ONCE; i++) read();
      return;
    }
    count(data.length > 1_000 ? "answer" : (/"problem":"(\w+)"/.exec(data.toString())?.[1] ?? "other"));
    if (!isOver) read();
  });
  socket.on("error", () => count("cut"));
  return socket;
}
