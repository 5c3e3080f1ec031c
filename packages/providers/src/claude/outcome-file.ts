/**
 * Results of the tools that read files: code without line numbers, pictures, notebooks. What changes files is in
 * outcome-change.ts.
 */

import { type Json, type JsonObject, jsonText } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { languageOf } from "../language.ts";
import { given, listOf, objectOf, plural, textOf, wholeOf } from "../read.ts";
import { contentOf, linesRow, type Outcome, plain, type Show, type ToolReport } from "./outcome.ts";

/** Read. The payload states the kind of file. */
export const readOutcome: Show = (report) => {
  if (report.isError) return undefined;
  if (Array.isArray(report.payload)) return notebookOutcome(report, { cells: report.payload });
  const payload = objectOf(report.payload);
  const file = objectOf(payload.file);
  switch (payload.type) {
    case "text":
      return codeOutcome(report, file);
    case "image":
      return imageOutcome(report, file);
    case "notebook":
      return notebookOutcome(report, file);
    case undefined:
      if (typeof payload.content === "string" || typeof file.content === "string")
        return codeOutcome(report, isObject(payload.file) ? file : payload);
      return numberedOutcome(report);
    default:
      return fileFactsOutcome(report, payload, file);
  }
};

function codeOutcome(report: ToolReport, file: JsonObject): Outcome {
  const text = textOf(file.content) ?? "";
  return code(text, {
    ...place(textOf(file.filePath) ?? textOf(file.file_path) ?? pathOf(report)),
    ...given({ startLine: count(file.startLine), totalLines: count(file.totalLines) }),
    ...(file.truncatedByTokenCap === true ? { result: { truncatedByTokenCap: true } } : {}),
  });
}

/** Without a payload: the model's text, a picture, the cells of a notebook or numbered lines. */
function numberedOutcome(report: ToolReport): Outcome | undefined {
  const content = contentOf(report.content);
  const isPicture = content.images.length > 0;
  if (isPicture && content.text.trim() === "") return imageOutcome(report, {});
  const cells = cellsIn(content.text);
  if (cells.length > 0) return notebookOutcome(report, { cells });
  const path = pathOf(report);
  // Of an empty file there is only a reminder.
  if (content.text === "" && !isPicture && report.content !== undefined) return code("", place(path));
  const bare = isPicture ? undefined : withoutNumbers(content.text);
  return bare === undefined ? undefined : code(bare.text, { ...place(path), startLine: bare.startLine });
}

function pathOf({ input }: ToolReport): string | undefined {
  return textOf(input.file_path) ?? textOf(input.notebook_path);
}

const CELL = /<cell(?: id="([^"]*)"| (\d+))>([\s\S]*?)<\/cell(?: id="[^"]*"| \d+)>/g;
const CELL_FACT = /^<(cell_type|language)>([^<]*)<\/\1>/;

/** `<cell id="a"><cell_type>markdown</cell_type>…</cell id="a">`, in sequence, each followed by its output. */
function cellsIn(text: string): JsonObject[] {
  if (!/^\s*<cell[ >]/.test(text)) return [];
  const found = [...text.matchAll(CELL)];
  return found.map((match, i) => {
    const [whole, name, number, body = ""] = match;
    const facts: Record<string, string> = {};
    let source = body;
    for (let fact = CELL_FACT.exec(source); fact !== null; fact = CELL_FACT.exec(source)) {
      facts[fact[1] as string] = fact[2] as string;
      source = source.slice(fact[0].length);
    }
    const output = text.slice(match.index + whole.length, found[i + 1]?.index).replace(/^\n+/, "");
    return given({
      ...facts,
      source,
      cell_id: name ?? number,
      outputs: output.trim() === "" ? undefined : [{ text: output }],
    }) as JsonObject;
  });
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

function imageOutcome(report: ToolReport, file: JsonObject): Outcome {
  const shown = contentOf(report.content).images[0];
  const dimensions = objectOf(file.dimensions);
  const metadata = given({
    mediaType: textOf(file.type) ?? textOf(shown?.mediaType),
    data: textOf(file.base64) ?? textOf(shown?.data),
    width: count(dimensions.originalWidth ?? dimensions.width),
    height: count(dimensions.originalHeight ?? dimensions.height),
  });
  const path = pathOf(report) ?? "";
  return {
    blocks: [{ kind: "image", text: path, metadata: metadata as JsonObject }],
    failed: false,
    short: "image",
    images: [given({ data: metadata.data, mediaType: metadata.mediaType }) as JsonObject],
  };
}

/** A notebook as the percent format shows it: one heading a cell. */
function notebookOutcome(report: ToolReport, file: JsonObject): Outcome {
  const cells = listOf(file.cells).map(objectOf);
  const text = cells.map(cellText).join("\n\n");
  const path = textOf(file.filePath) ?? pathOf(report);
  const language = cells.map((cell) => textOf(cell.language)).find((name) => name !== undefined);
  const { images } = contentOf(report.content);
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
  const source = Array.isArray(cell.source)
    ? cell.source.map(jsonText).join("")
    : (textOf(cell.source) ?? "");
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
function fileFactsOutcome(report: ToolReport, payload: JsonObject, file: JsonObject): Outcome {
  const { base64: _, ...facts } = file;
  return plain({ ...report, payload: { type: payload.type ?? null, file: facts } });
}

function count(value: Json | undefined): number | undefined {
  const number = wholeOf(value);
  return number === undefined || number < 0 ? undefined : number;
}
