/** Records of a rollout log, made by hand for tests, and how they are read. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { expect } from "vitest";
import { type Folded, type FoldedBlock, fold } from "../../fold.ts";
import { logFile } from "../../log.ts";
import { importCodexLog } from "../log.ts";

export function eventsOf(
  records: readonly Json[],
  ...sidecars: readonly (readonly Json[])[]
): readonly BlockEvent[] {
  const text = (lines: readonly Json[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const main = logFile("main.jsonl", text(records));
  return importCodexLog(
    { main, sidecars: sidecars.map((lines, i) => logFile(`${i}.jsonl`, text(lines))) },
    "run",
  );
}

export function read(records: readonly Json[], ...sidecars: readonly (readonly Json[])[]): Folded {
  const folded = fold(eventsOf(records, ...sidecars));
  expect(folded.faults).toEqual([]);
  return folded;
}

export const meta = (id = "t1", more: JsonObject = {}): Json => ({
  type: "session_meta",
  payload: { id, cwd: "/w", cli_version: "0.1", ...more },
});
export const item = (payload: JsonObject, more: JsonObject = {}): Json => ({
  type: "response_item",
  payload,
  ...more,
});
export const event = (type: string, more: JsonObject = {}): Json => ({
  type: "event_msg",
  payload: { type, ...more },
});
export const done = (type: string, more: JsonObject): Json =>
  event("item_completed", { item: { type, ...more } });
export const said = (role: string, text: string, more: JsonObject = {}): Json =>
  item({
    type: "message",
    role,
    content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
    ...more,
  });
export const prompt = (text: string): Json => event("user_message", { message: text });
export const call = (name: string, input: JsonObject | string, id = "c1"): Json =>
  item({
    type: "function_call",
    name,
    arguments: typeof input === "string" ? input : JSON.stringify(input),
    call_id: id,
  });
export const output = (text: Json, id = "c1"): Json =>
  item({ type: "function_call_output", call_id: id, output: text });
export const tokens = (input: number, out: number): Json =>
  event("token_count", { info: { total_token_usage: { input_tokens: input, output_tokens: out } } });

export function shown(folded: Folded): (string | undefined)[][] {
  return folded.blocks.map(({ kind, role, text }) => [kind, role, text]);
}

export function result(folded: Folded): FoldedBlock {
  return folded.blocks.at(-1) as FoldedBlock;
}
