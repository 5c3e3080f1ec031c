/**
 * Tools that the server itself has run, from `executed_tools`: each a call with its result below it. A piece with a
 * known index continues its call; the output ends it.
 */

import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { cutCall, endCall } from "../call.ts";
import { parseJson } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, listOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { compactParams, rowOf } from "../row.ts";
import { type Choice, type Completion, choiceLabel, type ExecutedTool } from "./chat-state.ts";
import { blockMetadata, citationsOf, nextKey } from "./turn.ts";

export function takeExecuted(
  completion: Completion,
  choice: Choice,
  native: JsonObject,
): readonly BlockEvent[] {
  const index = wholeOf(native.index) ?? choice.executed.size;
  const known = choice.executed.get(index);
  if (known?.isEnded === true) return [];
  const [tool, started] = known === undefined ? open(completion, choice, native) : [known, []];
  choice.executed.set(index, tool);
  const output = native.output ?? native.result;
  if (output === undefined || output === null) return started;
  tool.isEnded = true;
  const text = textOf(output) ?? JSON.stringify(output);
  const results = native.search_results;
  const found = listOf(objectOf(results).results ?? results);
  const { citations } = citationsOf(found, undefined);
  const metadata = given({ citations: citations as Json | undefined }) as JsonObject;
  const result = { kind: "tool_result", text, metadata } as const;
  return [...started, ...endCall(tool, { failed: false, shortResult: rowOf(text), result })];
}

function open(
  completion: Completion,
  choice: Choice,
  native: JsonObject,
): [ExecutedTool, readonly BlockEvent[]] {
  const key = nextKey(completion.turn);
  const toolName = wordsOf(native.name) ?? wordsOf(native.type) ?? "tool";
  const toolUseId = wordsOf(native.id) ?? key;
  const said = native.arguments;
  const input = typeof said === "string" ? (parseJson(said, bounds.inputDepth) ?? said) : (said ?? {});
  const metadata = blockMetadata(completion.turn, {
    ...{ toolUseId, toolName, remote: true },
    ...choiceLabel(choice),
  });
  const text = typeof said === "string" ? said : JSON.stringify(input);
  const running = { stage: "running", input, ...given({ compactParams: compactParams(input) }) };
  return [
    { key, toolUseId, toolName, isEnded: false },
    [
      { type: "block-start", key, kind: "tool_call", role: "model", metadata, text },
      { type: "block-meta", key, metadata: running },
    ],
  ];
}

/** The answer is over: what has given no output has none. */
export function closeExecuted(choice: Choice, how: "done" | "interrupted"): readonly BlockEvent[] {
  const left = [...choice.executed.values()].filter(({ isEnded }) => !isEnded);
  for (const tool of left) tool.isEnded = true;
  return left.flatMap((tool) =>
    how === "done" ? [...endCall(tool, { failed: false })] : [cutCall(tool.key)],
  );
}
