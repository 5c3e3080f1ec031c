/**
 * A block as a model reads it: a tool's result as text, an included block with its origin. Always made from the current
 * block, so that an edited result is what the next request contains.
 */

import type { Block, Kind, WholeBlock } from "@blockyard/kernel";
import { fileText } from "../attachments.ts";
import { oneLine } from "../voices.ts";
import type { Picture } from "./exchange.ts";
import { RESULT_CHARS } from "./limits.ts";

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** One result block, as the model reads it. */
export function resultText(block: WholeBlock): string {
  return RESULT_TEXTS[block.kind](block);
}

const ownText = ({ text }: WholeBlock): string => cutMiddle(text);

const RESULT_TEXTS: Readonly<Record<Kind, (block: WholeBlock) => string>> = {
  text: ownText,
  thinking: ownText,
  tool_call: ownText,
  tool_result: ownText,
  code: (block) => [place(block), cutMiddle(block.text)].filter(isSaid).join("\n"),
  command: (block) => [cutMiddle(block.text), block.metadata.stderr, ending(block)].filter(isSaid).join("\n"),
  file_change: ownText,
  todo: ownText,
  image: (block) =>
    pictureOf(block) === undefined ? `[an image: ${block.text || "without a description"}]` : "",
  file: ownText,
  error: ownText,
  unknown: ownText,
};

/** A block of elsewhere, with where it comes from. */
export function includedText(block: WholeBlock): string {
  const { id, kind, metadata } = block;
  const name = metadata.path ?? metadata.filename ?? metadata.command;
  return `Included: block ${id} (${kind}${typeof name === "string" ? ` ${oneLine(name)}` : ""})\n\n${cutMiddle(block.text)}`;
}

/** A file that came along with a prompt: whole, because somebody wanted it to be read. */
export function attachedText({ metadata, text }: WholeBlock): string {
  const { filename } = metadata;
  return fileText({ name: typeof filename === "string" ? filename : "without a name", text });
}

/** The picture itself, where the block holds one that models take. */
export function pictureOf({ kind, metadata }: Block): Picture | undefined {
  const { data, mediaType } = metadata;
  if (kind !== "image" || typeof data !== "string" || typeof mediaType !== "string") return undefined;
  return PICTURES.has(mediaType) ? { mediaType, data } : undefined;
}

/** Its beginning and its end, and how much lies between. */
export function cutMiddle(text: string, most: number = RESULT_CHARS): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const head = text.slice(0, half).toWellFormed();
  const tail = text.slice(-half).toWellFormed();
  return `${head}\n[… ${text.length - 2 * half} characters left out …]\n${tail}`;
}

function ending({ metadata }: Block): string {
  if (metadata.interrupted === true) return "[stopped before it finished]";
  const code = metadata.exitCode;
  return typeof code === "number" && code !== 0 ? `[exit code ${code}]` : "";
}

function place({ metadata, newlines }: Block): string {
  const { startLine: start, totalLines: total } = metadata;
  if (typeof start !== "number" || typeof total !== "number") return "";
  const isWhole = start <= 1 && newlines + 1 >= total;
  return isWhole ? "" : `[from line ${start} of ${total}]`;
}

function isSaid(text: unknown): text is string {
  return typeof text === "string" && text.trim() !== "";
}
