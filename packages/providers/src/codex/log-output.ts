/**
 * What a tool's output looks like in a rollout log, taken apart: the header that Codex writes for the model, the
 * output itself, images.
 *
 * Four forms, by version and tool: lines `Chunk ID … Process exited with code 0 … Output:`, lines `Exit code: 0 …
 * Output:`, an object `{output, metadata: {exit_code, duration_seconds}}` as a string, a list of parts. Anything else
 * is a plain text, and for tools that always have a header that means: it did not run.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject, parseObject } from "../framing/json.ts";
import { given, numberOf, objectOf, textOf, wholeOf } from "../read.ts";
import { imageOf } from "./outcome.ts";

export interface ToolOutput {
  readonly text: string;
  readonly images: readonly JsonObject[];
  /** It came with a header: the tool has run. */
  readonly hasRun: boolean;
  readonly exitCode?: number;
  readonly durationMs?: number;
  /** The process runs on, under this number. */
  readonly session?: string;
  readonly failed?: boolean;
  readonly aborted?: boolean;
}

const HEADER_LINE =
  /^(?:Chunk ID: \S*|Wall time:? [\d.]+ seconds|Exit code: -?\d+|Process exited with code -?\d+|Process running with session ID \S+|Original token count: \d+|Total output lines: \d+|Script (?:completed|failed|running\b.*))$/;

export function readOutput(output: Json | undefined): ToolOutput {
  if (Array.isArray(output)) return readParts(output as readonly Json[]);
  if (isObject(output)) {
    const inner = readOutput(output.content ?? output.body ?? output.output ?? "");
    return output.success === false ? { ...inner, failed: true } : inner;
  }
  return readText(textOf(output) ?? "");
}

function readText(text: string): ToolOutput {
  const wrapped = text.startsWith('{"output":') ? parseObject(text) : undefined;
  if (wrapped !== undefined && isObject(wrapped.metadata)) return readWrapped(wrapped);
  const parts = text.startsWith("[{") || text === "[]" ? partsOf(text) : undefined;
  if (parts !== undefined) return readParts(parts);
  const header = readHeader(text);
  if (header !== undefined) return header;
  const aborted = /^(?:Wall time: ([\d.]+) seconds\n)?(aborted by user.*)$/s.exec(text);
  if (aborted === null) return { text, images: [], hasRun: false };
  const durationMs = aborted[1] === undefined ? undefined : milliseconds(Number(aborted[1]));
  return { text: aborted[2] as string, images: [], hasRun: false, aborted: true, ...given({ durationMs }) };
}

function readWrapped(wrapped: JsonObject): ToolOutput {
  const metadata = objectOf(wrapped.metadata);
  return {
    text: (textOf(wrapped.output) ?? "").replace(/^Total output lines: \d+\n\n/, ""),
    images: [],
    hasRun: true,
    ...given({
      exitCode: wholeOf(metadata.exit_code),
      durationMs: milliseconds(numberOf(metadata.duration_seconds)),
    }),
  };
}

/** MCP's content parts, printed as JSON by some versions. */
function partsOf(text: string): readonly Json[] | undefined {
  const parts = parseObject(`{"parts":${text}}`)?.parts;
  const isContent =
    Array.isArray(parts) && parts.every((part: Json) => typeof objectOf(part).type === "string");
  return isContent ? (parts as readonly Json[]) : undefined;
}

function readParts(parts: readonly Json[]): ToolOutput {
  const images: JsonObject[] = [];
  let text = "";
  for (const part of parts) {
    const image = imageOf(objectOf(part));
    if (image !== undefined) {
      images.push(image);
      continue;
    }
    const piece = textOf(part) ?? textOf(objectOf(part).text) ?? JSON.stringify(part);
    text += text === "" || text.endsWith("\n") ? piece : `\n${piece}`;
  }
  return { ...(readHeader(text) ?? { text, hasRun: true }), images };
}

/** A line that a header may have in a version to come, among those that are known. */
const FACT_LINE = /^[A-Z][A-Za-z ]{2,40}: \S.*$/;

/** The lines down to `Output:`, if they form a header; a second header below is read too. */
function readHeader(text: string): ToolOutput | undefined {
  // 0.115 repeats the command before it, which may have lines of its own.
  let at = text.startsWith("Command: ") ? text.indexOf("\nChunk ID: ") + 1 : 0;
  const lines: string[] = [];
  while (lines.length < 8) {
    const newline = text.indexOf("\n", at);
    const line = text.slice(at, newline === -1 ? undefined : newline);
    if (line === "Output:" && lines.length > 0) {
      const rest = newline === -1 ? "" : text.slice(newline + 1);
      return { ...(readHeader(rest) ?? { text: rest, images: [], hasRun: true }), ...headerFields(lines) };
    }
    const isHeader = HEADER_LINE.test(line) || (lines.length > 0 && FACT_LINE.test(line));
    if (newline === -1 || !isHeader) return undefined;
    lines.push(line);
    at = newline + 1;
  }
  return undefined;
}

function headerFields(lines: readonly string[]): Partial<ToolOutput> {
  const find = (pattern: RegExp): string | undefined => {
    for (const line of lines) {
      const match = pattern.exec(line);
      if (match !== null) return match[1];
    }
    return undefined;
  };
  const exit = find(/^(?:Exit code:|Process exited with code) (-?\d+)$/);
  const seconds = find(/^Wall time:? ([\d.]+) seconds$/);
  return given({
    exitCode: exit === undefined ? undefined : Number(exit),
    durationMs: seconds === undefined ? undefined : milliseconds(Number(seconds)),
    session: find(/^Process running with session ID (\S+)$/),
    failed: lines.includes("Script failed") ? true : undefined,
  }) as Partial<ToolOutput>;
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined || !Number.isFinite(seconds) || seconds < 0
    ? undefined
    : Math.round(seconds * 1000);
}
