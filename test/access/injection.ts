/**
 * [R39] Every payload in every string field of every tool, on every transport: a marker file must never appear. With
 * `share` below 1 each combination is tried on a part of the transports, so that all of them are met in turn.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem, type Json } from "@blockyard/kernel";
import { TestHarness } from "./harness.ts";
import { inputOf, stringPlaces, withValue } from "./inputs.ts";
import { shellPayloads } from "./payloads.ts";
import { allTransports } from "./transports.ts";

export interface Injected {
  readonly fields: number;
  readonly payloads: number;
  readonly calls: number;
  /** Answers by problem code; `answered` for those without one. */
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** Every `stride`-th combination of field, payload and transport, from the first one on. */
export async function inject(stride: number): Promise<Injected> {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-marker-"));
  const marker = join(folder, "marker");
  const agent = join(folder, "agent");
  // An agent that does nothing: what matters is how it is started.
  writeFileSync(agent, "#!/bin/sh\nexit 0\n");
  chmodSync(agent, 0o755);
  const before = { ...process.env };
  process.env["BLOCKYARD_CLAUDE"] = agent;
  process.env["BLOCKYARD_CODEX"] = agent;
  const harness = await TestHarness.start();
  try {
    return await injectAll(harness, marker, stride);
  } finally {
    await harness.stop();
    for (const name of ["BLOCKYARD_CLAUDE", "BLOCKYARD_CODEX"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

async function injectAll(harness: TestHarness, marker: string, stride: number): Promise<Injected> {
  const { conversation = "" } = await harness.call("conversation.create", { title: "x" });
  const made = { conversation, kind: "text", role: "user", content: "one\ntwo\n" };
  const { block_id = "" } = await harness.call("block.create", made);
  const known: Record<string, Json> = {
    conversation,
    block_id,
    parent_id: block_id,
    metadata: {},
    wait_ms: 0,
  };
  const transports = await allTransports(harness, harness.owner);
  const payloads = shellPayloads(marker);
  const schemas = harness.running.tools.schemas().filter(({ streams }) => !streams);
  const places = schemas.flatMap((schema) => stringPlaces(schema).map((path) => ({ schema, path })));
  const answers: Record<string, number> = {};
  const failures: string[] = [];
  let at = 0;
  let calls = 0;
  for (const { schema, path } of places) {
    const valid = inputOf(schema, known);
    for (const payload of payloads) {
      for (const transport of transports) {
        if (at++ % stride !== 0) continue;
        const answer = await transport.call(schema.name, withValue(valid, path, payload));
        calls++;
        const code = isProblem(answer) ? answer.problem : "answered";
        answers[code] = (answers[code] ?? 0) + 1;
        if (code === "unavailable" && !schema.name.startsWith("turn."))
          failures.push(
            `${transport.name} ${schema.name} ${path.join(".")} failed inside: ${JSON.stringify(payload)}`,
          );
      }
      if (existsSync(marker)) {
        failures.push(`${schema.name} ${path.join(".")}: ${JSON.stringify(payload)} made the marker`);
        rmSync(marker);
      }
    }
  }
  for (const transport of transports) await transport.close();
  await harness.running.tools.turns.close();
  if (existsSync(marker)) failures.push("the marker appeared at the end");
  return { fields: places.length, payloads: payloads.length, calls, answers, failures };
}
