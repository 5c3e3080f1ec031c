/**
 * A stream of one conversation's `llm_*` events, over HTTP as server-sent events, resumed from the last cursor when the connection
 * is lost or silent, and combined to messages. For programs that do not need blocks.
 *
 * Invariant: interruptions do not change the resulting messages.
 */

import { isProblem, type LlmEvent, type LlmMessage, type Problem, reduceLlm } from "@blockyard/kernel";
import { STREAM_FIRST_WAIT_MS, STREAM_LONGEST_WAIT_MS, STREAM_SILENCE_MS } from "./limits.ts";

export interface LlmOptions {
  /** The first message to be told, finished or not; without it, those that run now and all that follow. */
  readonly from?: string;
}

export interface LlmStream {
  readonly messages: readonly LlmMessage[];
  /** Resolves when what was there already has been told: from then on nothing is missed. Never, where the server refuses. */
  readonly opened: Promise<void>;
  /** Resolves when it was stopped, or with why the server does not tell. */
  readonly ended: Promise<Problem | undefined>;
  stop(): void;
}

interface Place {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly conversation: string;
}

export function llmStream(
  place: Place,
  changed: (messages: readonly LlmMessage[], event: LlmEvent) => void,
  { from }: LlmOptions = {},
): LlmStream {
  const over = new AbortController();
  const reader = new Reader(place, from, changed, over.signal);
  return {
    get messages() {
      return reader.messages;
    },
    opened: reader.opened.promise,
    ended: reader.run(),
    stop: () => over.abort(),
  };
}

class Reader {
  messages: readonly LlmMessage[] = [];
  readonly opened = Promise.withResolvers<void>();
  readonly #place: Place;
  readonly #from: string | undefined;
  readonly #changed: (messages: readonly LlmMessage[], event: LlmEvent) => void;
  readonly #over: AbortSignal;
  #cursor: string | undefined;
  #tries = 0;

  constructor(
    place: Place,
    from: string | undefined,
    changed: (messages: readonly LlmMessage[], event: LlmEvent) => void,
    over: AbortSignal,
  ) {
    this.#place = place;
    this.#from = from;
    this.#changed = changed;
    this.#over = over;
  }

  async run(): Promise<Problem | undefined> {
    while (!this.#over.aborted) {
      const refused = await this.#read().catch(() => undefined); // cut: it comes back
      if (refused) return refused;
      this.#tries++;
      const longest = Math.min(STREAM_LONGEST_WAIT_MS, STREAM_FIRST_WAIT_MS * 2 ** this.#tries);
      await pause(longest * (0.5 + Math.random() / 2), this.#over);
    }
    return undefined;
  }

  /** One connection, until it ends. The problem with which the server refuses, where trying again would not help. */
  async #read(): Promise<Problem | undefined> {
    const { url, headers, conversation } = this.#place;
    const query = this.#from === undefined ? "" : `?from=${encodeURIComponent(this.#from)}`;
    const silence = new Silence(this.#over);
    try {
      const response = await fetch(
        `${url}/v1/conversations/${encodeURIComponent(conversation)}/events${query}`,
        {
          headers: { ...headers, ...(this.#cursor === undefined ? {} : { "last-event-id": this.#cursor }) },
          credentials: "same-origin",
          signal: silence.signal,
        },
      );
      if (response.status >= 400 && response.status < 500 && response.status !== 429) {
        const said = (await response.json()) as Problem;
        return isProblem(said) ? said : undefined;
      }
      if (!response.ok || !response.body) return undefined;
      await this.#take(response.body, silence);
    } finally {
      silence.end();
    }
    return undefined;
  }

  async #take(body: ReadableStream<Uint8Array>, silence: Silence): Promise<void> {
    const decoder = new TextDecoder();
    const reader = body.getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      silence.heard();
      const parts = `${text}${decoder.decode(value, { stream: true })}`.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) this.#onPart(part);
    }
  }

  #onPart(part: string): void {
    this.#tries = 0;
    const data = /^data: (.*)$/m.exec(part)?.[1];
    const event = data === undefined ? undefined : (JSON.parse(data) as LlmEvent);
    if (event && "messageId" in event) {
      this.messages = reduceLlm(this.messages, event);
      this.#changed(this.messages, event);
    }
    this.#cursor = /^id: (.*)$/m.exec(part)?.[1] ?? this.#cursor;
    if (this.#cursor !== undefined) this.opened.resolve();
  }
}

/** Ends a connection on which nothing has come for too long, or that nobody wants any more. */
class Silence {
  readonly #controller = new AbortController();
  readonly #over: AbortSignal;
  #timer: ReturnType<typeof setTimeout>;

  constructor(over: AbortSignal) {
    this.#over = over;
    this.#timer = setTimeout(this.#cut, STREAM_SILENCE_MS);
    over.addEventListener("abort", this.#cut);
    if (over.aborted) this.#cut();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#cut, STREAM_SILENCE_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#over.removeEventListener("abort", this.#cut);
    this.#controller.abort();
  }

  readonly #cut = (): void => this.#controller.abort();
}

function pause(ms: number, over: AbortSignal): Promise<void> {
  return new Promise((resume) => {
    const timer = setTimeout(resume, ms);
    over.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resume();
      },
      { once: true },
    );
  });
}
