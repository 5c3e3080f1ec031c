/**
 * The project's own scripted model server: Anthropic's Messages, OpenAI's Responses and Chat Completions on loopback. It
 * answers each request with the next step of its script and remembers what it was asked.
 *
 * Like the real ones it refuses what they refuse (see refusals.ts). Requests without tools are asides, such as a program
 * that asks for a title: they are answered in a word and use up no step, unless the script is a function.
 *
 *     const model = await ModelServer.start([say("Hello")]);
 *     … ANTHROPIC_BASE_URL = model.url, OPENAI_BASE_URL = `${model.url}/v1` …
 *     model.asked[0].body; await model.stop();
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { chatEvents, wholeChat } from "./chat-wire.ts";
import { messageError, messageEvents, type Wire, wholeMessage } from "./messages-wire.ts";
import { refusalOf } from "./refusals.ts";
import { openaiError, responseEvents, wholeResponse } from "./responses-wire.ts";
import { type Answer, type Asked, type Body, type Failure, type Script, type Step, say } from "./script.ts";

const PATHS: Readonly<Record<string, Asked["api"]>> = {
  "/v1/messages": "messages",
  "/v1/responses": "responses",
  "/v1/chat/completions": "chat",
};

export class ModelServer {
  /** The requests, without the asides. */
  readonly asked: Asked[] = [];
  readonly asides: Asked[] = [];
  /** Requests whose asker has gone before the end of the answer. */
  left = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: { readonly count: number; readonly resume: () => void }[] = [];
  #script: Script;
  #step = 0;
  #ids = 0;

  static async start(script: Script = []): Promise<ModelServer> {
    const model = new ModelServer(script);
    await new Promise<void>((open) => model.#server.listen(0, "127.0.0.1", open));
    return model;
  }

  private constructor(script: Script) {
    this.#script = script;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From here on it says this. */
  play(script: Script): void {
    this.#script = script;
    this.#step = 0;
  }

  /** Resolves after this many requests. */
  async askedTimes(count: number): Promise<void> {
    if (this.asked.length >= count) return;
    await new Promise<void>((resume) => this.#waiting.push({ count, resume }));
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("close", () => {
      if (!response.writableFinished) this.left++;
    });
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const api = PATHS[pathname];
    const body = await readBody(request);
    if (body === undefined) return void json(response, 400, { error: { message: "not JSON" } });
    if (pathname === "/v1/messages/count_tokens") return void json(response, 200, { input_tokens: 100 });
    if (pathname === "/v1/models") return void json(response, 200, { object: "list", data: [] });
    if (api === undefined || request.method !== "POST")
      return void json(response, pathname === "/" ? 200 : 404, {});
    const asked = askedOf(api, request, body);
    const refused = refusalOf(asked);
    const step: Step =
      refused === undefined
        ? this.#next(asked)
        : { fails: { status: 400, type: "invalid_request_error", message: refused } };
    if ("fails" in step) return fail(response, api, step.fails);
    if (asked.streams) return this.#stream(response, asked, step);
    const whole = { messages: wholeMessage, responses: wholeResponse, chat: wholeChat }[api];
    json(response, 200, whole(step, asked.model, this.#counter));
  }

  readonly #counter = { next: (prefix: string) => `${prefix}${++this.#ids}` };

  #next(asked: Asked): Step {
    const isAside = asked.tools.length === 0 && typeof this.#script !== "function";
    (isAside ? this.asides : this.asked).push(asked);
    if (isAside) return say("ok");
    const index = this.#step++;
    for (const { count, resume } of this.#waiting) if (this.asked.length >= count) resume();
    if (typeof this.#script === "function") return this.#script(asked, index);
    return this.#script[index] ?? say("(The script has no more steps.)");
  }

  async #stream(response: ServerResponse, { api, model }: Asked, answer: Answer): Promise<void> {
    const make = { messages: messageEvents, responses: responseEvents, chat: chatEvents }[api];
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.flushHeaders();
    const { cutAfter, failAfter, eventMs, hold } = answer;
    for (const [i, event] of make(answer, model, this.#counter).entries()) {
      if (response.destroyed) return;
      if (hold?.after === i) await hold.until;
      if (cutAfter === i) return void response.destroy();
      if (failAfter?.events === i) {
        await write(response, errorEvent(api, failAfter));
        return void response.end();
      }
      if (eventMs !== undefined) await sleep(eventMs);
      await write(response, event);
    }
    response.end();
  }
}

function askedOf(api: Asked["api"], { headers }: IncomingMessage, body: Body): Asked {
  const tools = (Array.isArray(body["tools"]) ? body["tools"] : []) as Body[];
  return {
    api,
    body,
    headers,
    model: String(body["model"] ?? ""),
    streams: body["stream"] === true,
    tools: tools.map((tool) =>
      String(tool["name"] ?? (tool["function"] as Body | undefined)?.["name"] ?? ""),
    ),
  };
}

async function readBody(request: IncomingMessage): Promise<Body | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  try {
    return text === "" ? {} : (JSON.parse(text) as Body);
  } catch {
    return undefined;
  }
}

/** Resolves when it is on its way: what is cut afterwards has been sent before. */
function write(response: ServerResponse, { event, data }: Wire): Promise<void> {
  const name = event === undefined ? "" : `event: ${event}\n`;
  const text = `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
  return new Promise((sent) => response.write(text, () => sent()));
}

function errorEvent(api: Asked["api"], failure: NonNullable<Answer["failAfter"]>): Wire {
  if (api === "messages") return { event: "error", data: messageError(failure) };
  if (api === "chat") return { data: openaiError(failure) };
  const { type, message, asResponse } = failure;
  if (asResponse) {
    const response = { object: "response", status: "failed", output: [], error: { code: type, message } };
    return { event: "response.failed", data: { type: "response.failed", response } };
  }
  return { event: "error", data: { type: "error", code: type, message, param: null } };
}

function fail(response: ServerResponse, api: Asked["api"], failure: Failure): void {
  if (failure.retryAfterMs !== undefined) response.setHeader("retry-after-ms", String(failure.retryAfterMs));
  json(response, failure.status, api === "messages" ? messageError(failure) : openaiError(failure));
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
