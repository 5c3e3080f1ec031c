/**
 * cost.report: usage and cost of turns, summed by day, workspace, agent, model or conversation. Reads the turns of
 * conversations that have changed since the last call, and no blocks.
 */

import { z } from "zod";
import { addUsage, type Conversation, NO_USAGE } from "../model/conversation.ts";
import type { Usage } from "../model/event.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Store } from "../ports/store.ts";
import { CostLedger, countedOnce, type ModelCost, type TurnCosts } from "../write/costs.ts";
import type { Kernel } from "../write/kernel.ts";
import { rowsField, tool } from "./tool.ts";

const GROUPS = ["day", "workspace", "agent", "model", "conversation"] as const;
type Group = (typeof GROUPS)[number];

const input = z.strictObject({
  by: z
    .array(z.enum(GROUPS))
    .min(1)
    .max(GROUPS.length)
    .default(["day"])
    .describe("What to group by; several values give a row for each combination"),
  since: z.number().optional().describe("Only turns that began at this time or later (milliseconds)"),
  until: z.number().optional().describe("Only turns that began before this time"),
  time_zone: z.string().max(64).default("UTC").describe("Time zone for days, such as Europe/Berlin"),
  workspace: z.string().max(limits.pathChars).optional().describe("Only conversations of this folder"),
  agent: z.string().max(limits.agentChars).optional().describe("Only turns of this agent"),
  limit: rowsField(limits.listRows, 500),
});

type Input = z.infer<typeof input>;

const tokens = z.number().describe("Tokens");
const sums = z.object({
  turns: z.number().int(),
  conversations: z.number().int(),
  input: tokens.describe("Input tokens, including cached ones"),
  cached: tokens.describe("Of these, from the cache"),
  output: tokens.describe("Output tokens"),
  subagents: z
    .object({ input: tokens, cached: tokens, output: tokens })
    .describe("Of these, tokens used by sub-agents"),
  cost_usd: z.number().nullable().describe("Sum over turns with a known cost; null: none has one"),
  unpriced: z
    .object({ turns: z.number().int(), input: tokens, output: tokens })
    .describe("Turns without a known price"),
  uncounted: z.number().int().describe("Turns that used more than reported, because an answer was cut off"),
  unreported: z
    .number()
    .int()
    .describe("Turns whose agent reported no usage: their tokens and cost are unknown"),
});

const row = sums.extend({
  day: z.string().optional().describe("Such as 2026-11-17"),
  workspace: z.string().optional().describe("The folder; empty if unknown"),
  agent: z.string().optional(),
  model: z.string().optional().describe("Empty if unknown"),
  conversation: z.string().optional(),
  title: z.string().optional(),
});

export type CostRow = z.infer<typeof row>;

export const costReport = tool({
  name: "cost.report",
  description:
    "Sum the usage and cost of turns by day, workspace, agent, model or conversation, with sub-agents: newest day first, then " +
    "highest cost, then most tokens. A turn with several models counts for its main model unless its agent reports the cost of " +
    "each; grouped by model, such a turn counts once for each. A turn in several conversations, such as an export imported " +
    "again, counts once. Deleted conversations and the recorded sessions of a first start do not count.",
  input,
  output: z.object({ rows: z.array(row), total: sums, more: z.boolean().describe("There are more rows") }),
  access: "read",
  async run({ kernel }, given) {
    const dayOf = dayFormat(given.time_zone);
    if (isProblem(dayOf)) return dayOf;
    const records = await recordsOf(kernel, given);
    if (isProblem(records)) return records;
    const turns = await read(kernel, records);
    if (isProblem(turns)) return turns;
    const counted = countedOnce(turns, records).filter((turn) => isAskedFor(turn, given));
    const titles = new Map(records.map(({ id, title }) => [id, title]));
    const rows = [...grouped(counted, given.by, dayOf).values()].map((sum) => sum.row(titles)).sort(byOrder);
    const total = new Sum({});
    for (const turn of counted) total.add(turn, turn.models);
    return { rows: rows.slice(0, given.limit), total: total.sums(), more: rows.length > given.limit };
  },
});

/** A conversation has no turn that began after its last change. */
async function recordsOf(kernel: Kernel, given: Input): Promise<readonly Conversation[] | Problem> {
  const { since = Number.NEGATIVE_INFINITY, workspace } = given;
  const found: Conversation[] = [];
  let limit = limits.costConversations;
  for (let before: number | undefined; ; ) {
    const page = await kernel.conversations({ limit, ...(before === undefined ? {} : { before }) });
    if (isProblem(page)) return page;
    found.push(...page);
    const last = page.at(-1)?.updatedAt;
    if (page.length < limit || last === undefined || last < since) break;
    // Several may have changed at the same time: the next page begins with them, and is larger than their number.
    if (page[0]?.updatedAt === last) limit *= 2;
    before = last + 1;
  }
  const once = new Map(found.map((record) => [record.id, record]));
  return [...once.values()].filter(
    ({ updatedAt, metadata }) =>
      updatedAt >= since &&
      metadata.recorded !== true &&
      (workspace === undefined || metadata.cwd === workspace),
  );
}

