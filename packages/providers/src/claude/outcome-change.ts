/**
 * Results of the tools that change files: real unified diffs. From the payload's hunks if there are any; below
 * sub-agents and in old versions, which have none, from the call's input, marked as such.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { PatchChange } from "../apply-patch.ts";
import { askedText, editedFile, newFile, overwrittenFile } from "../edit-diff.ts";
import { isObject } from "../framing/json.ts";
import { given, listOf, numberOf, objectOf, textOf } from "../read.ts";
import {
  type ChangeKind,
  type Hunk,
  hunksOf as hunksOfTexts,
  joinDiffs,
  unifiedDiff,
} from "../unified-diff.ts";
import { contentOf, type Outcome, type Show, type Shown, type ToolReport } from "./outcome.ts";
import { withoutNumbers } from "./outcome-file.ts";

/** Edit, Write, MultiEdit. */
export const changeOutcome: Show = (report) => {
  if (report.isError) return undefined;
  const payload = objectOf(report.payload);
  const path = textOf(payload.filePath) ?? textOf(payload.file_path) ?? textOf(report.input.file_path);
  if (path === undefined) return undefined;
  if (!isObject(report.payload)) return changeFromInput(report, path);
  const kind = payload.type === "create" || payload.originalFile === "" ? "add" : "modify";
  const after = textOf(payload.content) ?? textOf(payload.newString) ?? textOf(report.input.content) ?? "";
  const source = kind === "add" ? { before: "", after } : modification(payload);
  if (source === undefined)
    return changeFromInput({ ...report, input: { ...report.input, ...payload } }, path);
  const left = given({
    userModified: payload.userModified === true ? true : undefined,
    staged: payload.staged,
  });
  return changes([change(path, kind, unifiedDiff(path, source, kind))], left as JsonObject);
};

/** The hunks; where there are none, the file before and after. */
function modification(payload: JsonObject): readonly Hunk[] | { before: string; after: string } | undefined {
  if (Array.isArray(payload.structuredPatch)) return hunksOf(payload.structuredPatch);
  const before = textOf(payload.originalFile);
  const from = textOf(payload.oldString);
  const to = textOf(payload.newString);
  if (before === undefined) return undefined;
  if (from === undefined || to === undefined || from === "") {
    const after = textOf(payload.content);
    return after === undefined ? undefined : { before, after };
  }
  const pieces = before.split(from);
  if (pieces.length === 1) return undefined;
  const [first = "", ...rest] = pieces;
  return { before, after: payload.replaceAll === true ? pieces.join(to) : [first, rest.join(from)].join(to) };
}

export const notebookEditOutcome: Show = (report) => {
  const payload = objectOf(report.payload);
  const path = textOf(payload.notebook_path) ?? textOf(report.input.notebook_path);
  if (report.isError || path === undefined) return undefined;
  const before = textOf(payload.original_file);
  const after = textOf(payload.updated_file);
  if (before !== undefined && after !== undefined)
    return changes([change(path, "modify", unifiedDiff(path, { before, after }))]);
  const source = textOf(payload.new_source) ?? textOf(report.input.new_source) ?? "";
  const mode = textOf(payload.edit_mode) ?? textOf(report.input.edit_mode);
  // A cell has no lines of the file's own: what it holds now is all that can be shown.
  const cell = mode === "delete" || source === "" ? { path, kind: "modify" as const } : newCell(path, source);
  return changes([cell], saidInstead(cell, contentOf(report.content).text));
};

function newCell(path: string, source: string): PatchChange {
  const [hunk] = hunksOfTexts({ before: "", after: source.endsWith("\n") ? source : `${source}\n` });
  if (hunk === undefined) return { path, kind: "modify" };
  return { path, kind: "modify", diff: unifiedDiff(path, [{ ...hunk, newStart: 0 }]), unverified: true };
}

/** What a call that asks for leave would change, where its input says all of it. */
export function askedDiff(toolName: string, input: JsonObject): string | undefined {
  const path = textOf(input.file_path);
  if (path === undefined || !["Edit", "MultiEdit", "Write"].includes(toolName)) return undefined;
  const content = textOf(input.content);
  if (toolName === "Write" && content === undefined) return undefined;
  return askedText(toolName === "Write" ? overwrittenFile(path, content as string) : edited(input, path, ""));
}

/** Without a payload (sub-agents, old versions): what the input and the words allow. Words are never shown as a diff. */
function changeFromInput(report: ToolReport, path: string): Outcome {
  const said = contentOf(report.content).text;
  const changed =
    report.toolName === "Write" ? writtenFile(report, path, said) : edited(report.input, path, said);
  return changes([changed], saidInstead(changed, said));
}

