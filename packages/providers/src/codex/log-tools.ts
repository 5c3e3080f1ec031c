/**
 * The calls of a rollout log and their results, joined by call id; calls that were made inside another tool; the
 * threads that a call has started.
 */

import type { BlockKey, JsonObject } from "@blockyard/kernel";
import { cutCall, endCall, startCall } from "../call.ts";
import { listOf, numberOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { rowOf } from "../row.ts";
import { readSearch, type ToolItem } from "./item.ts";
import { startedThreads } from "./log-agents.ts";
import { commandOf, displayOfCall, outcomeOfCall, readCall } from "./log-call.ts";
import type { LogRecord } from "./log-index.ts";
import { readOutput } from "./log-output.ts";
import { keyOf, type Reading, showUnknown, spoke } from "./log-reading.ts";
import { displayOf, outcomeOf } from "./outcome.ts";

/** The tool that runs a script, which calls other tools. */
const CODE_MODE = "exec";

export function showCall(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  const callId = wordsOf(payload.call_id) ?? wordsOf(payload.id) ?? `call-${record.ordinal}`;
  const logged = readCall(payload);
  const display = displayOfCall(logged);
  const call = { key: keyOf(reading, callId), toolUseId: callId, toolName: display.toolName, logged };
  const { input, inputText } = logged;
  spoke(reading);
  const earlier = reading.open.get(callId);
  if (earlier !== undefined) reading.out.push(cutCall(earlier.key));
  reading.out.push(
    ...startCall({ ...call, ...display, input, inputText, parent: reading.parent, at: reading.at }),
  );
  reading.open.set(callId, call);
}

export function showOutput(reading: Reading, record: LogRecord): void {
  const callId = textOf(record.payload.call_id) ?? "";
  const call = reading.open.get(callId);
  if (call === undefined) {
    // What Codex puts before the model by itself, such as a goal, answers no call.
    if (callId === "" && wordsOf(record.payload.name) !== undefined) return;
    // The output of a call that was dropped from the log; or one that is said again.
    if (!reading.index.calls.has(callId))
      showUnknown(reading, record, `response_item/${textOf(record.payload.type)}`);
    return;
  }
  reading.open.delete(callId);
  const output = readOutput(record.payload.output);
  const item = reading.index.items.get(callId);
  if (reading.turn !== undefined) reading.turn.isAborted = output.aborted === true;
  const session =
    textOf(objectOf(call.logged.input).session_id) ??
    numberOf(objectOf(call.logged.input).session_id)?.toString();
  const running = session === undefined ? undefined : reading.running.get(session);
  const command = commandOf(call.logged);
  if (output.session !== undefined && command !== undefined) reading.running.set(output.session, command);
  const outcome = outcomeOfCall(call.logged, output, item, running);
  reading.out.push(
    ...endCall(call, { ...outcome, input: undefined, compactParams: undefined, at: reading.at }),
  );
  if (call.toolName === "view_image") reading.lastImageCall = call.key;
  for (const thread of startedThreads(reading.index, callId, item, output.text))
    reading.showThread(thread, call.key);
}

export function showSearch(
  reading: Reading,
  record: LogRecord,
  source: JsonObject,
  id: string | undefined,
): void {
  const item = readSearch(source);
  showWhole(reading, id ?? `search-${record.ordinal}`, item, undefined);
}

/** A call that is known only when it is over. */
function showWhole(reading: Reading, id: string, item: ToolItem, parent: BlockKey | undefined): void {
  const key = keyOf(reading, id);
  const display = displayOf(item);
  const call = { key, toolUseId: id, ...display, parent: parent ?? reading.parent, at: reading.at };
  spoke(reading);
  reading.out.push(
    ...startCall(call),
    ...endCall(call, { ...outcomeOf(item), input: undefined, at: reading.at }),
  );
}

export function showFoundTools(reading: Reading, record: LogRecord): void {
  const callId = textOf(record.payload.call_id) ?? "";
  const call = reading.open.get(callId);
  if (call === undefined) return showUnknown(reading, record, "response_item/tool_search_output");
  reading.open.delete(callId);
  const tools = listOf(record.payload.tools).map((tool) => objectOf(tool));
  const names = tools.flatMap((tool) => toolNames(tool));
  const result = { kind: "tool_result", text: names.join("\n"), metadata: { result: tools } } as const;
  reading.out.push(
    ...endCall(call, { result, failed: false, shortResult: plural(names.length, "tool"), at: reading.at }),
  );
}

function toolNames(tool: JsonObject): readonly string[] {
  const name = textOf(tool.name) ?? textOf(tool.type) ?? "?";
  const inner = listOf(tool.tools).map((each) => textOf(objectOf(each).name) ?? "?");
  return inner.length === 0 ? [name] : inner.map((each) => `${name}.${each}`);
}

export function showImage(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  const id = wordsOf(payload.id) ?? `image-${record.ordinal}`;
  const prompt = textOf(payload.revised_prompt) ?? "";
  const call = { key: keyOf(reading, id), toolUseId: id, toolName: "image_generation" };
  const data = wordsOf(payload.result);
  spoke(reading);
  reading.out.push(
    ...startCall({
      ...call,
      input: { prompt },
      compactParams: rowOf(prompt),
      remote: true,
      parent: reading.parent,
      at: reading.at,
    }),
    ...endCall(call, {
      ...(data === undefined
        ? {}
        : { result: { kind: "image", text: prompt, metadata: { data, mediaType: "image/png" } } }),
      failed: payload.status === "failed",
      shortResult: data === undefined ? undefined : "1 image",
      at: reading.at,
    }),
  );
}

/** Told already by the call it belongs to; without one it was made inside another tool, and is shown below that. */
export function readOutcomeEvent(
  reading: Reading,
  record: LogRecord,
  done: { id: string; item: ToolItem },
): void {
  if (reading.index.calls.has(done.id)) return;
  // Some versions do not give searches their ids in the response items; all of them are there.
  if (done.item.type === "search" && reading.index.hasNamelessSearches) return;
  const outer = [...reading.open.values()].findLast((call) => call.logged.name === CODE_MODE)?.key;
  showWhole(reading, done.id || `event-${record.ordinal}`, done.item, outer);
}
