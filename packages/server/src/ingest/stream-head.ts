/** The beginning of a stream: whose it is, and which session it names. What comes before that is held, and not much of it. */

import { isProblem, type Problem, problem } from "@blockyard/kernel";
import { Normalizer, type Provider, providers, recognise } from "@blockyard/providers";
import { STREAM_HEAD_BYTES, STREAM_HEAD_LINES, STREAM_SHAPE_LINES } from "./limits.ts";

export interface StreamHead {
  readonly start: Uint8Array;
  readonly chunks: readonly Uint8Array[];
  readonly rest: AsyncIterator<Uint8Array>;
}

export async function readHead(
  rest: AsyncIterator<Uint8Array>,
  provider: string | undefined,
): Promise<StreamHead> {
  const chunks: Uint8Array[] = [];
  const read = new HeadReader(provider);
  while (!read.isEnough) {
    const next = await rest.next();
    if (next.done) break;
    chunks.push(next.value);
    read.push(next.value);
  }
  return { start: read.start, chunks, rest };
}

/** Says when a beginning is enough: it names its session, or the agent speaks, and no session was named. */
export class HeadReader {
  readonly #name: string | undefined;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #lines = 0;
  isEnough = false;

  constructor(provider: string | undefined) {
    this.#name = provider;
  }

  get start(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const lines = chunk.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
    this.#lines += lines;
    if (this.#bytes >= STREAM_HEAD_BYTES || this.#lines >= STREAM_HEAD_LINES) this.isEnough = true;
    else if (lines > 0 && this.#lines >= STREAM_SHAPE_LINES) this.isEnough = this.#saysWho();
  }

  #saysWho(): boolean {
    const { start } = this;
    const provider = providerOf(this.#name, start);
    if (isProblem(provider)) return true;
    return new Normalizer(provider)
      .push(start)
      .some(
        (event) =>
          (event.type === "session" && event.sessionId !== undefined) ||
          (event.type === "block-start" && event.role === "model"),
      );
  }
}

/** The named provider, or the one that the stream's first bytes show. */
export function providerOf(name: string | undefined, start: Uint8Array): Provider | Problem {
  const text = Buffer.from(start).toString("utf8");
  const found = recognise(text);
  if (name === undefined && found?.source === "log")
    return problem(
      "invalid",
      `this is a session log of ${found.provider}, not a stream: use blockyard import`,
    );
  if (name === undefined && /^\s*\{"type":"conversation","epoch":/.test(text))
    return problem("invalid", "this is an export, not a stream: use blockyard import");
  const provider = providers.get(name ?? found?.provider ?? "");
  if (provider) return provider;
  const known = [...providers.keys()];
  const what = name === undefined ? notAStream(text) : `no provider ${name}`;
  return problem("invalid", `${what}: one of ${known.join(", ")}`, { providers: known });
}

/** How to make it a stream: usually an agent was started without the option that makes it print one. */
function notAStream(text: string): string {
  const claude = "claude -p --output-format stream-json --verbose";
  const isResult = /^\s*(\{"type":"result"|\[\{"type":"(system|user|assistant)")/.test(text);
  if (isResult)
    return `this is Claude Code's --output-format json, which has no events. Start it with: ${claude}. For another agent, name its provider`;
  const how = `Start the agent with: ${claude}, or: codex exec --json`;
  const isJson = /^\s*[[{]/.test(text);
  return isJson
    ? `the stream's format was not recognized. ${how}. For another agent, name its provider`
    : `this is plain text, not an agent's stream. ${how}. For another agent, name its provider`;
}

interface SessionName {
  /** As conversations know it: traffic of both directions is of the same sessions as a plain stream. */
  readonly provider: string;
  readonly id: string;
}

/** The session that a stream's first bytes name. */
export function sessionIn(provider: Provider, start: Uint8Array): SessionName | undefined {
  for (const event of new Normalizer(provider).push(start)) {
    if (event.type === "session" && event.sessionId !== undefined)
      return { provider: event.provider, id: event.sessionId };
  }
  return undefined;
}
