/**
 * Items of a conversation as the Responses API lists them: what people said, which no response says, and the order that the list
 * is in. What the model said goes the way of every item (responses.ts).
 */

import type { BlockEvent, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { imageOf } from "./chat-content.ts";
import { answers } from "./item.ts";
import type { Response } from "./response-state.ts";
import { startBlock, unknownIn } from "./turn.ts";

/** Whether an event is such a list. */
export function isItemList({ object, data }: JsonObject): boolean {
  const [first] = listOf(data);
  return object === "list" && isObject(first) && wordsOf(first.type) !== undefined;
}

/** The endpoint lists the latest first by default: an answer comes before its question. */
export function isBackward(items: readonly JsonObject[]): boolean {
  const calls = new Set<string>();
  for (const item of items) {
    const answered = answers(item);
    if (answered !== undefined && answered !== "") return !calls.has(answered);
    const id = wordsOf(item.call_id);
    if (id !== undefined) calls.add(id);
  }
  const roles = items.filter(({ type }) => type === "message").map(({ role }) => role);
  return calls.size === 0 && roles[0] === "assistant" && roles.at(-1) !== "assistant";
}

/** Text and images of a user, system or developer message, a block each. */
export function promptBlocks(response: Response, item: JsonObject): readonly BlockEvent[] {
  const role = item.role === "user" ? ("user" as const) : ("system" as const);
  const parts = typeof item.content === "string" ? [{ text: item.content }] : listOf(item.content);
  return parts.flatMap((part) => {
    const image = imageOf(part);
    const text = textOf(objectOf(part).text);
    if (image === undefined && text === undefined)
      return [
        ...unknownIn(response.turn, part, `content_part/${textOf(objectOf(part).type) ?? "(no type)"}`),
      ];
    const start = startBlock(response.turn, image === undefined ? "text" : "image", {
      ...image,
      ...(role === "system" ? { notice: "instructions" } : {}),
    });
    return [
      { ...start, role, ...(text === undefined ? {} : { text }) },
      { type: "block-end" as const, key: start.key, status: "done" as const },
    ];
  });
}
