/**
 * Results of the tools that read and change files: code without line numbers, real unified diffs.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { languageOf } from "../language.ts";
import { given, listOf, numberOf, objectOf, plural, textOf, wholeOf } from "../read.ts";
import { type ChangeKind, type Hunk, joinDiffs, unifiedDiff } from "../unified-diff.ts";
import { contentOf, linesRow, type Outcome, plain, type Show, type Shown, type Told } from "./outcome.ts";

/** Read. The payload says which kind of file it was. */
export const readOutcome: Show = (told) => {
  if (told.isError) return undefined;
  const payload = objectOf(told.payload);
  const file = objectOf(payload.file);
  switch (payload.type) {
    case "text":
      return codeOutcome(told, file);
    case "image":
      return imageOutcome(told, file);
    case "notebook":
      return notebookOutcome(told, file);
    case undefined:
      return numberedOutcome(told);
    default:
      return fileFactsOutcome(told, payload, file);
  }
};

function codeOutcome(told: Told, file: JsonObject): Outcome {
  const text = textOf(file.content) ?? "";
  return code(text, {
    ...place(textOf(file.filePath) ?? textOf(told.input.file_path)),
    ...given({ startLine: count(file.startLine), totalLines: count(file.totalLines) }),
    ...(file.truncatedByTokenCap === true ? { result: { truncatedByTokenCap: true } } : {}),
  });
}

/** Without a payload: the numbered lines that the model was given. */
function numberedOutcome(told: Told): Outcome | undefined {
  const content = contentOf(told.content);
  if (content.images.length > 0) return imageOutcome(told, {});
  const bare = withoutNumbers(content.text);
  if (bare === undefined) return undefined;
  return code(bare.text, { ...place(textOf(told.input.file_path)), startLine: bare.startLine });
}

const TAB = 9;
const SPACE = 32;
const ARROW = 0x2192;

/** `     1→text` or `1\ttext` on every line, counting up; undefined where the text is not numbered so. */
export function withoutNumbers(
  text: string,
): { readonly text: string; readonly startLine: number } | undefined {
  const bare: string[] = [];
  let startLine = -1;
  for (let from = 0; from <= text.length; ) {
    let at = from;
    while (text.charCodeAt(at) === SPACE) at++;
    let number = 0;
    const digits = at;
    for (let code = text.charCodeAt(at); code >= 48 && code <= 57; code = text.charCodeAt(++at)) {
      number = number * 10 + code - 48;
    }
    const mark = text.charCodeAt(at);
    if (at === digits || (mark !== TAB && mark !== ARROW)) return undefined;
    if (startLine < 0) startLine = number;
    if (number !== startLine + bare.length) return undefined;
    const end = text.indexOf("\n", at);
    bare.push(text.slice(at + 1, end < 0 ? undefined : end));
    if (end < 0) break;
    from = end + 1;
  }
  return startLine < 0 ? undefined : { text: bare.join("\n"), startLine };
}

function code(text: string, metadata: JsonObject): Outcome {
  return {
    blocks: [{ kind: "code", text, metadata }],
    failed: false,
    short: text === "" ? "empty" : linesRow(text),
  };
}

function place(path: string | undefined): JsonObject {
  if (path === undefined) return {};
  return given({ filename: path, language: languageOf(path) }) as JsonObject;
}

function imageOutcome(told: Told, file: JsonObject): Outcome {
  const shown = contentOf(told.content).images[0];
  const dimensions = objectOf(file.dimensions);
  const metadata = given({
    mediaType: textOf(file.type) ?? textOf(shown?.mediaType),
    data: textOf(file.base64) ?? textOf(shown?.data),
    width: count(dimensions.originalWidth ?? dimensions.width),
    height: count(dimensions.originalHeight ?? dimensions.height),
  });
  const path = textOf(told.input.file_path) ?? "";
  return {
    blocks: [{ kind: "image", text: path, metadata: metadata as JsonObject }],
    failed: false,
    short: "image",
    images: [given({ data: metadata.data, mediaType: metadata.mediaType }) as JsonObject],
  };
}

