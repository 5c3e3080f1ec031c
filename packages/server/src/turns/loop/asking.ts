/**
 * Asking a model: one answer to one exchange, through retries. The provider's events go through its adapter as they come.
 *
 * What may get better by itself (too many requests, an overloaded or failing server, a cut connection) is tried again after
 * a pause that grows, or that the server asks for, and each time a notice says so. What a cut answer had said is taken out
 * of the context, not of the conversation.
 */

import type { BlockEvent, BlockKey, Env, Json, Reason } from "@blockyard/kernel";
import type { Adapter } from "@blockyard/providers";
import { type Api, type ApiRequest, type Failure, failureOf } from "./api.ts";
import { FIRST_PAUSE_MS, MOST_PAUSE_MS, REQUEST_TRIES } from "./limits.ts";
import type { Writing } from "./writing.ts";

/** A call that waits for its result. */
export interface ToolCall {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input: Json;
}

export interface Answered {
  readonly end: "whole" | "failed" | "stopped";
  /** Calls whose input is whole. */
  readonly calls: readonly ToolCall[];
  readonly stopReason?: string | undefined;
  readonly isTruncated: boolean;
  readonly isRefused: boolean;
  /** What is to be told of a refusal; undefined where the model's own words tell it. */
  readonly refusal?: string | undefined;
  readonly failure?: Failure | undefined;
}

interface AskingOptions {
  readonly api: Api;
  readonly writing: Writing;
  readonly env: Env;
  readonly signal: AbortSignal;
  /** Why it was stopped, once it was. */
  readonly stopping: () => Reason;
  /** A model that says nothing for this long is asked again. */
  readonly silentMs: number;
}

export class Asking {
  readonly #options: AskingOptions;
  readonly #adapter: Adapter;
  #state: unknown;

  constructor(options: AskingOptions) {
    this.#options = options;
    this.#adapter = options.api.adapter();
    this.#state = this.#adapter.start(options.writing.run);
  }

  async answer(request: ApiRequest): Promise<Answered> {
    for (let attempt = 1; ; attempt++) {
      const { answered, keys } = await this.#attempt(request);
      const { failure } = answered;
      if (answered.end !== "failed" || failure === undefined) return answered;
      if (!failure.isRetryable || attempt >= REQUEST_TRIES) {
        await this.#report(failure, attempt);
        return answered;
      }
      await this.#retract(keys);
      await this.#pause(failure, attempt);
      if (this.#options.signal.aborted) return { ...answered, end: "stopped" };
    }
  }

  async #attempt(
    request: ApiRequest,
  ): Promise<{ readonly answered: Answered; readonly keys: readonly BlockKey[] }> {
    const { api, writing, signal } = this.#options;
    const hearing = new Hearing();
    const silence = this.#watchSilence();
    let failure: Failure | undefined;
    let isHeard = false;
    try {
      for await (const event of api.ask(request, AbortSignal.any([signal, silence.signal]))) {
        silence.heard();
        isHeard = true;
        await writing.keep(event);
        await writing.push(hearing.take(this.#step(event)));
      }
    } catch (error) {
      failure = failureOf(error);
    } finally {
      silence.end();
    }
    const isStopped = signal.aborted;
    const rest = hearing.take(this.#adapter.end(this.#state));
    await writing.push(isStopped ? rest.map((event) => this.#because(event)) : rest);
    if (silence.signal.aborted) failure = silence.failure;
    const end = isStopped ? "stopped" : failure !== undefined || !hearing.isWhole ? "failed" : "whole";
    if (end !== "whole")
      await this.#leave(hearing.calls, isStopped ? this.#options.stopping() : "interrupted");
    const answered: Answered = {
      end,
      calls: end === "whole" ? hearing.calls : [],
      stopReason: hearing.stopReason,
      isTruncated: hearing.isTruncated,
      isRefused: hearing.isRefused,
      refusal: hearing.refusal,
      failure: end === "failed" ? (failure ?? (isHeard ? hearing.failure : NOTHING)) : undefined,
    };
    return { answered, keys: hearing.keys };
  }

  #step(event: Json): readonly BlockEvent[] {
    const [state, events] = this.#adapter.step(this.#state, event);
    this.#state = state;
    return events;
  }

  /** What an adapter calls interrupted was stopped by somebody. */
  #because(event: BlockEvent): BlockEvent {
    if (event.type !== "block-end" || event.reason !== "interrupted") return event;
    return { ...event, reason: this.#options.stopping() };
  }

  /** Calls that nobody will run. */
  async #leave(calls: readonly ToolCall[], reason: Reason): Promise<void> {
    const metadata = { success: false };
    await this.#options.writing.push(
      calls.map(({ key }) => ({ type: "block-end", key, status: "error", reason, metadata })),
    );
  }

  async #retract(keys: readonly BlockKey[]): Promise<void> {
    if (keys.length === 0) return;
    const { writing } = this.#options;
    await writing.drain();
    await writing.prune(keys);
  }

  async #pause(failure: Failure, attempt: number): Promise<void> {
    const { writing, env, signal } = this.#options;
    const grown = FIRST_PAUSE_MS * 2 ** (attempt - 1);
    const jitter = grown * (env.random() / 2 ** 32) * 0.25;
    const pauseMs = Math.min(MOST_PAUSE_MS, failure.retryAfterMs ?? grown + jitter);
    const seconds = (pauseMs / 1_000).toFixed(pauseMs < 10_000 ? 1 : 0);
    const text = `${failure.message}\nRetrying in ${seconds} s (attempt ${attempt + 1} of ${REQUEST_TRIES})`;
    const { status, code } = failure;
    const extra = {
      attempt,
      pauseMs: Math.round(pauseMs),
      ...(status === undefined ? {} : { status }),
      ...(code === undefined ? {} : { code }),
    };
    await writing.notice("retry", { text, metadata: { extra } });
    await new Promise<void>((resume) => {
      const cancel = env.after(pauseMs, () => {
        signal.removeEventListener("abort", stop);
        resume();
      });
      const stop = () => {
        cancel();
        resume();
      };
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
  }

  async #report(failure: Failure, attempts: number): Promise<void> {
    const { message, code, status, isRetryable } = failure;
    const tried = attempts === 1 ? "" : `\nGave up after ${attempts} attempts.`;
    const named = code ?? (status === undefined ? undefined : String(status));
    const metadata = {
      retryable: isRetryable,
      ...(named === undefined ? {} : { code: named }),
      ...(status === undefined ? {} : { details: { status } }),
    };
    await this.#options.writing.error({ text: message + tried, metadata });
  }

  #watchSilence() {
    const { env, silentMs } = this.#options;
    const controller = new AbortController();
    const arm = () => env.after(silentMs, () => controller.abort());
    let cancel = arm();
    const message = `The model has sent nothing for ${Math.round(silentMs / 1_000)} s`;
    return {
      signal: controller.signal,
      failure: { message, code: "silent", isRetryable: true } satisfies Failure,
      heard() {
        cancel();
        cancel = arm();
      },
      end: () => cancel(),
    };
  }
}

