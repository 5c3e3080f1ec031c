/**
 * OpenAI, and servers that speak its formats: one adapter for both APIs, told apart event by event.
 *
 * An answer is a turn. A tool call waits for its result behind it; with `runsTools` the caller runs the tools and ends the
 * calls itself; then it stays running, with its input, also past the end of the stream.
 */

import type { BlockEvent, Json } from "@blockyard/kernel";
import type { Adapter } from "../adapter.ts";
import { isObject } from "../framing/json.ts";
import { END_MARKER } from "../framing/sse.ts";
import { listOf } from "../read.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { endChat, failChat, isChatEvent, stepChat } from "./chat.ts";
import { errorOf } from "./chat-content.ts";
import type { ChatState } from "./chat-state.ts";
import { isItemList } from "./response-items.ts";
import {
  endOfStream,
  failResponse,
  isResponsesEvent,
  type ResponsesState,
  stepItems,
  stepResponses,
} from "./responses.ts";
import { type Count, isFailure, PROVIDER, strayPlace } from "./turn.ts";

interface OpenaiOptions {
  /** The caller runs the tools that the model calls, and ends those calls. */
  readonly runsTools?: boolean;
}

interface OpenaiState {
  readonly count: Count;
  readonly chat: ChatState;
  readonly responses: ResponsesState;
}

export function openaiWith(options: OpenaiOptions): Adapter<OpenaiState> {
  const runsTools = options.runsTools === true;
  return {
    provider: PROVIDER,
    start: (run) => {
      const count: Count = { run, turns: 0, strays: 0 };
      return {
        count,
        chat: { count, runsTools, completion: undefined },
        responses: { count, runsTools, response: undefined, endedId: undefined, endedError: undefined },
      };
    },
    step: (state, event) => [state, step(state, event)],
    noise: (state, line) => [state, noiseBlock(strayPlace(state.count), line)],
    end: (state) => [...endChat(state.chat), ...endOfStream(state.responses)],
  };
}

export const openaiAdapter: Adapter<OpenaiState> = openaiWith({});

function step(state: OpenaiState, event: Json): readonly BlockEvent[] {
  if (event === END_MARKER) return endChat(state.chat, true);
  if (!isObject(event)) return unknownEvent(strayPlace(state.count), event);
  if (isResponsesEvent(event)) return stepResponses(state.responses, event);
  if (isChatEvent(event)) return stepChat(state.chat, event);
  if (isItemList(event)) return stepItems(state.responses, listOf(event.data));
  if (isFailure(event)) {
    const error = errorOf(event);
    const failed = error === undefined ? event : { ...event, error };
    return state.chat.completion === undefined
      ? failResponse(state.responses, failed)
      : failChat(state.chat, failed);
  }
  // Realtime proxies and gateways keep the connection alive with events of their own.
  if (event.type === "ping" || event.type === "keepalive") return [];
  return unknownEvent(strayPlace(state.count), event);
}
