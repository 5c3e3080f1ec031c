/**
 * A built-in tool of the loop: its description for the model, and how it runs. effects.ts has its effects, and so what
 * needs the owner's approval. A tool creates its own result block, of the most specific kind, and may open it while it
 * still runs.
 */

import type { JsonObject, Kind, Matcher, Problem } from "@blockyard/kernel";
import type { Outcome } from "@blockyard/providers";
import { z } from "zod";
import type { ProcessTracker } from "../../../processes/process-tracker.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { Environment, ToolSpec } from "../api.ts";
import type { Workspace } from "./workspace.ts";

/** What a running tool has. */
export interface ToolRun {
  readonly workspace: Workspace;
  /** Aborted when the turn is stopped: nothing of the tool may then go on. */
  readonly signal: AbortSignal;
  readonly env: Environment;
  readonly matcher: Matcher;
  readonly tracker: ProcessTracker;
  /** Without one, commands are not confined. */
  readonly sandbox?: Sandbox | undefined;
  /** Guarded files that the owner has allowed to this call. */
  readonly permitted: readonly string[];
  /** The owner has seen this very call and said yes: neither an allowance nor a rule has. */
  readonly isSeen: boolean;
  /** Shows the result block now; `grow` adds to its text as it comes. */
  open(kind: Kind, metadata: JsonObject): void;
  grow(text: string): void;
}

export interface LoopTool extends ToolSpec {
  /** The input, checked; or what is wrong with it. */
  parse(input: unknown): { readonly input: unknown } | { readonly wrong: string };
  /** What the owner is shown of a call that asks, where its input says all of the change. */
  diff?(input: unknown): string | undefined;
  run(input: unknown, run: ToolRun): Promise<Outcome>;
}

export function loopTool<I>(definition: {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<I>;
  diff?(input: I): string | undefined;
  run(input: I, run: ToolRun): Promise<Outcome>;
}): LoopTool {
  const { input, diff, run, ...rest } = definition;
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" }) as Record<string, unknown>;
  return {
    ...rest,
    input: schema as JsonObject,
    parse(given) {
      const parsed = input.safeParse(given);
      return parsed.success ? { input: parsed.data } : { wrong: z.prettifyError(parsed.error) };
    },
    ...(diff ? { diff: (given: unknown) => diff(given as I) } : {}),
    run: (given, context) => run(given as I, context),
  };
}

/** A result in plain words. */
export function plain(text: string, shortResult?: string): Outcome {
  return {
    failed: false,
    result: { kind: "tool_result", text, metadata: {} },
    ...(shortResult === undefined ? {} : { shortResult }),
  };
}

/** What could not be done, in words that a model can act on. */
export function failed(why: Problem | string): Outcome {
  const text = typeof why === "string" ? why : why.message;
  const metadata = {
    isError: true,
    ...(typeof why === "string" ? {} : { result: JSON.parse(JSON.stringify(why)) as JsonObject }),
  };
  return { failed: true, error: text, result: { kind: "tool_result", text, metadata } };
}
