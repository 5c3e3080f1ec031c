/**
 * The loop: ask the model, run the tools that it calls, give it their results, until it calls none. Every request is
 * built anew from the conversation as it stands, so what people edit while the loop runs is what the model reads next.
 *
 * Invariant: it ends its turn exactly once, whatever happens, and by then no call, command or block of it is open.
 */

import {
  type Ask,
  type AskSubject,
  type AskSuggestion,
  type BlockId,
  isProblem,
  type Kernel,
  type Problem,
  patiently,
  type Reason,
} from "@blockyard/kernel";
import { PROVIDER_NAMES } from "../../access/agent-names.ts";
import { filesIn } from "../../files/named-files.ts";
import type { Secrets } from "../../ingest/secrets.ts";
import type { Answer, Run, RunEnd, TurnStart } from "../run.ts";
import type { Api } from "./api.ts";
import { type Answered, Asking } from "./asking.ts";
import { Calls, type ToolContext } from "./calls.ts";
import { type Exchange, validate } from "./exchange.ts";
import { LOOP_ROUNDS, MODEL_SILENT_MS } from "./limits.ts";
import { modelContext } from "./model-context.ts";
import type { LoopTool } from "./tools/tool.ts";
import { type TurnOutcome, Writing } from "./writing.ts";

interface LoopOptions {
  readonly kernel: Kernel;
  readonly api: Api;
  readonly tools: readonly LoopTool[];
  readonly context: ToolContext;
  readonly maxTokens: number;
  readonly silentMs?: number | undefined;
  readonly onFault: (what: string, error: unknown) => void;
  readonly suggest?: ((ask: Ask) => readonly AskSuggestion[]) | undefined;
  readonly denied?: ((subject: AskSubject) => string | undefined) | undefined;
  /** Takes secrets out of what is stored, and so of what the model is sent later. */
  readonly secrets?: Secrets | undefined;
}

