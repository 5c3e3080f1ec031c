/**
 * Text and thinking of a response: content parts, refusals, annotations, reasoning summaries and raw reasoning.
 *
 * A part is one block. It ends with its part or with its item, whichever says so first, and what is repeated then adds
 * nothing.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, listOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { type Item, itemOf, type Part, type Response } from "./response-state.ts";
import { citationsOf, startBlock, unknownIn } from "./turn.ts";

//
type TextType = "output_text" | "refusal" | "audio";

function partName(event: JsonObject): string {
  return String(wholeOf(event.content_index) ?? 0);
}

/** An ended part that is written to again continues as a block of its own: nothing is dropped. */
function openText(
  response: Response,
  item: Item,
  name: string,
  type: TextType,
): [Part, readonly BlockEvent[]] {
  const known = item.parts.get(name);
  if (known !== undefined) return [known, []];
  const own = type === "refusal" ? { notice: "refusal" } : type === "audio" ? { label: "audio" } : {};
  const start = startBlock(response.turn, "text", own);
  const part: Part = { key: start.key, chars: 0, annotations: [], section: 0 };
  item.parts.set(name, part);
  return [part, [start]];
}

export function addPart(response: Response, event: JsonObject): readonly BlockEvent[] {
  const native = objectOf(event.part);
  if (native.type !== "output_text" && native.type !== "refusal") return [];
  const item = itemOf(response, event, "message");
  const [part, started] = openText(response, item, partName(event), native.type);
  return [...started, ...append(part, textOf(native.text) ?? textOf(native.refusal) ?? "")];
}

export function growText(response: Response, event: JsonObject, type: TextType): readonly BlockEvent[] {
  const item = itemOf(response, event, "message");
  const [part, started] = openText(response, item, type === "audio" ? "audio" : partName(event), type);
  response.hasTranscript ||= type === "audio";
  return [...started, ...append(part, textOf(event.delta) ?? "")];
}

/** The whole text: for servers that send it without deltas, or where some were lost. */
export function settleText(
  response: Response,
  event: JsonObject,
  type: TextType,
  text: Json | undefined,
): readonly BlockEvent[] {
  const item = itemOf(response, event, "message");
  const [part, started] = openText(response, item, partName(event), type);
  const said = textOf(text) ?? "";
  if (part.chars === 0) return [...started, ...append(part, said)];
  if (said !== "" && said.length !== part.chars) part.whole = said;
  return started;
}

export function annotate(response: Response, event: JsonObject): readonly BlockEvent[] {
  const item = itemOf(response, event, "message");
  const [part, started] = openText(response, item, partName(event), "output_text");
  if (isObject(event.annotation)) part.annotations = [...part.annotations, event.annotation];
  return started;
}

export function donePart(response: Response, event: JsonObject): readonly BlockEvent[] {
  const native = objectOf(event.part);
  if (native.type !== "output_text" && native.type !== "refusal") return [];
  const item = itemOf(response, event, "message");
  if (item.ended.has(partName(event))) return [];
  const [part, started] = openText(response, item, partName(event), native.type);
  closePart(item, partName(event));
  return [...started, endPart(part, "done", native)];
}

export function doneMessage(response: Response, item: Item, native: JsonObject): readonly BlockEvent[] {
  const events: BlockEvent[] = [];
  listOf(native.content).forEach((content, i) => {
    const part = objectOf(content);
    if (item.ended.has(String(i))) return;
    if (part.type === "output_audio") {
      events.push(...spoken(response, item, String(i), textOf(part.transcript)));
      return;
    }
    if (part.type !== "output_text" && part.type !== "refusal") {
      events.push(...unknownIn(response.turn, content, `content_part/${textOf(part.type) ?? "(no type)"}`));
      return;
    }
    const [open, started] = openText(response, item, String(i), part.type);
    const said = textOf(part.text) ?? textOf(part.refusal) ?? "";
    events.push(...started, ...(open.chars === 0 ? append(open, said) : []), endPart(open, "done", part));
    closePart(item, String(i));
  });
  for (const part of item.parts.values()) events.push(endPart(part, "done", {}));
  item.parts.clear();
  return events;
}

