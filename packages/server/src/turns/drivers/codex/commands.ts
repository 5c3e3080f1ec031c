/**
 * Slash commands of Codex over its app-server, which takes them as requests of their own: a prompt that begins with one starts it
 * instead of a turn. Everything else that begins with a slash is said to the model.
 */

import type { JsonObject } from "@blockyard/kernel";
import type { AgentCommand } from "../../driver.ts";

export interface CodexCommand {
  readonly method: string;
  params(thread: string): JsonObject;
}

export const CODEX_COMMANDS: readonly AgentCommand[] = [
  { name: "compact", description: "Summarize the conversation so far, to make room in the context" },
  {
    name: "review",
    description: "Review uncommitted changes in the workspace",
    hint: "what to look at",
  },
];

export function commandIn(prompt: string): CodexCommand | undefined {
  const [, name = "", words = ""] = /^\/(\w+)(?:\s+([\s\S]+))?$/.exec(prompt.trim()) ?? [];
  if (name === "compact" && words === "")
    return { method: "thread/compact/start", params: (threadId) => ({ threadId }) };
  if (name !== "review") return undefined;
  const instructions = words.trim();
  const target = instructions === "" ? { type: "uncommittedChanges" } : { type: "custom", instructions };
  return { method: "review/start", params: (threadId) => ({ threadId, target }) };
}
