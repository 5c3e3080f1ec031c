/**
 * read, write and edit: files of the workspace as `code` and `file_change` blocks. What has changed is shown as a diff of
 * what was really there.
 */

import { isProblem } from "@blockyard/kernel";
import {
  askedText,
  editedFile,
  languageOf,
  lineCount,
  type Outcome,
  overwrittenFile,
  unifiedDiff,
} from "@blockyard/providers";
import { z } from "zod";
import { READ_FILE_CHARS, READ_LINES } from "../limits.ts";
import { failed, loopTool } from "./tool.ts";
import type { Place, Workspace } from "./workspace.ts";

const path = z.string().min(1).max(4_096).describe("Path relative to the workspace root");
const text = z.string().max(8 * 1024 * 1024);

export const readTool = loopTool({
  name: "read",
  description: `Read a text file of the workspace, at most ${READ_LINES} lines at a time.`,
  input: z.strictObject({
    path,
    offset: z.number().int().min(1).optional().describe("The first line to read, from 1"),
    limit: z.number().int().min(1).max(READ_LINES).optional().describe("How many lines"),
  }),
  async run({ path: asked, offset = 1, limit = READ_LINES }, { workspace }) {
    const place = await workspace.place(asked);
    if (isProblem(place)) return failed(place);
    const whole = await workspace.read(place);
    if (whole === undefined) return failed(`${place.name} does not exist`);
    if (isProblem(whole)) return failed(whole);
    const lines = whole.split(/(?<=\n)/);
    if (offset > Math.max(1, lines.length))
      return failed(`${place.name} has ${lines.length} lines; there is no line ${offset}`);
    const shown = lines.slice(offset - 1, offset - 1 + limit).join("");
    const language = languageOf(place.name);
    return {
      failed: false,
      shortResult: lineCount(shown),
      result: {
        kind: "code",
        text: shown,
        metadata: {
          filename: place.name,
          ...(language === undefined ? {} : { language }),
          startLine: offset,
          totalLines: lines.length,
        },
      },
    };
  },
});

export const writeTool = loopTool({
  name: "write",
  description:
    "Write a whole text file in the workspace: create it or replace its content. To change parts of it, use edit.",
  input: z.strictObject({ path, content: text }),
  diff: ({ path: asked, content }) => askedText(overwrittenFile(asked, content)),
  async run({ path: asked, content }, { workspace }) {
    const place = await workspace.place(asked);
    if (isProblem(place)) return failed(place);
    const before = await workspace.read(place);
    if (isProblem(before)) return failed(before);
    return change(workspace, place, before, content);
  },
});

export const editTool = loopTool({
  name: "edit",
  description:
    "Replace text in a file. old_text must match the file exactly and occur only once, unless " +
    "replace_all is true.",
  input: z.strictObject({
    path,
    old_text: text.min(1),
    new_text: text,
    replace_all: z.boolean().default(false),
  }),
  // From the input alone: a file that is guarded is not read to ask for it.
  diff: ({ path: asked, old_text: before, new_text: after }) =>
    askedText(editedFile(asked, [{ before, after }])),
  async run({ path: asked, old_text, new_text, replace_all }, { workspace }) {
    const place = await workspace.place(asked);
    if (isProblem(place)) return failed(place);
    const before = await workspace.read(place);
    if (before === undefined) return failed(`${place.name} does not exist; create it with write`);
    if (isProblem(before)) return failed(before);
    const times = countOf(before, old_text);
    if (times === 0) return failed(notThere(place.name, before, old_text));
    if (times > 1 && !replace_all)
      return failed(
        `old_text occurs ${times} times in ${place.name}: include more context, or set replace_all`,
      );
    // Before it is built: a replacement for a letter that occurs a million times may be a page long.
    const chars = before.length + times * (new_text.length - old_text.length);
    if (chars > READ_FILE_CHARS)
      return failed(`${place.name} would have ${chars} characters; the limit is ${READ_FILE_CHARS}`);
    return change(
      workspace,
      place,
      before,
      before.replaceAll(old_text, () => new_text),
    );
  },
});

function countOf(text: string, part: string): number {
  let times = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) times++;
  return times;
}

function notThere(name: string, before: string, old: string): string {
  const first = old
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");
  const near =
    first === undefined ? -1 : before.split("\n").findIndex((line) => line.trim().startsWith(first));
  const hint =
    near === -1 ? "read it again" : `line ${near + 1} looks like its beginning: check spaces and line ends`;
  return `old_text is not in ${name}; ${hint}`;
}

async function change(
  workspace: Workspace,
  place: Place,
  before: string | undefined,
  after: string,
): Promise<Outcome> {
  if (before === after) return failed(`${place.name} already has this content; nothing was written`);
  const refused = await workspace.write(place, after, before);
  if (refused) return failed(refused);
  const kind = before === undefined ? "add" : "modify";
  const diff = unifiedDiff(place.name, { before: before ?? "", after }, kind);
  const changes = [{ path: place.name, kind, diff }];
  const count = (sign: string) => diff.split("\n").filter((line) => line.startsWith(sign)).length - 1;
  return {
    failed: false,
    shortResult: before === undefined ? `new, ${lineCount(after)}` : `+${count("+")} −${count("-")}`,
    result: { kind: "file_change", text: diff, metadata: { changes } },
  };
}
