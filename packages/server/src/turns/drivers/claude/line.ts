/** What is read in single lines of Claude Code, besides the blocks that they become. */

import type { Json, JsonObject } from "@blockyard/kernel";
import { parseJson } from "@blockyard/providers";

/** Where a session can be cut: after the model's own output, not below one of its sub-agents. */
export function cutAt({ uuid, parent_tool_use_id: parent, message }: JsonObject): string | undefined {
  const isOwn = (parent ?? null) === null && objectOf(message)["model"] !== "<synthetic>";
  return isOwn && typeof uuid === "string" ? uuid : undefined;
}

/** An ask is answered by the name of its request. */
export function nameOf(line: JsonObject): string | undefined {
  const id = line["request_id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** A reached limit; undefined if it is not reached. */
export function limitIn(line: JsonObject): { readonly resetsAt?: number } | undefined {
  const { status, resetsAt } = objectOf(line["rate_limit_info"]);
  if (status !== "rejected") return undefined;
  return typeof resetsAt === "number" ? { resetsAt: resetsAt * 1_000 } : {};
}

/** What a result reports as spent since the last one. */
export function costIn(line: JsonObject): number {
  const models = Object.values(objectOf(line["model_usage_since_last_result"]));
  const costs = models.map((model) => objectOf(model)["costUSD"]);
  return costs.reduce<number>((sum, cost) => sum + (typeof cost === "number" ? cost : 0), 0);
}

export function parsed(line: string): JsonObject | undefined {
  const value = parseJson(line);
  return value === undefined ? undefined : objectOf(value);
}

export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
