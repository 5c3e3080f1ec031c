/**
 * Unknown tool items: an item that has a status, and a tool's name or form. Shown as a call with its result, under its
 * own name; any other item stays unknown.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { Outcome } from "../call.ts";
import { outputRow } from "../outcome.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { compactParams, rowOf } from "../row.ts";

export interface OtherTool {
  readonly type: "other";
  readonly name: string;
  readonly input: JsonObject;
  readonly output: Json | undefined;
  readonly error: string | undefined;
  readonly status: "running" | "done" | "failed" | "denied";
}

const NAMED = /(call|use|tool|execution|search|fetch|view|generation)$/i;
const WRITTEN = ["tool", "arguments", "command", "query", "url"] as const;
const RESULTS = ["output", "result", "results", "error", "aggregated_output", "aggregatedOutput"] as const;
const FACTS: ReadonlySet<string> = new Set(["id", "type", "item_type", "status", ...RESULTS]);

export function readOther(item: JsonObject, status: OtherTool["status"]): OtherTool | undefined {
  const type = textOf(item.type) ?? textOf(item.item_type) ?? "";
  const isTool = NAMED.test(type) || WRITTEN.some((name) => item[name] !== undefined);
  if (wordsOf(item.status) === undefined || !isTool) return undefined;
  const said = RESULTS.filter((name) => name !== "error").map((name) => item[name]);
  return {
    type: "other",
    name: textOf(item.tool) ?? type.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    input: Object.fromEntries(Object.entries(item).filter(([name]) => !FACTS.has(name))),
    output: said.find((value) => value !== undefined && value !== null),
    error: wordsOf(item.error) ?? wordsOf(objectOf(item.error).message),
    status,
  };
}

export function otherFace({ name, input }: OtherTool): {
  readonly toolName: string;
  readonly input: JsonObject;
  readonly compactParams?: string | undefined;
} {
  return { toolName: name, input, compactParams: compactParams(input) };
}

export function otherOutcome(item: OtherTool): Outcome {
  const failed = item.status === "failed" || item.status === "denied";
  const text = item.error ?? spoken(item.output);
  const row = { shortResult: failed ? "failed" : outputRow(text ?? ""), input: item.input };
  const how = { failed, reason: item.status === "denied" ? ("denied" as const) : undefined };
  if (text === undefined) return { ...how, ...row };
  const metadata = given({ isError: failed ? true : undefined }) as JsonObject;
  return {
    ...{ ...how, ...row },
    result: { kind: "tool_result", text, metadata },
    error: failed ? (rowOf(text) ?? "failed") : undefined,
  };
}

function spoken(output: Json | undefined): string | undefined {
  if (output === undefined) return undefined;
  const parts = listOf(objectOf(output).content ?? output).map((part) => textOf(objectOf(part).text));
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts.join("\n");
  return textOf(output) ?? JSON.stringify(output, null, 2);
}