/** A notebook as the percent format shows it: one heading a cell. */
function notebookOutcome(told: Told, file: JsonObject): Outcome {
  const cells = listOf(file.cells).map(objectOf);
  const text = cells.map(cellText).join("\n\n");
  const path = textOf(file.filePath) ?? textOf(told.input.file_path);
  const language = cells.map((cell) => textOf(cell.language)).find((name) => name !== undefined);
  const { images } = contentOf(told.content);
  return {
    ...code(
      text,
      given({
        filename: path,
        language: language ?? "python",
        images: images.length === 0 ? undefined : images,
      }) as JsonObject,
    ),
    short: plural(cells.length, "cell"),
    images,
  };
}

function cellText(cell: JsonObject): string {
  const source = Array.isArray(cell.source) ? cell.source.join("") : (textOf(cell.source) ?? "");
  const name = textOf(cell.cell_id) ?? textOf(cell.id);
  const heading = [
    `# %% [${textOf(cell.cellType) ?? textOf(cell.cell_type) ?? "code"}]`,
    ...(name === undefined ? [] : [name]),
  ];
  const outputs = listOf(cell.outputs)
    .map((output) => textOf(objectOf(output).text) ?? "")
    .filter((text) => text !== "");
  const result =
    outputs.length === 0
      ? []
      : [
          "# output:",
          ...outputs
            .join("\n")
            .split("\n")
            .map((line) => `# ${line}`),
        ];
  return [heading.join(" "), source, ...result].join("\n");
}

/** PDFs, files in parts, files that have not changed: the words, and the facts without the bytes. */
function fileFactsOutcome(told: Told, payload: JsonObject, file: JsonObject): Outcome {
  const { base64: _, ...facts } = file;
  return plain({ ...told, payload: { type: payload.type ?? null, file: facts } });
}

// ---------------------------------------------------------------------------------------------------------------------
// Changes.

/** Edit, Write, MultiEdit. */
export const changeOutcome: Show = (told) => {
  if (told.isError) return undefined;
  const payload = objectOf(told.payload);
  const path = textOf(payload.filePath) ?? textOf(told.input.file_path);
  if (path === undefined) return undefined;
  if (!isObject(told.payload)) return changeFromInput(told, path);
  const kind = payload.type === "create" || payload.originalFile === "" ? "add" : "modify";
  const after = textOf(payload.content) ?? textOf(payload.newString) ?? "";
  const source = kind === "add" ? { before: "", after } : modification(payload);
  if (source === undefined) return changeFromInput(told, path);
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

export const notebookEditOutcome: Show = (told) => {
  const payload = objectOf(told.payload);
  const path = textOf(payload.notebook_path) ?? textOf(told.input.notebook_path);
  if (told.isError || path === undefined) return undefined;
  const error = textOf(payload.error);
  if (error !== undefined && error !== "") return { ...plain({ ...told, isError: true }), error };
  const before = textOf(payload.original_file);
  const after = textOf(payload.updated_file);
  const diff = before === undefined || after === undefined ? undefined : unifiedDiff(path, { before, after });
  const outcome = changes([change(path, "modify", diff)]);
  return diff === undefined ? withText(outcome, contentOf(told.content).text) : outcome;
};

/** Old versions give no payload: what the input and the words allow. */
function changeFromInput(told: Told, path: string): Outcome {
  const said = contentOf(told.content).text;
  if (told.toolName === "Write") {
    const isNew = /created/i.test(said);
    const after = textOf(told.input.content) ?? "";
    const diff = isNew ? unifiedDiff(path, { before: "", after }, "add") : undefined;
    const outcome = changes([change(path, isNew ? "add" : "modify", diff)]);
    return diff === undefined ? withText(outcome, said) : outcome;
  }
  const diff = diffFromSnippet(path, told.input, said);
  const outcome = changes([change(path, "modify", diff)]);
  return diff === undefined ? withText(outcome, said) : outcome;
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

interface Change {
  readonly path: string;
  readonly kind: ChangeKind;
  readonly diff?: string;
}

function change(path: string, kind: ChangeKind, diff: string | undefined): Change {
  return diff === undefined ? { path, kind } : { path, kind, diff };
}

function changes(list: readonly Change[], left: JsonObject = {}): Outcome {
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

function withText(outcome: Outcome, text: string): Outcome {
  return { ...outcome, blocks: outcome.blocks.map((block) => ({ ...block, text })) };
}

function count(value: Json | undefined): number | undefined {
  const number = wholeOf(value);
  return number === undefined || number < 0 ? undefined : number;
}
