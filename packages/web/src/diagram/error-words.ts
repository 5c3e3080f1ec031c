/** Mermaid's errors about a source that it cannot draw, in words for the reader: which line, and its text. */
import { ERROR_CHARS, ERROR_MESSAGE_CHARS } from "./limits.ts";

export function inPlainWords(message: string, source: string): string {
  return `Couldn't draw the diagram: ${reason(message.slice(0, ERROR_MESSAGE_CHARS), source)}.`;
}

function reason(message: string, source: string): string {
  if (/No diagram type detected|UnknownDiagramError/i.test(message)) return unknownKind(source);
  if (/too many edges|maxEdges|call stack|text size/i.test(message)) return "it is too large";
  const line = Number(/\bline:? (\d+)/i.exec(message)?.[1]);
  if (line > 0) return unreadable(source.trimEnd().split("\n"), line);
  const [first = ""] = message.replace(/^\w*Error:\s*/, "").split("\n");
  return cut(first.trim().replace(/\.$/, "")) || "Mermaid does not say why";
}

function unknownKind(source: string): string {
  const first = source
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "" && !line.startsWith("%%"));
  return first === undefined ? "it is empty" : `“${cut(first)}” is not a supported diagram type`;
}

function unreadable(lines: readonly string[], line: number): string {
  const there = lines[line - 1]?.trim();
  if (there) return `line ${line} can't be read: “${cut(there)}”`;
  const last = lines.at(-1)?.trim();
  return last && line > lines.length
    ? `it ends too early, after “${cut(last)}”`
    : `line ${line} can't be read`;
}

function cut(text: string): string {
  return text.length > ERROR_CHARS ? `${text.slice(0, ERROR_CHARS)}…` : text;
}
