/**
 * What a turn cost. `total_cost_usd` and `modelUsage` run on over the process and over a resumed session; a turn gets
 * the difference, so that the turns of a process add up to its last total (from zero again after a reset). `cost_usd`
 * alone is the cost of the turn itself. A result that states no tokens has those of its
 * messages. That of a stopped turn does not count the answer that was cut: of that one what was read is known, and nothing else.
 */

import { addUsage, type Json, type JsonObject, NO_USAGE, type Usage } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, numberOf, objectOf, textOf } from "../read.ts";
import { anthropicUsage, costSince, count, isSameUsage, isZero, usageSince } from "../usage.ts";
import { isCut, usageOf as usageIn } from "./piece.ts";
import type { State, Turn } from "./state.ts";

interface TurnCost {
  readonly costUsd?: number;
  readonly usage?: Usage;
  readonly models?: readonly string[];
  readonly uncounted?: true;
}

/** `hasAgents`: sub-agents of it worked when it ended. */
export function takeCost(state: State, line: JsonObject, turn: Turn, hasAgents = false): TurnCost {
  const since = isObject(line.model_usage_since_last_result) ? line.model_usage_since_last_result : undefined;
  const total = numberOf(line.total_cost_usd) ?? numberOf(line.total_cost);
  const own = numberOf(line.cost_usd);
  const costUsd = total === undefined ? own : costOf(state, total, since);
  const models = isObject(line.modelUsage) ? line.modelUsage : undefined;
  const said = usageOf(state, line, since, models) ?? turn.usage;
  // Some versions of 1.0 state the tokens of the last message only.
  const isLast = since === undefined && models === undefined && isSameUsage(said, turn.lastUsage);
  const stated = isLast ? turn.usage : said;
  // The CLI does not count an answer that was stopped: it states nothing of it, which does not mean that nothing was spent.
  const cut = isStopped(line) ? cutIn(state, turn, hasAgents) : undefined;
  const usage = cut === undefined ? stated : isZero(stated) ? turn.usage : addUsage(stated, cut);
  const named =
    since !== undefined || models !== undefined ? Object.keys(since ?? models ?? {}) : [...turn.models];
  if (total !== undefined || own !== undefined)
    state.totalCost = total ?? (state.totalCost ?? 0) + (own ?? 0);
  state.modelUsage = models ?? state.modelUsage;
  return given({
    costUsd: cut !== undefined && costUsd === 0 ? undefined : costUsd,
    usage: isZero(usage) ? undefined : usage,
    models: named.length === 0 ? undefined : named,
    uncounted: cut === undefined ? undefined : (true as const),
  });
}

/** What was read for answers that were cut; undefined where none was. Sub-agents and requests are cut without a word. */
function cutIn({ messages }: State, turn: Turn, hasAgents: boolean): Usage | undefined {
  const cut = [...messages.values()].filter((message) => message.turn === turn && isCut(message));
  if (cut.length === 0 && !hasAgents && !turn.isRequesting) return undefined;
  const read = cut.map((message) =>
    message.usage === undefined ? NO_USAGE : usageIn(message, message.usage),
  );
  return read.reduce(addUsage, NO_USAGE);
}

export function hasAgents({ calls }: State, { ordinal }: Turn): boolean {
  return [...calls.values()].some(
    ({ isEnded, turn, name }) => !isEnded && turn === ordinal && AGENT_TOOLS.has(name),
  );
}

const AGENT_TOOLS: ReadonlySet<string> = new Set(["Agent", "Task"]);

/**
 * How long the turn waited for the model. `duration_api_ms` runs on like the cost does; where its older share is unknown,
 * nothing is said. The result that only tells of a background agent's end states zero: the count goes on behind it.
 */
export function takeApiMs(state: State, line: JsonObject): number | undefined {
  const total = numberOf(line.duration_api_ms);
  if (total === undefined) return undefined;
  const before = state.totalApiMs ?? (isResumed(line) ? undefined : 0);
  if (total === 0 && before !== 0) return undefined;
  state.totalApiMs = total;
  if (before === undefined || (total < before && isResumed(line))) return undefined;
  return total < before ? total : total - before;
}

function isStopped(line: JsonObject): boolean {
  return (textOf(line.terminal_reason) ?? "").startsWith("aborted");
}

/** Whether the first result of a process counts what was before it. */
function isResumed(line: JsonObject): boolean {
  const since = line.model_usage_since_last_result;
  const total = numberOf(line.total_cost_usd);
  return isObject(since) && total !== undefined && total - costIn(since) > 1e-9;
}

function costIn(models: JsonObject): number {
  return sum(models, (model) => numberOf(model.costUSD) ?? 0);
}

/**
 * What `since` states is the turn's own. The total of a process that has resumed a session may count more than is known of here, or
 * less: the CLI remembers its last total only where it could end in peace.
 */
function costOf(state: State, total: number, since: JsonObject | undefined): number {
  return since === undefined ? costSince(total, state.totalCost ?? 0) : costIn(since);
}

function usageOf(
  state: State,
  line: JsonObject,
  since: JsonObject | undefined,
  models: JsonObject | undefined,
): Usage | undefined {
  if (since !== undefined) return modelsUsage(since);
  // A resumed run whose older share is unknown: the main loop's own tokens are at least this turn's.
  const isFirstOfResumed =
    state.modelUsage === undefined && state.totalCost !== undefined && state.totalCost > 0;
  const own = isObject(line.usage) ? anthropicUsage(line.usage) : undefined;
  if (models === undefined || isFirstOfResumed) return own;
  const all = modelsSince(models, state.modelUsage);
  // Some versions of 2.0 count no input by model: all that was spent is at least what the main loop spent.
  const isUncounted = own !== undefined && modelsUsage(models).input === 0 && own.input > 0;
  return isUncounted ? { ...own, output: Math.max(own.output, all.output) } : all;
}

function modelsUsage(models: JsonObject): Usage {
  return Object.values(models).map(modelUsage).reduce(addUsage, NO_USAGE);
}

function modelsSince(models: JsonObject, before: JsonObject | undefined): Usage {
  return Object.entries(models)
    .map(([name, model]) => usageSince(modelUsage(model), earlier(before, name)))
    .reduce(addUsage, NO_USAGE);
}

function earlier(before: JsonObject | undefined, name: string): Usage | undefined {
  const model = before === undefined || !Object.hasOwn(before, name) ? undefined : before[name];
  return model === undefined ? undefined : modelUsage(model);
}

function modelUsage(value: Json): Usage {
  const model = objectOf(value);
  const cacheRead = count(model.cacheReadInputTokens);
  const cacheWrite = count(model.cacheCreationInputTokens);
  return {
    input: count(model.inputTokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(model.outputTokens),
    reasoning: count(model.thinkingTokens),
  };
}

function sum(models: JsonObject, of: (model: JsonObject) => number): number {
  return Object.values(models).reduce<number>((total, model) => total + of(objectOf(model)), 0);
}

/** After a reset the CLI counts from zero. */
export function resetCost(state: State): void {
  state.totalCost = 0;
  state.totalApiMs = 0;
  state.modelUsage = undefined;
}
