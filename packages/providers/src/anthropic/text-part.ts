/**
 * Texts of a message that come in parts: a cited answer is a content block for each passage, and one text for a reader
 * (see cited-text.ts). A text that has stopped is held open until something that is no text follows.
 */

import type { BlockEvent, JsonObject } from "@blockyard/kernel";
import { addCitation, addText, endPart, nextPart, type TextPart } from "../cited-text.ts";
import { isObject } from "../framing/json.ts";
import { listOf } from "../read.ts";
import {
  type ContentPlace,
  closeContent,
  endFirstPart,
  interruptContent,
  type OpenContent,
  openContent,
  stringOf,
} from "./content.ts";

/** A message's texts. */
export interface PartedMessage {
  /** A text that has stopped: the next text may be part of it. */
  held: OpenContent | undefined;
  /** The text before it, with the API's index of it. */
  part: (TextPart & { readonly index: number }) | undefined;
  /** Content blocks so far: parts count too. */
  blocks: number;
  /** The position of the next block. */
  readonly placeOf: (index: number) => ContentPlace;
}

export function startTextPart(
  message: PartedMessage,
  index: number,
  block: JsonObject,
): readonly BlockEvent[] {
  const held = message.held as OpenContent;
  message.part = { ...nextPart(held.whole), index };
  const text = growTextPart(message, message.part, { type: "text_delta", text: block.text ?? "" }) ?? [];
  const citations = listOf(block.citations).flatMap(
    (citation) =>
      growTextPart(message, message.part as TextPart, { type: "citations_delta", citation }) ?? [],
  );
  return [...text, ...citations];
}

/** Undefined for a delta that is not text. */
export function growTextPart(
  message: PartedMessage,
  part: TextPart,
  delta: JsonObject,
): readonly BlockEvent[] | undefined {
  const key = (message.held as OpenContent).place.key;
  if (delta.type !== "text_delta" && delta.type !== "citations_delta") return undefined;
  const text =
    delta.type === "text_delta"
      ? addText(part, stringOf(delta.text) ?? "")
      : isObject(delta.citation)
        ? addCitation(part, delta.citation)
        : "";
  return text === "" ? [] : [{ type: "block-append", key, text }];
}

/** The part is complete: it belongs to the previous text, or is a text of its own, which the next one may continue. */
export function endTextPart(message: PartedMessage): readonly BlockEvent[] {
  const { part, held } = message;
  if (part === undefined || held === undefined) return [];
  message.part = undefined;
  if (endPart(held.whole, part)) {
    message.blocks++;
    return [];
  }
  const before = release(message);
  const started = openContent(message.placeOf(part.index), { type: "text", text: part.text });
  if (started === undefined) return before;
  message.blocks++;
  endFirstPart(started.open);
  message.held = started.open;
  return [...before, ...started.events];
}

/** Nothing more will be part of the text that has stopped. */
export function release(message: PartedMessage): readonly BlockEvent[] {
  const { held } = message;
  message.held = undefined;
  return held === undefined ? [] : closeContent(held);
}

/** The stream was cut: a held part goes to the end of the previous text. */
export function cutText(message: PartedMessage): readonly BlockEvent[] {
  const { held, part } = message;
  message.held = undefined;
  message.part = undefined;
  if (held === undefined) return [];
  if (part === undefined) return closeContent(held);
  const [end] = interruptContent(held);
  return end?.type === "block-end" ? [{ ...end, text: held.whole.text + part.text }] : [];
}
