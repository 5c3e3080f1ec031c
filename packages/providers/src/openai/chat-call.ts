/**
 * The tool calls of a choice of Chat Completions. Pieces are joined by their index; where a server leaves indexes or ids out, by id
 * and by order. Text and thinking are chat.ts.
 */

import type { BlockEvent, BlockKey, JsonObject } from "@blockyard/kernel";
import { cutCall } from "../call.ts";
import { isObject, parseJson } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, objectOf, wholeOf, wordsOf } from "../read.ts";
import { compactParams } from "../row.ts";
import { type ChatCall, type ChatState, type Choice, type Completion, choiceLabel } from "./chat-state.ts";
import { blockMetadata, nextKey } from "./turn.ts";

/** One piece of a call. `inThisChunk`: the calls that the same chunk has touched already. */
export function growCall(
  completion: Completion,
  choice: Choice,
  native: JsonObject,
  inThisChunk: Set<ChatCall>,
): readonly BlockEvent[] {
  const body = isObject(native.function) ? native.function : objectOf(native.custom);
  const call = callOf(choice, native, body, inThisChunk);
  inThisChunk.add(call);
  call.id = call.id ?? wordsOf(native.id);
  call.name = call.name ?? wordsOf(body.name);
  call.isPlain = call.isPlain || isObject(native.custom);
  const text = inputText(body);
  call.input += text;
  // Without a name there is nothing to show yet; its input waits for it.
  if (call.key === undefined) return call.name === undefined ? [] : openCall(completion, choice, call);
  return text === "" ? [] : [{ type: "block-append", key: call.key, text }];
}

function inputText(body: JsonObject): string {
  const said = body.arguments ?? body.input;
  return typeof said === "string" ? said : isObject(said) ? JSON.stringify(said) : "";
}

/** The call that a piece belongs to. */
function callOf(
  choice: Choice,
  native: JsonObject,
  body: JsonObject,
  inThisChunk: ReadonlySet<ChatCall>,
): ChatCall {
  const index = wholeOf(native.index);
  const isBare = wordsOf(native.id) === undefined && wordsOf(body.name) === undefined;
  // A piece that could begin no call continues the last one, despite a wrong index.
  const byIndex = index === undefined ? undefined : choice.byIndex.get(index);
  const known = byIndex ?? (index === undefined || isBare ? choice.calls.at(-1) : undefined);
  const same = known === undefined ? undefined : sameCall(choice, known, native, body, inThisChunk);
  if (same !== undefined) return same;
  const call: ChatCall = { key: undefined, id: undefined, name: undefined, isPlain: false, input: "" };
  choice.calls.push(call);
  if (index !== undefined) choice.byIndex.set(index, call);
  return call;
}

/** The call at this place, unless the piece belongs to another one or begins one. */
function sameCall(
  choice: Choice,
  known: ChatCall,
  native: JsonObject,
  body: JsonObject,
  inThisChunk: ReadonlySet<ChatCall>,
): ChatCall | undefined {
  const id = wordsOf(native.id);
  const hasIndex = wholeOf(native.index) !== undefined;
  if (id === undefined) {
    // With an index, a name may also be repeated with every piece, the last of which is empty.
    const isNew = beginsCall(known, body, inThisChunk) && (!hasIndex || inputText(body).trim() !== "");
    return isNew ? undefined : known;
  }
  if (known.id === id) return known;
  // Some servers number every call 0 and tell them apart by id alone; some make up an id for every piece.
  const byId = choice.calls.find((call) => call.id === id);
  if (byId !== undefined) return byId;
  const isNew = known.id === undefined ? !hasIndex : wordsOf(body.name) !== undefined;
  return isNew ? undefined : known;
}

/** Without an id, and with the index of another call or none, a name begins a call if the last one is complete. */
function beginsCall(last: ChatCall, body: JsonObject, inThisChunk: ReadonlySet<ChatCall>): boolean {
  if (wordsOf(body.name) === undefined || last.name === undefined) return false;
  return inThisChunk.has(last) || parseJson(last.input, bounds.inputDepth) !== undefined;
}

function openCall(completion: Completion, choice: Choice, call: ChatCall): readonly BlockEvent[] {
  const key = nextKey(completion.turn);
  call.key = key;
  return [
    {
      type: "block-start",
      key,
      kind: "tool_call",
      role: "model",
      metadata: blockMetadata(completion.turn, {
        toolUseId: call.id ?? key,
        toolName: call.name ?? "function",
        ...choiceLabel(choice),
      }),
    },
    ...(call.input === "" ? [] : [{ type: "block-append", key, text: call.input } as const]),
  ];
}

export function closeCall(
  state: ChatState,
  completion: Completion,
  choice: Choice,
  call: ChatCall,
  how: "done" | "interrupted" | "cut",
): readonly BlockEvent[] {
  const started = call.key === undefined ? openCall(completion, choice, call) : [];
  const key = call.key as BlockKey;
  if (how === "interrupted") return [...started, cutCall(key)];
  const isEmpty = call.input.trim() === "";
  const input = call.isPlain ? call.input : isEmpty ? {} : parseJson(call.input, bounds.inputDepth);
  if (input === undefined || how === "cut") {
    const error =
      input === undefined
        ? "The input of this call is incomplete JSON"
        : "The answer hit its length limit inside this call";
    const metadata = { error, success: false };
    return [...started, { type: "block-end", key, status: "error", reason: "truncated", metadata }];
  }
  const metadata = { stage: "running", input, ...given({ compactParams: compactParams(input) }) };
  return [
    ...started,
    ...(isEmpty && !call.isPlain ? [{ type: "block-append", key, text: "{}" } as const] : []),
    { type: "block-meta", key, metadata },
    ...(state.runsTools ? [] : [{ type: "block-meta", key, metadata: { waiting: "result" } } as const]),
  ];
}
