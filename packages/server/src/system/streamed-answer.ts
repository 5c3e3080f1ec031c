/** Answers that are streams, and streams that take turns with what others have asked for. */

import { performance } from "node:perf_hooks";
import { type Json, type Problem, problem, type Streamed } from "@blockyard/kernel";
import { STREAM_STEP_MS } from "./limits.ts";

/** The result of a tool call: one value, or a stream of them. */
export type ToolAnswer = Json | Problem | Streamed<unknown>;

/** The answer of a tool that streams. */
export function isStreamed(value: unknown): value is Streamed<unknown> {
  const { stream } = (value ?? {}) as { stream?: unknown };
  return typeof stream === "object" && stream !== null && Symbol.asyncIterator in stream;
}

/** For callers that take one value: ends a stream, and says where to follow it. */
export async function oneAnswer(tool: string, answer: ToolAnswer, instead: string): Promise<Json | Problem> {
  if (!isStreamed(answer)) return answer;
  await answer.stream[Symbol.asyncIterator]().return?.();
  return problem("invalid", `${tool} streams: ${instead}`, { tool });
}

/**
 * The same items, after `rest` and again whenever they have taken a step's time since: a rest takes longer than making a line. Whoever
 * ends it ends what is behind it, also before the first item.
 */
export function resting<T>(
  items: AsyncIterable<T>,
  rest: () => Promise<void>,
  now: () => number = () => performance.now(),
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]();
      let restAt = Number.NEGATIVE_INFINITY;
      return {
        async next() {
          if (now() >= restAt) {
            await rest();
            restAt = now() + STREAM_STEP_MS;
          }
          return iterator.next();
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
