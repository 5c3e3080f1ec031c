/**
 * Messages that stand in a stream without their direction, as one side printed them or a log has mixed them: which side has written a
 * message shows in its method, or in the request that it answers. Not for traffic, whose records say it.
 */

import type { JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { objectOf, textOf } from "../read.ts";
import type { Direction } from "../traffic.ts";
import { idOf, type State } from "./state.ts";

const CLIENT = /^(initialize|authenticate|logout)$|^session\/(?!update$|request_permission$)/;

export function directionOf(state: State, message: JsonObject): Direction {
  const method = textOf(message.method);
  if (method !== undefined) return CLIENT.test(method) ? "in" : "out";
  const id = idOf(message.id);
  if (!state.asked.has(id)) return "out";
  // Both sides count their requests from 0: an outcome is a person's answer.
  return !state.sent.has(id) || isObject(objectOf(message.result).outcome) ? "in" : "out";
}

/** What an answer must have answered, if its request was not printed; undefined if that is unknown. */
export function requestOf(answer: JsonObject): string | undefined {
  const result = objectOf(answer.result);
  if (typeof result.protocolVersion === "number") return "initialize";
  if (typeof result.sessionId === "string") return "session/new";
  return typeof result.stopReason === "string" ? "session/prompt" : undefined;
}
