/**
 * What comes of a tool call, in the forms that several providers share: a checklist, changed files, a row for an
 * output. Providers differ in where they keep these things, not in how a reader should see them.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { PatchChange } from "./apply-patch.ts";
import type { Outcome } from "./call.ts";
import { given, plural } from "./read.ts";
import { cutRow, lineCount } from "./row.ts";
import { joinDiffs } from "./unified-diff.ts";

export interface TodoItem {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly id?: string;
}

/** A cancelled step is off the list as much as a completed one. */
export function todoStatus(status: Json | undefined): TodoItem["status"] {
  if (status === "completed" || status === "cancelled") return "completed";
  return status === "in_progress" ? status : "pending";
}

export function todoOutcome(items: readonly TodoItem[]): Outcome {
  const metadata = { items: items.map((item) => ({ ...item })) };
  return {
    result: { kind: "todo", text: checklist(items), metadata },
    failed: false,
    shortResult: todoRow(items),
  };
}

export function checklist(items: readonly TodoItem[]): string {
  return items.map((item) => `- [${item.status === "completed" ? "x" : " "}] ${item.content}`).join("\n");
}

/** `3/5 done`. */
export function todoRow(items: readonly TodoItem[]): string {
  return `${items.filter((item) => item.status === "completed").length}/${items.length} done`;
}

/** Changed files; `said` is the tool's other text for the model. */
export function changesOutcome(changes: readonly PatchChange[], said?: string): Outcome {
  const metadata: JsonObject = given({
    changes: changes.map((change) => ({ ...change })),
    result: said || undefined,
  });
  return {
    result: { kind: "file_change", text: joinDiffs(changes.map((change) => change.diff)), metadata },
    failed: false,
    shortResult: plural(changes.length, "file"),
  };
}

/** The row text of an output: the line, if there is only one. */
export function outputRow(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "no output";
  return trimmed.includes("\n") ? lineCount(trimmed) : cutRow(trimmed);
}
