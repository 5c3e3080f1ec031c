/**
 * A stream of every kind that the server keeps open, side by side: a write reaches each of them, however long they were
 * silent. Used with a virtual clock (a day) and with a real one (ten minutes).
 */
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";

export interface HeldServer {
  readonly url: string;
  readonly token: string;
  /** For MCP, which is not for the owner. */
  readonly agentToken: string;
  call(tool: string, input: object): Promise<unknown>;
}

interface Stream {
  readonly name: string;
  /** Received and not examined yet. */
  text: string;
  /** Why it is over; undefined while it is open. */
  ended: string | undefined;
  news: () => void;
  /** What of an append shows on it. */
  readonly shows: (tick: string) => string;
  close(): void;
}

const EXPORTED_BLOCKS = 6;
const EXPORTED_CHARS = 4 * 1024 * 1024;

export class Held {
  readonly streams: Stream[] = [];
  readonly #server: HeldServer;
  #sender: ClientRequest | undefined;
  #export: { readonly response: IncomingMessage; readonly stream: Stream } | undefined;
  #pings = 0;

  private constructor(server: HeldServer) {
    this.#server = server;
  }

  static async open(server: HeldServer): Promise<Held> {
    const held = new Held(server);
    const { conversation } = (await server.call("conversation.create", { title: "held" })) as {
      conversation: string;
    };
    await held.#ingest(conversation);
    const [block = ""] = await held.#blocks(conversation);
    await held.#http("llm_* events", `/v1/conversations/${conversation}/events`, (tick) => tick);
    await held.#http("changes", "/v1/changes", () => block);
    await held.#subscribe(block);
    await held.#socket("llm_* events on a socket", `/v1/conversations/${conversation}/events`);
    await held.#socket("feed", "/v1/feed", [
      { type: "hello", protocol: 1 },
      { type: "subscribe", sub: 1, conversation },
    ]);
    await held.#mcp(block);
    await held.#slowExport();
    return held;
  }

  /** Pings of the server that the sockets have answered. */
  get pings(): number {
    return this.#pings;
  }

  /** Writes a word on the one stream that is sent, and waits until it has come on all the others. */
  async deliver(tick: string): Promise<void> {
    this.#sender?.write(
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: `${tick}\n` } }),
    );
    await Promise.all(this.streams.map((stream) => arrives(stream, stream.shows(tick))));
  }

  /** What is still open has to be closed by us; the export comes to its end. */
  async close(): Promise<readonly string[]> {
    const failures = this.streams.flatMap(({ name, ended }) =>
      ended === undefined ? [] : [`${name}: ${ended}`],
    );
    if (this.#export) {
      const { response, stream } = this.#export;
      response.resume();
      await new Promise<void>((over) => {
        stream.news = () => stream.ended === undefined || over();
        stream.news();
      });
      if (stream.ended !== "the end") failures.push(`slow export: ${stream.ended}`);
      if (!stream.text.includes('"type":"end"')) failures.push("slow export: its last line is missing");
    }
    for (const { close } of this.streams) close();
    this.#sender?.end();
    return failures;
  }

  /** The stream that is sent: a model that says a word now and then. */
  async #ingest(conversation: string): Promise<void> {
    const path = `/v1/ingest?provider=anthropic&conversation=${conversation}`;
    const sender = request(`${this.#server.url}${path}`, { method: "POST", headers: this.#headers });
    sender.on("error", () => undefined);
    sender.write(event("message_start", { message: { id: "m", model: "held", content: [] } }));
    sender.write(event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }));
    sender.write(event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "begun\n" } }));
    this.#sender = sender;
    while ((await this.#blocks(conversation)).length === 0) await new Promise(setImmediate);
  }

  async #blocks(conversation: string): Promise<readonly string[]> {
    const listed = (await this.#server.call("block.list", { conversation })) as {
      readonly blocks: readonly { readonly block_id: string }[];
    };
    return listed.blocks.map(({ block_id }) => block_id);
  }

  async #http(name: string, path: string, shows: Stream["shows"], body?: string): Promise<void> {
    const asked = request(`${this.#server.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: this.#headers,
      agent: false,
    });
    asked.on("error", () => undefined);
    const response = await new Promise<IncomingMessage>((answered) => {
      asked.on("response", answered);
      asked.end(body);
    });
    const stream = this.#stream(name, shows, () => asked.destroy());
    read(response, stream);
  }

  #subscribe(block: string): Promise<void> {
    const body = JSON.stringify({ block_ids: [block] });
    return this.#http("block.subscribe", "/v1/tools/block.subscribe", (tick) => tick, body);
  }

  async #socket(name: string, path: string, frames: readonly object[] = []): Promise<void> {
    const socket = new WebSocket(`${this.#server.url.replace(/^http/, "ws")}${path}`, {
      headers: this.#headers,
    });
    const stream = this.#stream(
      name,
      (tick) => tick,
      () => socket.terminate(),
    );
    socket.on("ping", () => this.#pings++);
    socket.on("message", (data: Buffer) => grow(stream, data.toString()));
    socket.on("close", (code) => end(stream, `closed with ${code}`));
    socket.on("error", (error) => end(stream, error.message));
    await new Promise((open) => socket.once("open", open));
    for (const frame of frames) socket.send(JSON.stringify(frame));
  }

  async #mcp(block: string): Promise<void> {
    const client = new Client({ name: "held", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const place = new URL(`${this.#server.url}/mcp`);
    const headers = { authorization: `Bearer ${this.#server.agentToken}` };
    await client.connect(new StreamableHTTPClientTransport(place, { requestInit: { headers } }));
    const uri = `blockyard://block/${block}`;
    const stream = this.#stream(
      "MCP subscription",
      () => uri,
      () => void client.close(),
    );
    client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
      grow(stream, params.uri),
    );
    client.onclose = () => end(stream, "closed");
    client.onerror = (error) => end(stream, error.message);
    await client.listen({ resourceSubscriptions: [uri] });
  }

  /** An export that nobody reads on, larger than what fits between the two ends. */
  async #slowExport(): Promise<void> {
    const { conversation } = (await this.#server.call("conversation.create", { title: "large" })) as {
      conversation: string;
    };
    const content = `${"x".repeat(79)}\n`.repeat(EXPORTED_CHARS / 80);
    for (let i = 0; i < EXPORTED_BLOCKS; i++)
      await this.#server.call("block.create", {
        conversation,
        kind: "text",
        role: "user",
        content,
        status: "done",
      });
    const path = `/v1/conversations/${conversation}/export?format=jsonl`;
    const asked = request(`${this.#server.url}${path}`, { headers: this.#headers, agent: false });
    asked.on("error", () => undefined);
    const response = await new Promise<IncomingMessage>((answered) => {
      asked.on("response", answered);
      asked.end();
    });
    response.pause();
    const stream: Stream = {
      name: "slow export",
      text: "",
      ended: undefined,
      news: () => undefined,
      shows: () => "",
      close: () => asked.destroy(),
    };
    response.on("data", (bytes: Buffer) => {
      stream.text = `${stream.text}${bytes.toString("latin1")}`.slice(-1_000);
    });
    response.on("end", () => end(stream, "the end"));
    response.on("error", (error) => end(stream, error.message));
    response.pause(); // a listener for data has made it flow
    this.#export = { response, stream };
  }

  get #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#server.token}` };
  }

  #stream(name: string, shows: Stream["shows"], close: () => void): Stream {
    const stream: Stream = { name, text: "", ended: undefined, news: () => undefined, shows, close };
    this.streams.push(stream);
    return stream;
  }
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function read(response: IncomingMessage, stream: Stream): void {
  response.on("data", (bytes: Buffer) => grow(stream, bytes.toString()));
  response.on("end", () => end(stream, "ended"));
  response.on("error", (error) => end(stream, error.message));
}

function grow(stream: Stream, text: string): void {
  stream.text += text;
  stream.news();
}

function end(stream: Stream, why: string): void {
  stream.ended ??= why;
  stream.news();
}

/** Until the words have arrived, or never will. Earlier output is dropped. */
function arrives(stream: Stream, words: string): Promise<void> {
  return new Promise((come, failed) => {
    stream.news = () => {
      const at = stream.text.indexOf(words);
      if (at !== -1) {
        stream.text = "";
        come();
      } else if (stream.ended !== undefined) failed(new Error(`${stream.name}: ${stream.ended}`));
    };
    stream.news();
  });
}
