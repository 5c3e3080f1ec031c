/**
 * The costs of real runs of Claude Code: the tokens and dollars that its results state, once, whatever ran in the
 * background. The report is the one that the page and the command show.
 */
import {
  type CostRow,
  Cursors,
  callTool,
  inlineMatcher,
  isProblem,
  Kernel,
  MemoryStore,
} from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { expect, it } from "vitest";
import { bytesOf, type Recording, streams } from "../../../../test/recordings.ts";
import { nodeEnv } from "../system/env.ts";
import { StreamIngest } from "./ingest-stream.ts";

async function totalOf(recording: Recording): Promise<CostRow> {
  const kernel = new Kernel(nodeEnv, new MemoryStore("m"));
  const conversation = await kernel.createConversation("ann", "");
  const provider = providers.get(recording.provider);
  if (isProblem(conversation) || !provider) throw new Error(recording.provider);
  const stream = new StreamIngest(kernel, { conversation, agent: "claude", provider });
  await stream.open();
  await stream.push(bytesOf(recording));
  await stream.end();
  const caller = { agent: "ann", role: "owner" } as const;
  const onFault = (_: string, error: unknown) => {
    throw error;
  };
  const call = { kernel, caller, matcher: inlineMatcher(() => 0), cursors: new Cursors(kernel), onFault };
  const report = await callTool(call, "cost.report", {});
  if (isProblem(report)) throw new Error(report.message);
  return (report as unknown as { readonly total: CostRow }).total;
}

/** The numbers of all results that state the usage since the last one. */
function statedIn(recording: Recording): { input: number; output: number; cost: number } | undefined {
  const sum = { input: 0, output: 0, cost: 0 };
  let results = 0;
  let stating = 0;
  for (const line of new TextDecoder().decode(bytesOf(recording)).split("\n")) {
    const record = line === "" ? {} : JSON.parse(line);
    const said = record.dir === "out" && record.line.startsWith("{") ? JSON.parse(record.line) : record;
    if (said.type !== "result") continue;
    results++;
    const models = said.model_usage_since_last_result;
    if (models === undefined) continue;
    stating++;
    // biome-ignore lint/suspicious/noExplicitAny: what the CLI states is looked at field by field
    for (const model of Object.values<any>(models)) {
      sum.input += model.inputTokens + model.cacheReadInputTokens + model.cacheCreationInputTokens;
      sum.output += model.outputTokens;
      sum.cost += model.costUSD;
    }
  }
  return results > 0 && stating === results ? sum : undefined;
}

const stating = streams.flatMap((recording) => {
  const stated = recording.provider.startsWith("claude") ? statedIn(recording) : undefined;
  return stated === undefined ? [] : [[recording.name, recording, stated] as const];
});

it("there are such recordings, with agents in the background among them", () => {
  expect(stating.length).toBeGreaterThan(100);
  expect(stating.some(([name]) => name.includes("background-agent"))).toBe(true);
});

it.each(stating)("[T91] [C30] %s: the report has what its results state", async (_, recording, stated) => {
  const { cost_usd, input, output, uncounted } = await totalOf(recording);
  expect(cost_usd ?? 0).toBeCloseTo(stated.cost, 7);
  // No result contains a cut answer, but its input tokens are known.
  if (uncounted === 0) expect([input, output]).toEqual([stated.input, stated.output]);
  else expect([input >= stated.input, output >= stated.output]).toEqual([true, true]);
});
