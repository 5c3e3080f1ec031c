/**
 * The calls of one answer, run: looked up, checked, allowed or asked for, and ended exactly once, with a result block
 * below each.
 *
 * In the order of the answer. Calls that only read run side by side; one that changes something runs alone, so that what
 * the model wrote in an order happens in that order.
 */

import {
  type Ask,
  type AskSubject,
  type AskSuggestion,
  type BlockId,
  type BlockKey,
  type Env,
  type JsonObject,
  type Reason,
  randomName,
} from "@blockyard/kernel";
import { compactParams, endCall, type Outcome, openResult } from "@blockyard/providers";
import type { Allowance } from "../../access/allowance.ts";
import { type Effect, onlyReads, reasonToAsk, toAsk } from "../../access/effect.ts";
import type { Answer } from "../run.ts";
import type { ToolCall } from "./asking.ts";
import { PARALLEL_CALLS } from "./limits.ts";
import { effectsOf } from "./tools/effects.ts";
import { failed, type LoopTool, type ToolRun } from "./tools/tool.ts";
import type { Writing } from "./writing.ts";

interface CallsOptions {
  readonly env: Env;
  readonly writing: Writing;
  readonly tools: ReadonlyMap<string, LoopTool>;
  readonly allow: readonly Allowance[];
  readonly context: ToolContext;
  /** The files of the workspace whose blocks an input names. */
  readonly filesIn: (input: unknown) => Promise<readonly string[]>;
  readonly signal: AbortSignal;
  readonly stopping: () => Reason;
  /** Where a bug inside a tool is told; the model only learns that it failed. */
  readonly onFault: (tool: string, error: unknown) => void;
  /** What can be answered to an ask for good. */
  readonly suggest?: ((ask: Ask) => readonly AskSuggestion[]) | undefined;
  /** The rule that denies something, in words, where there is one. */
  readonly denied?: ((subject: AskSubject) => string | undefined) | undefined;
}

/** What all calls have in common. */
export type ToolContext = Omit<ToolRun, "open" | "grow" | "signal" | "permitted" | "isSeen">;

/** A call with what it would do. */
interface Weighed {
  readonly call: ToolCall;
  readonly effects: readonly Effect[];
}

/** How a call may be waited for no longer: the owner's answer, or the end of the turn. */
type Leave = { readonly allow: boolean; readonly message: string; readonly isSeen?: boolean } | undefined;

interface Asked {
  readonly key: BlockKey;
  readonly settle: (leave: Leave) => void;
}

