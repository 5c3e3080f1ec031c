/**
 * The cost of turns: each turn as a few numbers, cached between calls, so that a report reads only the turns of
 * conversations that have changed since the last one. The turns in the store are the truth; this is a copy that can be
 * rebuilt.
 *
 * Tokens are a turn's own and those of its sub-agents. Some agents count sub-agents into the turn, some report them
 * separately: a turn with fewer tokens than its messages together is of the second kind, and theirs are added. If an
 * agent states its usage since its last statement, nothing is added: what sub-agents used in the background is in a
 * later turn's usage, and counts there.
 */

import {
  addUsage,
  type Conversation,
  type MessageUsage,
  NO_USAGE,
  reportsNothing,
  subtractUsage,
  type Turn,
} from "../model/conversation.ts";
import type { Usage } from "../model/event.ts";
import type { ConversationId } from "../model/ids.ts";
import type { JsonObject } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import type { Store } from "../ports/store.ts";

/** A model's share of a turn. */
export interface ModelCost {
  readonly model: string;
  readonly usage: Usage;
  readonly subagents: Usage;
  /** undefined: nobody has stated it. */
  readonly costUsd: number | undefined;
}

export interface TurnCosts {
  readonly conversation: ConversationId;
  readonly turn: string;
  readonly workspace: string;
  readonly agent: string;
  readonly startedAt: number;
  readonly models: readonly ModelCost[];
  /** It used more than that. */
  readonly isUncounted: boolean;
  /** Its agent reported no usage: what it used is unknown. */
  readonly isUnreported: boolean;
}

interface Kept {
  readonly seq: number;
  readonly turns: readonly TurnCosts[];
}

export class CostLedger {
  readonly #kept = new Map<ConversationId, Kept>();
  #turns = 0;

