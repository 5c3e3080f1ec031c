/**
 * Calls with an idempotency key: a repeated call gets the same answer. The store keeps the keys of writes to a
 * conversation for good; this cache adds, while the process lives, what the store cannot know. Some tools do more than
 * write (they start an agent, run a command) and must not do it twice because a connection was lost. And reusing a key
 * for a different call is a mistake, which would otherwise be answered with success and leave no trace of the second
 * call.
 *
 * Bounded: the oldest is dropped first. Keys belong to an agent and a conversation, as in the store.
 */

import { limits } from "../model/limits.ts";
import { isProblem, problem } from "../model/problem.ts";
import { legacyName } from "../ports/legacy-name.ts";
import type { Call, Tool } from "./tool.ts";

interface Kept {
  readonly tool: string;
  /** Of the input: two that differ have the same one hardly ever. */
  readonly print: string;
  readonly answer: Promise<unknown>;
}

const kept = new WeakMap<Call["kernel"], Map<string, Kept>>();

/** `run`, or the answer that it has given to the same call before. `run` does not reject. */
export function answerOnce(
  call: Call,
  tool: Tool,
  input: unknown,
  run: () => Promise<unknown>,
): Promise<unknown> {
  const { kernel, caller, key } = call;
  if (key === undefined || tool.access === "read") return run();
  const calls = kept.get(kernel) ?? new Map<string, Kept>();
  kept.set(kernel, calls);
  const name = JSON.stringify([caller.agent, conversationOf(input), key]);
  const print = printOf(input);
  const known = calls.get(name);
  if (known && known.tool === tool.name && known.print === print) return known.answer;
  if (known) {
    const refused = problem(
      "conflict",
      `this key was used for a different call to ${known.tool}; nothing was done. Use a new key for each call, and the same key only to resend it unchanged`,
      { key, tool: tool.name, first_tool: known.tool },
    );
    return Promise.resolve(refused);
  }
  const answer = run();
  calls.set(name, { tool: tool.name, print, answer });
  if (calls.size > limits.keysPerConversation) calls.delete(calls.keys().next().value as string);
  // What was refused has done nothing: it may be tried again, also corrected.
  void answer.then((said) => isProblem(said) && calls.get(name)?.answer === answer && calls.delete(name));
  return answer;
}

function conversationOf(input: unknown): string {
  const { conversation, block_id } = input as { conversation?: unknown; block_id?: unknown };
  if (typeof conversation === "string") return conversation;
  return typeof block_id === "string" ? (block_id.split("/", 1)[0] ?? "") : "";
}

/** The same for the same JSON, the order of keys aside. */
function printOf(input: unknown): string {
  const text = JSON.stringify(input, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return `${text.length}:${legacyName(text, 6)}`;
}