export class LoopRun implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #options: LoopOptions;
  readonly #start: TurnStart;
  readonly #abort = new AbortController();
  readonly #writing: Writing;
  readonly #calls: Calls;
  #stopping: Reason | undefined;

  constructor(options: LoopOptions, start: TurnStart) {
    this.#options = options;
    this.#start = start;
    this.#writing = new Writing(options.kernel, start, options.secrets);
    this.#calls = new Calls({
      env: options.kernel.env,
      writing: this.#writing,
      tools: new Map(options.tools.map((tool) => [tool.name, tool])),
      allow: start.request.allow ?? [],
      context: options.context,
      filesIn: (input) => filesIn(options.kernel, input),
      signal: this.#abort.signal,
      stopping: () => this.#reason,
      onFault: options.onFault,
      suggest: options.suggest,
      denied: options.denied,
    });
    this.ended = this.#work();
  }

  stop(reason: Reason): void {
    this.#stopping ??= reason;
    this.#abort.abort();
  }

  kill(reason: Reason): void {
    this.stop(reason);
  }

  asks(ask: string): BlockId | undefined {
    return this.#calls.asks(ask);
  }

  answer(answer: Answer): void {
    this.#calls.answer(answer);
  }

  get #reason(): Reason {
    return this.#stopping ?? "interrupted";
  }

  async #work(): Promise<RunEnd> {
    let outcome: TurnOutcome;
    try {
      const refused = await this.#writing.open();
      outcome = refused ? await this.#refused(refused) : await this.#rounds();
    } catch (error) {
      // The boundary of one turn: a bug in it, or a store that fails, ends the turn and nothing else.
      this.#options.onFault("loop", error);
      this.#abort.abort();
      outcome = { status: "error", reason: "failed", error: "Internal error in the loop" };
    }
    const lost = await this.#writing.end(outcome).catch((error) => {
      this.#options.onFault("loop", error);
      return undefined;
    });
    const error = lost?.message ?? outcome.error ?? "The loop ended without a reason";
    return { error, reason: this.#stopping, isExpected: true };
  }

  async #rounds(): Promise<TurnOutcome> {
    const { api, kernel, tools, maxTokens, silentMs = MODEL_SILENT_MS } = this.#options;
    const { signal } = this.#abort;
    const stopping = () => this.#reason;
    const asking = new Asking({ api, writing: this.#writing, env: kernel.env, signal, stopping, silentMs });
    const model = this.#start.request.model ?? api.defaultModel;
    for (let round = 1; round <= LOOP_ROUNDS; round++) {
      const exchange = await patiently(kernel.env, () => this.#exchange());
      if (isProblem(exchange)) return this.#refused(exchange);
      if (signal.aborted) return this.#stopped();
      const answered = await asking.answer({ exchange, tools, model, maxTokens });
      const end = await this.#follow(answered);
      if (end !== undefined) return end;
      const lost = await this.#writing.drain();
      if (lost) return { status: "error", reason: "failed", error: lost.message };
    }
    const error = `Stopped after ${LOOP_ROUNDS} rounds of tool calls. Send another message to continue`;
    await this.#writing.error({ text: error, metadata: { code: "max_rounds" } });
    return { status: "error", reason: "failed", stopReason: "max_rounds", error };
  }

  /** What an answer leads to: an end, or another round. */
  async #follow(answered: Answered): Promise<TurnOutcome | undefined> {
    const { end, calls, failure, isRefused, isTruncated, stopReason } = answered;
    if (end === "stopped") return this.#stopped();
    if (end === "failed") return { status: "error", reason: "failed", error: failure?.message };
    if (isRefused) return this.#declined(answered);
    if (calls.length > 0) {
      await this.#calls.run(calls);
      return this.#abort.signal.aborted ? this.#stopped() : undefined;
    }
    if (stopReason === "pause_turn") return undefined;
    if (isTruncated) {
      const text = `The answer hit its length limit (${stopReason ?? "length"}). Send another message to continue.`;
      await this.#writing.notice("truncated", { text, metadata: {} });
    }
    const reason = isTruncated ? ("truncated" as const) : undefined;
    return { status: "done", reason, stopReason: stopReason ?? "end_turn" };
  }

  /** The model will not: what it had begun to call is not run. */
  async #declined({ calls, refusal }: Answered): Promise<TurnOutcome> {
    await this.#writing.push(
      calls.map(({ key }) => ({
        type: "block-end",
        key,
        status: "error",
        reason: "interrupted",
        metadata: { success: false },
      })),
    );
    if (refusal !== undefined) await this.#writing.notice("refusal", { text: refusal, metadata: {} });
    return { status: "done", stopReason: "refusal" };
  }

  async #exchange(): Promise<Exchange | Problem> {
    const { kernel, api, context } = this.#options;
    const { id, request } = this.#start;
    const { conversation } = request;
    const made = await modelContext(kernel, {
      conversation,
      head: this.#writing.head,
      freshTurn: request.fresh ? id : undefined,
      system: systemPrompt(context.workspace.root, conversation),
      reasoner: api.reasoner,
      voices: { owner: this.#start.by, agents: PROVIDER_NAMES },
    });
    return isProblem(made) ? made : (validate(made.exchange) ?? made.exchange);
  }

  async #refused(why: Problem): Promise<TurnOutcome> {
    await this.#writing.error({ text: why.message, metadata: { code: why.problem } });
    return { status: "error", reason: "failed", error: why.message };
  }

  #stopped(): TurnOutcome {
    const error = this.#reason === "cancelled" ? "Stopped." : "The server was stopped.";
    return { status: "error", reason: this.#reason, error };
  }
}

function systemPrompt(root: string, conversation: string): string {
  return [
    `You are a coding agent. You work in the folder ${root} with the tools you are given, together with people who ` +
      "watch every step and may edit anything written here, including your own text and your tools' results.",
    "Read a file before you edit it, and verify your work where you can. Commands " +
      "and file changes may need the owner's approval; if it is denied, try another way or ask. Summarize what you did in a " +
      "few words.",
    `Everything here is a block of the conversation ${conversation}. The block_* tools read and edit blocks of this ` +
      "conversation and others, by ids such as conversation/agent/12.",
  ].join("\n\n");
}