const CUT: Failure = {
  message: "The answer ended early",
  code: "cut",
  isRetryable: true,
};

/** A page to log in, say, or an address that is not quite the API's. */
const NOTHING: Failure = {
  message: "The provider's response is not readable. Check that the base URL is its API",
  code: "cut",
  isRetryable: true,
};

/** OpenAI's stop reason for an answer that its filter would not let through, or not to its end. */
const FILTERED = "content_filter";

/** What is heard of one answer. */
class Hearing {
  /** Blocks that it began. */
  readonly keys: BlockKey[] = [];
  stopReason: string | undefined;
  isTruncated = false;
  isRefused = false;
  refusal: string | undefined = "The model declined to answer this.";
  isWhole = false;
  /** The input is not there until it is whole. */
  readonly #calls = new Map<BlockKey, Omit<ToolCall, "input"> & { readonly input?: Json }>();
  /** Errors are told when it is known whether the answer is asked for again. */
  readonly #errors = new Set<BlockKey>();
  #failure: Failure | undefined;

  get calls(): readonly ToolCall[] {
    return [...this.#calls.values()].flatMap(({ input, ...call }) =>
      input === undefined ? [] : [{ ...call, input }],
    );
  }

  get failure(): Failure {
    return this.#failure ?? CUT;
  }

  /** The events that are to be written now. */
  take(events: readonly BlockEvent[]): readonly BlockEvent[] {
    return events.filter((event) => this.#isKept(event)).map((event) => this.#unstarted(event));
  }

  /** What the model asks for has not started: whoever runs it says when it does. */
  #unstarted(event: BlockEvent): BlockEvent {
    if (event.type !== "block-meta" || event.metadata.stage !== "running" || !this.#calls.has(event.key))
      return event;
    const { stage: _, ...metadata } = event.metadata;
    return { ...event, metadata };
  }

  #isKept(event: BlockEvent): boolean {
    if (event.type === "turn-end") {
      this.stopReason = event.stopReason;
      this.isTruncated = event.reason === "truncated";
      const isFiltered = event.stopReason === FILTERED;
      this.isRefused ||= event.stopReason === "refusal" || isFiltered;
      if (isFiltered && this.refusal !== undefined)
        this.refusal = "The provider's content filter ended this answer.";
      const details = event.native?.["stop_details"] as { readonly explanation?: Json } | undefined;
      if (typeof details?.explanation === "string") this.refusal = details.explanation;
      this.isWhole = event.status === "done";
    } else if (event.type === "block-start") {
      return this.#begin(event);
    } else if (event.type === "block-meta") {
      const call = this.#calls.get(event.key);
      const { input } = event.metadata;
      if (call && input !== undefined) this.#calls.set(event.key, { ...call, input });
    } else if (event.type === "block-end") {
      this.#calls.delete(event.key);
      return !this.#errors.has(event.key);
    }
    return true;
  }

  #begin({ key, kind, metadata, text }: BlockEvent & { type: "block-start" }): boolean {
    if (kind === "error" && metadata.toolUseId === undefined) {
      this.#errors.add(key);
      const code = metadata.code === undefined ? undefined : String(metadata.code);
      this.#failure = { message: text ?? "", code, isRetryable: metadata.retryable === true };
      return false;
    }
    this.keys.push(key);
    if (metadata.notice === "refusal") {
      this.isRefused = true;
      this.refusal = undefined; // it is a block of its own already
    }
    if (kind === "tool_call" && metadata.remote !== true) {
      const toolUseId = String(metadata.toolUseId);
      const toolName = String(metadata.toolName);
      this.#calls.set(key, { key, toolUseId, toolName });
    }
    return true;
  }
}