  /** The current turns of these conversations. `rest` yields to other work. */
  async turns(
    store: Store,
    records: readonly Conversation[],
    rest: () => Promise<void>,
  ): Promise<readonly TurnCosts[]> {
    const changed = records.filter(({ id, seq, turns }) => turns > 0 && this.#kept.get(id)?.seq !== seq);
    for (let at = 0; at < changed.length; at += limits.costReads) {
      const some = changed.slice(at, at + limits.costReads);
      const read = await Promise.all(some.map(({ id }) => store.turns(id)));
      for (const [i, record] of some.entries()) this.#keep(record, read[i] ?? []);
      await rest();
    }
    return records.flatMap(({ id }) => this.#kept.get(id)?.turns ?? []);
  }

  #keep(record: Conversation, turns: readonly Turn[]): void {
    const { id, seq } = record;
    this.#turns -= this.#kept.get(id)?.turns.length ?? 0;
    this.#kept.delete(id);
    let later: readonly MessageUsage[] = [];
    const counted = turns.map((turn) => {
      const { models, rest } = modelsOf(turn, later);
      later = rest;
      return costsOf(record, turn, models);
    });
    const kept = { seq, turns: counted };
    this.#kept.set(id, kept);
    this.#turns += kept.turns.length;
    for (const [oldest, { turns: gone }] of this.#kept) {
      if (this.#turns <= limits.costTurns) return;
      this.#kept.delete(oldest);
      this.#turns -= gone.length;
    }
  }
}

function costsOf({ id, metadata }: Conversation, turn: Turn, models: readonly ModelCost[]): TurnCosts {
  const { id: name, agent, startedAt } = turn;
  const { cwd } = metadata;
  const workspace = typeof cwd === "string" ? cwd : "";
  const isUncounted = turn.uncounted === true;
  const isUnreported = reportsNothing(turn);
  return { conversation: id, turn: name, workspace, agent, startedAt, models, isUncounted, isUnreported };
}

/**
 * Each turn once: a conversation that was exported and imported again, and a session whose fork repeats it, have the
 * same turns. The one that was not imported counts, otherwise the oldest.
 */
export function countedOnce(
  turns: readonly TurnCosts[],
  records: readonly Conversation[],
): readonly TurnCosts[] {
  const places = new Map(records.map((record) => [record.id, record]));
  const counted = new Map<string, TurnCosts>();
  for (const turn of turns) {
    const key = JSON.stringify([turn.turn, turn.agent, turn.startedAt]);
    const other = counted.get(key);
    if (other === undefined || isBefore(places.get(turn.conversation), places.get(other.conversation)))
      counted.set(key, turn);
  }
  return [...counted.values()];
}

function isBefore(one: Conversation | undefined, other: Conversation | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [isOwn, isOthers] = [one, other].map(({ metadata }) => metadata.imported === undefined);
  if (isOwn !== isOthers) return isOwn === true;
  return one.createdAt === other.createdAt ? one.id < other.id : one.createdAt < other.createdAt;
}

interface Share {
  usage: Usage;
  subagents: Usage;
}

/** `before`: messages of sub-agents that no earlier turn has stated; `rest`: those that this one has not either. */
function modelsOf(
  turn: Turn,
  before: readonly MessageUsage[],
): { readonly models: readonly ModelCost[]; readonly rest: readonly MessageUsage[] } {
  const main = turn.model ?? "";
  const shares = new Map<string, Share>();
  const share = (model: string): Share => {
    const known = shares.get(model) ?? { usage: NO_USAGE, subagents: NO_USAGE };
    shares.set(model, known);
    return known;
  };
  let [told, subagents] = [NO_USAGE, NO_USAGE];
  const isWhole = isObject(turn.native?.["model_usage_since_last_result"]);
  const stated = isWhole ? (turn.usage ?? NO_USAGE) : turn.usage;
  const rest: MessageUsage[] = isWhole ? [] : [...before];
  for (const message of mainFirst(turn, isWhole ? before : [])) {
    const { usage, model = main, parent } = message;
    if (isWhole && !hasRoom(stated, addUsage(told, usage))) {
      if (parent !== undefined) rest.push(message);
      continue;
    }
    const of = share(model);
    of.usage = addUsage(of.usage, usage);
    told = addUsage(told, usage);
    if (parent === undefined) continue;
    of.subagents = addUsage(of.subagents, usage);
    subagents = addUsage(subagents, usage);
  }
  const total = totalOf(stated, told, subagents);
  // Usage that no message states belongs to the main model, whose total may exceed its messages' sum, never fall below it.
  const of = share(main);
  of.usage = addUsage(of.usage, atLeastNothing(subtractUsage(total, told)));
  const costs = statedCosts(turn);
  const models = [...shares]
    .filter(([model, { usage }]) => usage.input + usage.output > 0 || costs(model, main) !== undefined)
    .map(([model, { usage, subagents: theirs }]) => ({
      model,
      usage,
      subagents: theirs,
      costUsd: costs(model, main),
    }));
  return { models, rest };
}

function mainFirst({ messages = {} }: Turn, before: readonly MessageUsage[]): readonly MessageUsage[] {
  const all = Object.values(messages);
  return [
    ...all.filter(({ parent }) => parent === undefined),
    ...before,
    ...all.filter(({ parent }) => parent !== undefined),
  ];
}

function totalOf(usage: Usage | undefined, told: Usage, subagents: Usage): Usage {
  if (usage === undefined) return told;
  return hasRoom(usage, told) ? usage : addUsage(usage, subagents);
}

function hasRoom(total: Usage | undefined, part: Usage): boolean {
  return total === undefined || (total.input >= part.input && total.output >= part.output);
}

function atLeastNothing(usage: Usage): Usage {
  const least = (value: number) => Math.max(0, value);
  return {
    input: least(usage.input),
    cacheRead: least(usage.cacheRead),
    cacheWrite: least(usage.cacheWrite),
    output: least(usage.output),
    reasoning: least(usage.reasoning),
  };
}

/** The cost of each model, if the agent states it for this turn; otherwise all of it is the main model's. */
function statedCosts({ costUsd, native }: Turn): (model: string, main: string) => number | undefined {
  const models = native?.["model_usage_since_last_result"];
  if (costUsd !== undefined && isObject(models)) {
    const costs = new Map(Object.entries(models).map(([name, value]) => [name, costIn(value)] as const));
    const sum = [...costs.values()].reduce((total, cost) => total + cost, 0);
    if (costs.size > 1 && Math.abs(sum - costUsd) < 1e-6) return (model) => costs.get(model);
  }
  return (model, main) => (model === main ? costUsd : undefined);
}

function costIn(value: unknown): number {
  const cost = isObject(value) ? value["costUSD"] : undefined;
  return typeof cost === "number" ? cost : 0;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
