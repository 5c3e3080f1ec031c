/**
 * How a tool's result is shown. Reports of sub-agents and answers of tools that search and fetch are Markdown; any
 * other tool's text is shown unchanged. Pictures are shown once, by the result if it has them.
 */

import type { Kind } from "../model/kind.ts";
import type { AnyMetadata, Metadata } from "../model/metadata.ts";

/** Tools by the names that their providers give them. */
const WRITERS: ReadonlySet<string> = new Set([
  // Claude Code
  "Agent",
  "Task",
  "ExitPlanMode",
  "WebFetch",
  "WebSearch",
  // Server tools
  "web_fetch",
  "web_search",
  // Codex
  "close_agent",
  "resume_agent",
  "send_input",
  "spawn_agent",
  "wait",
  "wait_agent",
  // opencode
  "task",
  "webfetch",
  "websearch",
  // Gemini CLI
  "codebase_investigator",
  "delegate_to_agent",
  "google_web_search",
]);

export function isMarkdownResult({ toolName, isError }: Pick<AnyMetadata, "toolName" | "isError">): boolean {
  return isError !== true && WRITERS.has(toolName ?? "");
}

const BOXES = { pending: "☐", in_progress: "◐", completed: "☑" } as const;

/** An item of a to-do list as one line of text. */
export function todoLine({ content, status, activeForm }: Metadata<"todo">["items"][number]): string {
  return `${BOXES[status]} ${status === "in_progress" ? (activeForm ?? content) : content}`;
}

/** Whether a result draws pictures itself: its call, which holds them once more, need not. */
export function showsPictures(kind: Kind, metadata: Pick<AnyMetadata, "images">): boolean {
  if (kind === "image") return true;
  return (kind === "tool_result" || kind === "code" || kind === "command") && metadata.images !== undefined;
}