function writtenFile(report: ToolReport, path: string, said: string): PatchChange {
  const content = textOf(report.input.content);
  const isNew = /\bcreated (?:successfully|at)\b|\bfile created\b/i.test(
    (said.split("\n", 1)[0] ?? "").replace(path, ""),
  );
  if (content === undefined) return { path, kind: isNew ? "add" : "modify" };
  return isNew ? newFile(path, content) : overwrittenFile(path, content);
}

function edited(input: JsonObject, path: string, said: string): PatchChange {
  const diff = diffFromSnippet(path, input, said);
  if (diff !== undefined) return { path, kind: "modify", diff };
  const asked = Array.isArray(input.edits) ? listOf(input.edits).map(objectOf) : [input];
  return editedFile(
    path,
    asked.flatMap((edit) => {
      const before = textOf(edit.old_string) ?? textOf(edit.oldString);
      const after = textOf(edit.new_string) ?? textOf(edit.newString);
      return before === undefined || after === undefined ? [] : [{ before, after }];
    }),
  );
}

/** The tool's own sentence, kept where nothing else tells what was done. */
function saidInstead(changed: PatchChange, said: string): JsonObject {
  return changed.diff === undefined && said.trim() !== "" ? { message: said } : {};
}

/** An Edit whose place in the file can be read from the numbered lines that were shown to the model. */
function diffFromSnippet(path: string, input: JsonObject, said: string): string | undefined {
  const before = textOf(input.old_string);
  const after = textOf(input.new_string);
  if (before === undefined || after === undefined || input.replace_all === true || after === "")
    return undefined;
  const start = said.search(/^[ \t]*\d+(?:\t|→)/m);
  const snippet = start < 0 ? undefined : withoutNumbers(said.slice(start).replace(/^\n/, ""));
  const at = snippet === undefined ? -1 : snippet.text.indexOf(after);
  if (snippet === undefined || at < 0) return undefined;
  const head = snippet.text.slice(0, at);
  const lineStart = head.lastIndexOf("\n") + 1;
  const tail = snippet.text.slice(at + after.length).split("\n")[0] ?? "";
  const whole = (middle: string): string[] => `${head.slice(lineStart)}${middle}${tail}`.split("\n");
  const line = snippet.startLine + head.split("\n").length - 1;
  const removed = whole(before);
  const added = whole(after);
  const hunk: Hunk = {
    oldStart: line,
    oldLines: removed.length,
    newStart: line,
    newLines: added.length,
    lines: [...removed.map((text) => `-${text}`), ...added.map((text) => `+${text}`)],
  };
  return unifiedDiff(path, [hunk]);
}

/** Files that a shell command has changed. */
export function shellChanges(bashEditDiff: Json | undefined): Shown | undefined {
  const files = listOf(objectOf(bashEditDiff).files).map(objectOf);
  const changed = files.flatMap((file) => {
    const path = textOf(file.filePath);
    if (path === undefined) return [];
    const hunks = hunksOf(file.hunks);
    const kind: ChangeKind = file.deleted === true ? "delete" : isCreation(file, hunks) ? "add" : "modify";
    return [change(path, kind, unifiedDiff(path, hunks, kind))];
  });
  return changed.length === 0 ? undefined : changes(changed).blocks[0];
}

function isCreation(file: JsonObject, hunks: readonly Hunk[]): boolean {
  const [first] = hunks;
  return file.created === true || (hunks.length === 1 && first?.oldStart === 0 && first.oldLines === 0);
}

function hunksOf(patch: Json | undefined): readonly Hunk[] {
  return listOf(patch).map((value) => {
    const hunk = objectOf(value);
    return {
      oldStart: numberOf(hunk.oldStart) ?? 1,
      oldLines: numberOf(hunk.oldLines) ?? 0,
      newStart: numberOf(hunk.newStart) ?? 1,
      newLines: numberOf(hunk.newLines) ?? 0,
      lines: listOf(hunk.lines).filter((line): line is string => typeof line === "string"),
    };
  });
}

function change(path: string, kind: ChangeKind, diff: string): PatchChange {
  return { path, kind, diff };
}

function changes(list: readonly PatchChange[], left: JsonObject = {}): Outcome {
  const text = joinDiffs(list.map((each) => each.diff));
  const metadata: JsonObject = {
    changes: list.map((each) => ({ ...each })),
    ...(Object.keys(left).length === 0 ? {} : { result: left }),
  };
  return { blocks: [{ kind: "file_change", text, metadata }], failed: false, short: changeRow(text) };
}

/** `+3 −1`. */
function changeRow(diff: string): string {
  let added = 0;
  let removed = 0;
  for (const line of diff.split("\n")) {
    if (line.startsWith("+") && !line.startsWith("+++ ")) added++;
    if (line.startsWith("-") && !line.startsWith("--- ")) removed++;
  }
  if (added === 0 && removed === 0) return "changed";
  return [added > 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""]
    .filter((part) => part !== "")
    .join(" ");
}
