/**
 * The calls of one answer, run: looked up, checked, allowed or asked for, and ended exactly once, with a result block
 * below each.
 *
 * In the order of the answer. Calls that only read run side by side; one that changes something runs alone, so that what
 * the model wrote in an order happens in that order.
 */

import { type BlockId, type BlockKey, type Env, type Reason, randomName } from "@blockyard/kernel";
import { compactParams, endCall, type Outcome, openResult } from "@blockyard/providers";
import type { Allowance, Answer } from "../run.ts";
import type { ToolCall } from "./asking.ts";
import { failed, type LoopTool, type ToolRun } from "./tools/tool.ts";
import type { Writing } from "./writing.ts";

export interface CallsOptions {
  readonly env: Env;
  readonly writing: Writing;
  readonly tools: ReadonlyMap<string, LoopTool>;
  readonly allow: readonly Allowance[];
  readonly context: Omit<ToolRun, "open" | "grow" | "signal">;
  readonly signal: AbortSignal;
  readonly stopping: () => Reason;
  /** Where a bug inside a tool is told; the model only learns that it failed. */
  readonly onFault: (tool: string, error: unknown) => void;
}

/** How a call may be waited for no longer: the owner's answer, or the end of the turn. */
type Leave = { readonly allow: boolean; readonly message: string } | undefined;

interface Asked {
  readonly key: BlockKey;
  readonly settle: (leave: Leave) => void;
}

const SIDE_BY_SIDE = 8;

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
      const alone = waiting.findIndex((call) => this.#isAlone(call));
      const together = alone === 0 ? 1 : Math.min(alone === -1 ? waiting.length : alone, SIDE_BY_SIDE);
      await Promise.all(waiting.splice(0, together).map((call) => this.#one(call)));
    }
  }

  asks(approval: string): BlockId | undefined {
    const asked = this.#asked.get(approval);
    return asked && this.#options.writing.idOf(asked.key);
  }

  answer({ approval, allow, message }: Answer): void {
    this.#asked.get(approval)?.settle({ allow, message });
  }

  #isAlone({ toolName }: ToolCall): boolean {
    return this.#options.tools.get(toolName)?.needs !== undefined;
  }

  async #one(call: ToolCall): Promise<void> {
    const { writing, signal, stopping } = this.#options;
    let isOpen = false;
    const ids = { key: call.key, toolUseId: call.toolUseId, toolName: call.toolName };
    const run: ToolRun = {
      ...this.#options.context,
      signal,
      open: (kind, metadata) => {
        isOpen = true;
        void writing.push([openResult(ids, kind, metadata, "")]);
      },
      grow: (text) => void writing.push([{ type: "block-append", key: `${call.key}/result`, text }]),
    };
    const outcome = signal.aborted ? UNRUN : await this.#outcome(call, run);
    const reason = outcome.reason ?? (signal.aborted ? stopping() : undefined);
    const ended = signal.aborted ? { ...outcome, failed: true } : outcome;
    await writing.push(endCall(ids, { ...ended, reason }, isOpen));
  }

  async #outcome(call: ToolCall, run: ToolRun): Promise<Outcome> {
    const { tools, onFault } = this.#options;
    const tool = tools.get(call.toolName);
    if (!tool) return failed(`There is no tool ${call.toolName}. There are: ${[...tools.keys()].join(", ")}`);
    const parsed = tool.parse(call.input);
    if ("wrong" in parsed) return failed(`The input of ${tool.name} does not fit: ${parsed.wrong}`);
    const leave = await this.#leave(call, tool);
    if (leave === undefined) return UNRUN;
    if (!leave.allow) return { ...failed(leave.message), reason: "denied" };
    await this.#options.writing.push([{ type: "block-meta", key: call.key, metadata: { stage: "running" } }]);
    try {
      return await tool.run(parsed.input, run);
    } catch (error) {
      // The boundary of one call: a bug in it ends the call and nothing else.
      onFault(tool.name, error);
      return failed(`${tool.name} failed inside; this is a bug, not the input's fault`);
    }
  }

  /** The owner's leave; undefined if the turn was stopped first. */
  async #leave(call: ToolCall, { name, needs }: LoopTool): Promise<Leave> {
    const { env, writing, allow, signal } = this.#options;
    if (needs === undefined || allow.includes(needs)) return { allow: true, message: "" };
    const id = `approval-${randomName(env, 10)}`;
    const what = compactParams(call.input);
    const approval = {
      id,
      state: "asked",
      title: what === undefined ? name : `${name}: ${what}`,
      input: call.input,
      askedAt: env.now(),
    };
    let stop = (): void => undefined;
    const leave = new Promise<Leave>((settle) => {
      this.#asked.set(id, { key: call.key, settle });
      stop = () => settle(undefined);
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
    });
    await writing.push([{ type: "block-meta", key: call.key, metadata: { approval } }]);
    return leave.finally(() => {
      this.#asked.delete(id);
      signal.removeEventListener("abort", stop);
    });
  }
}

const UNRUN: Outcome = { failed: true, error: "The turn was stopped before this ran" };
