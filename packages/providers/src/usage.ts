/**
 * Tokens and money, counted once: each provider's usage shape → `Usage`, cumulative counters → one turn's share, and
 * cost from a table that the user has configured. Nothing here knows a price.
 */

import { addUsage, type Json, type JsonObject, subtractUsage, type Usage } from "@blockyard/kernel";
import { isObject } from "./framing/json.ts";
import { listOf, wholeOf, wordsOf } from "./read.ts";

/** Anthropic counts cached tokens beside `input_tokens`; ours are part of `input`. */
export function anthropicUsage(native: JsonObject): Usage {
  const cacheRead = count(native.cache_read_input_tokens);
  const cacheWrite = count(native.cache_creation_input_tokens);
  return {
    input: count(native.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(native.output_tokens),
    reasoning: count(part(native.output_tokens_details, "thinking_tokens")),
  };
}

/** A message's whole bill: the usage of summing up the conversation is counted beside the message itself. */
export function anthropicBill(native: JsonObject): Usage {
  return iterationsOf(native, "compaction").map(anthropicUsage).reduce(addUsage, anthropicUsage(native));
}

/** What another model was asked for advice: each of its answers is counted and billed apart, at its own price. */
export function adviceUsage(native: JsonObject): readonly { usage: Usage; model: string | undefined }[] {
  return iterationsOf(native, "advisor_message").map((answer) => ({
    usage: anthropicUsage(answer),
    model: wordsOf(answer.model),
  }));
}

/** The model that went on where the first one declined: the message's tokens are its own. */
export function servedBy(native: JsonObject | undefined): string | undefined {
  return wordsOf(iterationsOf(native ?? {}, "fallback_message").at(-1)?.model);
}

function iterationsOf(native: JsonObject, type: string): readonly JsonObject[] {
  return listOf(native.iterations)
    .filter(isObject)
    .filter((each) => each.type === type);
}

/** A later row over an earlier one: its numbers win, its nulls and gaps do not. */
export function mergeNative(earlier: JsonObject | undefined, later: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...earlier };
  for (const key of Object.keys(later)) {
    const value = later[key];
    if (value !== null && value !== undefined && key !== "__proto__") merged[key] = value;
  }
  return merged;
}

/**
 * OpenAI, both APIs, and compatible servers: the input already includes cached tokens. Some count reasoning beside the
 * output; the sum shows it.
 */
export function openaiUsage(native: JsonObject): Usage {
  const ins = native.input_tokens_details ?? native.prompt_tokens_details;
  const outs = native.output_tokens_details ?? native.completion_tokens_details;
  const input = count(native.input_tokens ?? native.prompt_tokens);
  const output = count(native.output_tokens ?? native.completion_tokens);
  const reasoning = count(part(outs, "reasoning_tokens") ?? native.reasoning_tokens);
  const isBeside = reasoning > output || input + output + reasoning === count(native.total_tokens);
  const cached = [part(ins, "cached_tokens"), native.prompt_cache_hit_tokens, native.cached_tokens];
  const written = [part(ins, "cache_write_tokens"), part(ins, "cache_creation_tokens")];
  return {
    input,
    cacheRead: Math.max(...[...cached, native.cache_read_input_tokens].map(count)),
    cacheWrite: Math.max(...[...written, native.cache_creation_input_tokens].map(count)),
    output: isBeside ? output + reasoning : output,
    reasoning,
  };
}

/** One turn's share of a counter that continues over turns. A counter that went back has restarted. */
export function usageSince(total: Usage, before: Usage | undefined): Usage {
  if (before === undefined || total.input < before.input || total.output < before.output) return total;
  const { input, cacheRead, cacheWrite, output, reasoning } = subtractUsage(total, before);
  const share = (tokens: number) => Math.max(0, tokens);
  return {
    input: share(input),
    cacheRead: share(cacheRead),
    cacheWrite: share(cacheWrite),
    output: share(output),
    reasoning: share(reasoning),
  };
}

/** The same for costs, without floating-point noise. */
export function costSince(total: number, before: number | undefined): number {
  if (before === undefined || total < before) return total;
  return Math.round((total - before) * 1e10) / 1e10;
}

export function isSameUsage(a: Usage, b: Usage | undefined): boolean {
  if (b === undefined || a.input !== b.input || a.output !== b.output) return false;
  return a.cacheRead === b.cacheRead && a.cacheWrite === b.cacheWrite && a.reasoning === b.reasoning;
}

export function isZero(usage: Usage): boolean {
  return usage.input === 0 && usage.output === 0;
}

/** The price of a million tokens, in US dollars. Cached prices default to the price of plain input. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** Keyed by model name; a key that ends in `*` prices every model with that prefix. The user's, never ours. */
export type PriceTable = Readonly<Record<string, Price>>;

/** Undefined where the table has no price for the model: an unknown cost is not a cost of zero. */
export function costUsd(usage: Usage, model: string, table: PriceTable): number | undefined {
  const price = priceOf(model, table);
  if (price === undefined) return undefined;
  const plain = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const total =
    plain * price.input +
    usage.cacheRead * (price.cacheRead ?? price.input) +
    usage.cacheWrite * (price.cacheWrite ?? price.input) +
    usage.output * price.output;
  return total / 1_000_000;
}

function priceOf(model: string, table: PriceTable): Price | undefined {
  if (Object.hasOwn(table, model)) return table[model];
  const prefixes = Object.keys(table).filter(
    (key) => key.endsWith("*") && model.startsWith(key.slice(0, -1)),
  );
  const longest = prefixes.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : table[longest];
}

/** A token count to store: whole and not negative, whatever was received. Some servers send theirs as text. */
export function count(value: Json | undefined): number {
  if (typeof value === "string") return wholeOf(value) ?? 0;
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

function part(details: Json | undefined, name: string): Json | undefined {
  return isObject(details) ? details[name] : undefined;
}
