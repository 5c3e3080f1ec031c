/**
 * What Claude Code tells of itself: its commands, models, mode, context and background tasks. Asking makes no request to the model.
 */

import { isProblem, type Json, type JsonObject, type Problem } from "@blockyard/kernel";
import type { ContextUsage, Offers } from "../../driver.ts";
import { modeOf } from "./message.ts";
import { type ClaudePeer, objectOf } from "./peer.ts";

export async function offersOf(peer: ClaudePeer): Promise<Offers | Problem> {
  const told = await peer.request("initialize");
  if (isProblem(told)) return told;
  const context = await peer.request("get_context_usage", { detail: "summary" });
  const { commands, models, current_permission_mode: mode } = told as JsonObject;
  if (typeof mode === "string") peer.mode = mode;
  return {
    mode: modeOf(peer.mode),
    model: peer.model,
    tasks: peer.tasks,
    commands: listOf(commands).map(({ name, description, argumentHint }) => ({
      ...{ name: String(name), description: String(description ?? "") },
      ...(typeof argumentHint === "string" && argumentHint !== "" ? { hint: argumentHint } : {}),
    })),
    models: listOf(models).map(({ value, displayName, description, supportedEffortLevels }) => ({
      ...{ id: String(value), name: String(displayName ?? value) },
      ...(typeof description === "string" ? { description } : {}),
      ...(Array.isArray(supportedEffortLevels) ? { efforts: supportedEffortLevels.map(String) } : {}),
    })),
    usage: isProblem(context) ? undefined : usageOf(context as JsonObject),
  };
}

function usageOf({ totalTokens, maxTokens, categories }: JsonObject): ContextUsage | undefined {
  if (typeof totalTokens !== "number" || typeof maxTokens !== "number") return undefined;
  const parts = listOf(categories).flatMap(({ name, tokens }) =>
    typeof tokens === "number" ? [{ name: String(name), tokens }] : [],
  );
  return { usedTokens: totalTokens, windowTokens: maxTokens, parts };
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((each) => objectOf(each as Json)) : [];
}
