/**
 * How full an agent's context is: what its last request held, against what its model has room for, as far as the provider has
 * said so. What sub-agents read is not in it, nor what a compaction or a reset has taken out since.
 */
import type { Block, BlockId, Turn, View } from "@blockyard/kernel";

interface ContextUse {
  readonly usedTokens: number;
  readonly windowTokens: number;
}

/** What of a view says how full the context is. */
interface ContextSource {
  readonly turns: Pick<View["turns"], "values">;
  readonly order: readonly BlockId[];
  readonly blocks: ReadonlyMap<BlockId, Pick<Block, "role" | "side" | "metadata">>;
}

export function contextUse({ turns, order, blocks }: ContextSource): ContextUse | undefined {
  const newest = [...turns.values()].sort((a, b) => b.startedAt - a.startedAt);
  const emptied = lastEmptied(order, blocks);
  const used = emptied === undefined ? firstOf(newest, usedIn) : numberIn(emptied, "post_tokens");
  const window = firstOf(newest, windowOf);
  return used === undefined || window === undefined
    ? undefined
    : { usedTokens: Math.min(used, window), windowTokens: window };
}

/** What is said of a compaction or a reset that no answer has followed yet. How much a reset leaves, nobody says. */
function lastEmptied(order: ContextSource["order"], blocks: ContextSource["blocks"]): object | undefined {
  const last = order.findLast((id) => {
    const block = blocks.get(id);
    return block !== undefined && ((block.role === "model" && !block.side) || isEmptied(block.metadata));
  });
  const metadata = last === undefined ? undefined : blocks.get(last)?.metadata;
  return metadata && isEmptied(metadata) ? (metadata.extra ?? {}) : undefined;
}

function isEmptied({ notice, extra }: Block["metadata"]): boolean {
  return notice === "reset" || (notice === "compaction" && numberIn(extra, "post_tokens") !== undefined);
}

/** What the last request of a turn held, with the answer to it. */
function usedIn({ messages, native }: Turn): number | undefined {
  const codex = numberIn(native?.["last"], "totalTokens");
  if (codex !== undefined) return codex;
  const own = Object.values(messages ?? {}).filter(({ parent }) => parent === undefined);
  const last = own.findLast(({ usage }) => usage.input > 0)?.usage;
  return last && last.input + last.output;
}

function windowOf({ model, native }: Turn): number | undefined {
  const codex = native?.["modelContextWindow"];
  if (typeof codex === "number" && codex > 0) return codex;
  const models = native?.["modelUsage"];
  if (typeof models !== "object" || models === null) return undefined;
  const own = Object.entries(models).find(([name]) => name === model || name.startsWith(`${model}[`));
  return numberIn((own ?? Object.entries(models)[0])?.[1], "contextWindow");
}

function numberIn(value: unknown, name: string): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found = (value as { readonly [name: string]: unknown })[name];
  return typeof found === "number" && found > 0 ? found : undefined;
}

function firstOf<T, V>(items: readonly T[], read: (item: T) => V | undefined): V | undefined {
  for (const item of items) {
    const found = read(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