/** Shown by its transcript, which may have come in pieces before. */
function spoken(
  response: Response,
  item: Item,
  index: string,
  transcript: string | undefined,
): readonly BlockEvent[] {
  const name = item.parts.has("audio") ? "audio" : index;
  const [part, started] = openText(response, item, name, "audio");
  response.hasTranscript = true;
  const said = part.chars === 0 ? append(part, transcript || "[audio]") : [];
  closePart(item, name);
  item.ended.add(index);
  return [...started, ...said, endPart(part, "done", given({ text: transcript || undefined }))];
}

/** Ended once: what repeats it later says nothing new. */
function closePart(item: Item, name: string): void {
  item.parts.delete(name);
  item.ended.add(name);
}

export function endPart(part: Part, how: "done" | "interrupted", native: JsonObject): BlockEvent {
  const text = textOf(native.text) ?? textOf(native.refusal) ?? part.whole;
  const annotations = listOf(native.annotations).length > 0 ? listOf(native.annotations) : part.annotations;
  const metadata = citationsOf(annotations, text);
  return {
    type: "block-end",
    key: part.key,
    status: how === "done" ? "done" : "error",
    ...given({
      reason: how === "done" ? undefined : how,
      text: text === undefined || text.length === part.chars ? undefined : text,
      metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    }),
  };
}

function append(part: Part, text: string): readonly BlockEvent[] {
  if (text === "") return [];
  part.chars += text.length;
  return [{ type: "block-append", key: part.key, text }];
}

/** Summary and raw reasoning are two texts: the first of them takes the block that the item opened. */
type ThinkingName = "summary" | "content";

export function openThinking(response: Response, item: Item, name: ThinkingName): readonly BlockEvent[] {
  const start = startBlock(response.turn, "thinking", item.id === "" ? {} : { extra: { itemId: item.id } });
  item.parts.set(name, { key: start.key, chars: 0, annotations: [], section: 0 });
  return [start];
}

export function growThinking(
  response: Response,
  event: JsonObject,
  name: ThinkingName,
  delta: Json | undefined,
): readonly BlockEvent[] {
  const item = itemOf(response, event, "reasoning");
  const section = wholeOf(event.summary_index) ?? wholeOf(event.content_index) ?? 0;
  return think(response, item, name, section, textOf(delta) ?? "");
}

/** One section whole: for servers that send it without deltas. */
export function settleThinking(
  response: Response,
  event: JsonObject,
  name: ThinkingName,
): readonly BlockEvent[] {
  const item = itemOf(response, event, "reasoning");
  const section = wholeOf(event.summary_index) ?? wholeOf(event.content_index) ?? 0;
  const part = item.parts.get(name);
  const isSaid = part !== undefined && part.chars > 0 && part.section >= section;
  return isSaid ? [] : think(response, item, name, section, textOf(event.text) ?? "");
}

function think(
  response: Response,
  item: Item,
  name: ThinkingName,
  section: number,
  text: string,
): readonly BlockEvent[] {
  if (text === "") return [];
  const untouched = item.parts.get("summary");
  if (name === "content" && untouched !== undefined && untouched.chars === 0) {
    item.parts.delete("summary");
    item.parts.set("content", untouched);
  }
  const started = item.parts.has(name) ? [] : openThinking(response, item, name);
  const part = item.parts.get(name) as Part;
  const gap = section !== part.section && part.chars > 0 ? "\n\n" : "";
  part.section = section;
  return [...started, ...append(part, gap + text)];
}

export function doneReasoning(response: Response, item: Item, native: JsonObject): readonly BlockEvent[] {
  const events: BlockEvent[] = [];
  for (const [name, list] of [
    ["summary", native.summary],
    ["content", native.content],
  ] as const) {
    if ((item.parts.get(name)?.chars ?? 0) > 0) continue;
    const texts = listOf(list).map((part) => textOf(objectOf(part).text) ?? "");
    // Servers that have one kind of reasoning may stream it under one name, and repeat it under the other.
    const chars = texts.join("\n\n").length;
    if ([...item.parts.values()].some((part) => part.chars === chars)) continue;
    texts.forEach((text, i) => {
      events.push(...think(response, item, name, i, text));
    });
  }
  if (item.parts.size === 0) events.push(...openThinking(response, item, "summary"));
  let opaque = wordsOf(native.encrypted_content);
  for (const [name, part] of item.parts) {
    const isThinking = name === "summary" || name === "content";
    const metadata = opaque === undefined || !isThinking ? undefined : { opaque };
    events.push({ type: "block-end", key: part.key, status: "done", ...given({ metadata }) });
    if (isThinking) opaque = undefined;
  }
  item.parts.clear();
  return events;
}