const ledgers = new WeakMap<Store, CostLedger>();

async function read(
  kernel: Kernel,
  records: readonly Conversation[],
): Promise<readonly TurnCosts[] | Problem> {
  const { store, env } = kernel;
  const ledger = ledgers.get(store) ?? new CostLedger();
  ledgers.set(store, ledger);
  try {
    return await ledger.turns(store, records, () => new Promise<void>((done) => env.soon(done)));
  } catch {
    return problem("storage", "the turns cannot be read now; try again");
  }
}

function isAskedFor({ startedAt, agent }: TurnCosts, given: Input): boolean {
  return (
    startedAt >= (given.since ?? Number.NEGATIVE_INFINITY) &&
    startedAt < (given.until ?? Number.POSITIVE_INFINITY) &&
    (given.agent === undefined || agent === given.agent)
  );
}

function grouped(
  turns: readonly TurnCosts[],
  by: readonly Group[],
  dayOf: (at: number) => string,
): ReadonlyMap<string, Sum> {
  const groups = new Map<string, Sum>();
  const add = (turn: TurnCosts, models: readonly ModelCost[], model: string | undefined) => {
    const name = Object.fromEntries(
      by.map((group) => [
        group,
        group === "day" ? dayOf(turn.startedAt) : group === "model" ? (model ?? "") : turn[group],
      ]),
    ) as Partial<Record<Group, string>>;
    const key = JSON.stringify(by.map((group) => name[group]));
    const sum = groups.get(key) ?? new Sum(name);
    groups.set(key, sum);
    sum.add(turn, models);
  };
  for (const turn of turns) {
    if (!by.includes("model")) add(turn, turn.models, undefined);
    else if (turn.models.length === 0) add(turn, [], "");
    else for (const each of turn.models) add(turn, [each], each.model);
  }
  return groups;
}

class Sum {
  readonly #name: Partial<Record<Group, string>>;
  readonly #conversations = new Set<string>();
  #turns = 0;
  #usage = NO_USAGE;
  #subagents = NO_USAGE;
  #costUsd: number | null = null;
  #unpriced = { turns: 0, input: 0, output: 0 };
  #uncounted = 0;
  #unreported = 0;

  constructor(name: Partial<Record<Group, string>>) {
    this.#name = name;
  }

  add({ conversation, isUncounted, isUnreported }: TurnCosts, models: readonly ModelCost[]): void {
    this.#turns++;
    if (isUncounted) this.#uncounted++;
    if (isUnreported) this.#unreported++;
    this.#conversations.add(conversation);
    const isPriced = models.some(({ costUsd }) => costUsd !== undefined);
    let used = NO_USAGE;
    for (const { usage, subagents, costUsd } of models) {
      used = addUsage(used, usage);
      this.#subagents = addUsage(this.#subagents, subagents);
      if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
    }
    this.#usage = addUsage(this.#usage, used);
    if (isPriced || used.input + used.output === 0) return;
    const { turns, input: read, output } = this.#unpriced;
    this.#unpriced = { turns: turns + 1, input: read + used.input, output: output + used.output };
  }

  sums(): z.infer<typeof sums> {
    return {
      turns: this.#turns,
      conversations: this.#conversations.size,
      ...tokensOf(this.#usage),
      subagents: tokensOf(this.#subagents),
      // Sums of many small amounts have an error in the last digits.
      cost_usd: this.#costUsd === null ? null : Math.round(this.#costUsd * 1e8) / 1e8,
      unpriced: this.#unpriced,
      uncounted: this.#uncounted,
      unreported: this.#unreported,
    };
  }

  row(titles: ReadonlyMap<string, string>): CostRow {
    const { conversation } = this.#name;
    const title = conversation === undefined ? {} : { title: titles.get(conversation) ?? "" };
    return { ...this.#name, ...title, ...this.sums() };
  }
}

function tokensOf({ input: read, cacheRead, output }: Usage) {
  return { input: read, cached: cacheRead, output };
}

function byOrder(a: CostRow, b: CostRow): number {
  if (a.day !== undefined && b.day !== undefined && a.day !== b.day) return a.day < b.day ? 1 : -1;
  return (b.cost_usd ?? -1) - (a.cost_usd ?? -1) || b.input + b.output - a.input - a.output;
}

function dayFormat(timeZone: string): ((at: number) => string) | Problem {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-CA", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
    });
  } catch {
    return problem(
      "invalid",
      `unknown time zone ${timeZone.slice(0, 64)}; use a name such as Europe/Berlin or UTC`,
      {
        field: "time_zone",
      },
    );
  }
  return (at) => format.format(at);
}