export class Calls {
  readonly #options: CallsOptions;
  /** Requests that wait for the owner. */
  readonly #asked = new Map<string, Asked>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Every call has ended when this resolves. */
  async run(calls: readonly ToolCall[]): Promise<void> {
    const waiting = [...calls];
    while (waiting.length > 0) {
      // Weighed when it is their turn: an earlier call may have changed where a path leads.
      const next = await Promise.all(waiting.slice(0, PARALLEL_CALLS).map((call) => this.#weigh(call)));
      const alone = next.findIndex((each) => this.#isAlone(each));
      const together = alone === 0 ? 1 : alone === -1 ? next.length : alone;
      waiting.splice(0, together);
      await Promise.all(next.slice(0, together).map((each) => this.#one(each)));
    }
  }

  asks(ask: string): BlockId | undefined {
    const asked = this.#asked.get(ask);
    return asked && this.#options.writing.idOf(asked.key);
  }

  answer({ ask, allow, message, byRule }: Answer): void {
    this.#asked.get(ask)?.settle({ allow, message, isSeen: byRule !== true });
  }

  async #weigh(call: ToolCall): Promise<Weighed> {
    const { tools, context, filesIn } = this.#options;
    const parsed = tools.get(call.toolName)?.parse(call.input);
    // What is no call of a tool has no effects, and is answered with what is wrong.
    if (parsed === undefined || "wrong" in parsed) return { call, effects: [] };
    const effects = await effectsOf(call.toolName, parsed.input, { ...context, filesIn });
    return { call, effects };
  }

  #isAlone({ effects }: Weighed): boolean {
    return !onlyReads(effects) || toAsk(effects, this.#options.allow).length > 0;
  }

  async #one({ call, effects }: Weighed): Promise<void> {
    const { writing, signal, stopping } = this.#options;
    let isOpen = false;
    const ids = { key: call.key, toolUseId: call.toolUseId, toolName: call.toolName };
    const permitted = effects.flatMap(({ path, guard }) =>
      path !== undefined && guard !== undefined ? [path] : [],
    );
    const { context } = this.#options;
    const run: ToolRun = {
      ...context,
      permitted,
      isSeen: false,
      workspace: context.workspace.permitting(permitted),
      signal,
      open: (kind, metadata) => {
        isOpen = true;
        void writing.push([openResult(ids, kind, metadata, "")]);
      },
      grow: (text) => void writing.push([{ type: "block-append", key: `${call.key}/result`, text }]),
    };
    const outcome = signal.aborted ? UNRUN : await this.#outcome(call, effects, run);
    const reason = outcome.reason ?? (signal.aborted ? stopping() : undefined);
    const ended = signal.aborted ? { ...outcome, failed: true } : outcome;
    await writing.push(endCall(ids, { ...ended, reason }, isOpen));
  }

  async #outcome(call: ToolCall, effects: readonly Effect[], run: ToolRun): Promise<Outcome> {
    const { tools, onFault } = this.#options;
    const tool = tools.get(call.toolName);
    if (!tool)
      return failed(`There is no tool ${call.toolName}. Available tools: ${[...tools.keys()].join(", ")}`);
    const parsed = tool.parse(call.input);
    if ("wrong" in parsed) return failed(`Invalid input for ${tool.name}: ${parsed.wrong}`);
    const asked = toAsk(effects, this.#options.allow);
    const deeds = effects.filter(({ kind }) => kind !== "read");
    const diff = asked.length + deeds.length > 0 ? tool.diff?.(parsed.input) : undefined;
    // What the turn allows is not asked for, so no rule is asked either; one that denies holds all the same.
    const denied = asked.length === 0 ? this.#deniedBy(call, deeds, diff) : undefined;
    if (denied !== undefined) return { ...failed(`A rule of the user denies ${denied}.`), reason: "denied" };
    const leave = await this.#leave(call, tool, asked, diff);
    if (leave === undefined) return UNRUN;
    if (!leave.allow) return { ...failed(leave.message), reason: "denied" };
    await this.#options.writing.push([{ type: "block-meta", key: call.key, metadata: { stage: "running" } }]);
    try {
      return await tool.run(parsed.input, { ...run, isSeen: leave.isSeen === true });
    } catch (error) {
      // The boundary of one call: a bug in it ends the call and nothing else.
      onFault(tool.name, error);
      return failed(`${tool.name} failed: internal error, not caused by the input`);
    }
  }

  #deniedBy(call: ToolCall, deeds: readonly Effect[], diff: string | undefined): string | undefined {
    const paths = deeds.flatMap(({ path }) => path ?? []);
    const subject = subjectOf(call, deeds, paths.length > 0 ? (diff ?? "") : undefined);
    return subject && this.#options.denied?.(subject);
  }

  /** The owner's leave; undefined if the turn was stopped first. */
  async #leave(
    call: ToolCall,
    { name }: LoopTool,
    asked: readonly Effect[],
    diff: string | undefined,
  ): Promise<Leave> {
    const { env, writing, signal } = this.#options;
    if (asked.length === 0) return { allow: true, message: "" };
    const id = `ask-${randomName(env, 10)}`;
    const what = compactParams(call.input);
    const reason = reasonToAsk(asked);
    const title = what === undefined ? name : `${name}: ${what}`;
    const subject = subjectOf(call, asked, diff);
    const shown: Ask = {
      id,
      kind: "permission",
      state: "asked",
      title: reason === undefined ? title : `${title} (${reason})`,
      input: call.input,
      ...(subject === undefined ? {} : { subject }),
      askedAt: env.now(),
    };
    // What is guarded, or cannot be known, is asked for every time: no rule is offered for it.
    const suggestions = reason === undefined ? (this.#options.suggest?.(shown) ?? []) : [];
    const ask: Ask = suggestions.length === 0 ? shown : { ...shown, suggestions: [...suggestions] };
    let stop = (): void => undefined;
    const leave = new Promise<Leave>((settle) => {
      this.#asked.set(id, { key: call.key, settle });
      stop = () => settle(undefined);
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
    });
    await writing.push([{ type: "block-meta", key: call.key, metadata: { ask: { ...ask } as JsonObject } }]);
    return leave.finally(() => {
      this.#asked.delete(id);
      signal.removeEventListener("abort", stop);
    });
  }
}

const UNRUN: Outcome = { failed: true, error: "The turn was stopped before this ran" };

/** What is asked for, in a form that rules can be about. What always asks has none but its diff. */
function subjectOf(
  { input }: ToolCall,
  asked: readonly Effect[],
  diff: string | undefined,
): AskSubject | undefined {
  const isKnown = reasonToAsk(asked) === undefined;
  const paths = asked.flatMap(({ path }) => path ?? []);
  if (diff !== undefined) return { type: "diff", diff, ...(isKnown && paths.length > 0 ? { paths } : {}) };
  const command = (input as { readonly command?: unknown } | null)?.command;
  if (!isKnown || typeof command !== "string" || !asked.some(({ kind }) => kind === "run")) return undefined;
  return { type: "command", command };
}
