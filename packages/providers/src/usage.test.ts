/** Tokens and money, on the shapes that the wire has. */
import { addUsage, type JsonObject, NO_USAGE, type Usage } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import {
  anthropicBill,
  anthropicUsage,
  costSince,
  costUsd,
  mergeNative,
  openaiUsage,
  usageSince,
} from "./usage.ts";

const usage = (input: number, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0): Usage => ({
  input,
  cacheRead,
  cacheWrite,
  output,
  reasoning,
});

it.each<[JsonObject, Usage]>([
  [
    {
      input_tokens: 12,
      cache_creation_input_tokens: 2048,
      cache_read_input_tokens: 11264,
      output_tokens: 64,
    },
    usage(13324, 64, 11264, 2048),
  ],
  [
    { input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 1 } },
    usage(1, 2, 0, 0, 1),
  ],
  [{}, NO_USAGE],
  [{ input_tokens: null, output_tokens: {}, cache_read_input_tokens: -3 }, NO_USAGE],
  [{ input_tokens: "12", output_tokens: "5", cache_read_input_tokens: "0" }, usage(12, 5)],
  [{ input_tokens: "", output_tokens: "-5", cache_read_input_tokens: "1e3" }, NO_USAGE],
  [{ input_tokens: " 7", output_tokens: "1,000", cache_read_input_tokens: "9".repeat(16) }, NO_USAGE],
])("[P25] Anthropic %j", (native, expected) => expect(anthropicUsage(native)).toEqual(expected));

it("[P25] a compaction is counted beside its message, and is on the same bill", () => {
  const iterations = [
    { type: "compaction", input_tokens: 180, output_tokens: 35, cache_read_input_tokens: 20 },
    { type: "message", input_tokens: 23, output_tokens: 10 },
  ];
  expect(anthropicBill({ input_tokens: 23, output_tokens: 10, iterations })).toEqual(usage(223, 45, 20));
  expect(anthropicBill({ input_tokens: 23, output_tokens: 10, iterations: null })).toEqual(usage(23, 10));
});

it.each<[JsonObject, Usage]>([
  [
    {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
    },
    usage(10, 5, 4, 1, 2),
  ],
  [
    { prompt_tokens: 812, completion_tokens: 58, prompt_tokens_details: { cached_tokens: 512 } },
    usage(812, 58, 512),
  ],
  [{ prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 8 }, usage(10, 1, 8)],
  [
    { prompt_tokens: "812", completion_tokens: "58", prompt_tokens_details: { cached_tokens: "512" } },
    usage(812, 58, 512),
  ],
  [{ prompt_tokens: 10, completion_tokens: 1, cached_tokens: 8 }, usage(10, 1, 8)],
  [
    { prompt_tokens: 10, completion_tokens: 1, cache_read_input_tokens: 8, cache_creation_input_tokens: 2 },
    usage(10, 1, 8, 2),
  ],
  // Reasoning beside the output: the sum shows it, or that there is more of it than output.
  [
    {
      ...{ prompt_tokens: 10, completion_tokens: 9, total_tokens: 24 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
    usage(10, 14, 0, 0, 5),
  ],
  [
    { prompt_tokens: 10, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 213 } },
    usage(10, 222, 0, 0, 213),
  ],
])("[P25] OpenAI %j", (native, expected) => expect(openaiUsage(native)).toEqual(expected));

it("[A4] a later row wins, its gaps do not", () => {
  expect(mergeNative({ a: 1, b: 2 }, { a: 5, b: null })).toEqual({ a: 5, b: 2 });
  expect(mergeNative(undefined, { a: 1 })).toEqual({ a: 1 });
});

describe("[P26] counters that continue", () => {
  it.each<[Usage, Usage | undefined, Usage]>([
    [usage(8400, 192, 6144), usage(4200, 96, 3072), usage(4200, 96, 3072)],
    [usage(10, 5), undefined, usage(10, 5)],
    [usage(10, 5), usage(100, 50), usage(10, 5)],
    [usage(20, 9, 3), usage(10, 5, 4), usage(10, 4, 0)],
  ])("%j after %j", (total, before, expected) => expect(usageSince(total, before)).toEqual(expected));

  it("money, without dust", () => {
    expect(costSince(0.3, 0.1)).toBe(0.2);
    expect(costSince(0.3, undefined)).toBe(0.3);
    expect(costSince(0.1, 0.3)).toBe(0.1);
  });

  it("shares add up to the total", () => {
    const first = usage(4200, 96, 3072, 10, 32);
    const total = usage(8400, 192, 6144, 20, 64);
    expect(addUsage(first, usageSince(total, first))).toEqual(total);
  });
});

it("[P27] costs come from the user's table only", () => {
  const table = {
    "claude-*": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    "claude-opus-*": { input: 5, output: 25 },
  };
  expect(costUsd(usage(1_100_000, 100_000, 800_000, 100_000), "claude-sonnet-5", table)).toBeCloseTo(
    0.6 + 0.24 + 0.375 + 1.5,
    10,
  );
  expect(costUsd(usage(1_000_000, 0, 500_000), "claude-opus-5", table)).toBe(5);
  expect(costUsd(usage(1), "gpt-5", table)).toBeUndefined();
  expect(costUsd(usage(1), "toString", {})).toBeUndefined();
});
