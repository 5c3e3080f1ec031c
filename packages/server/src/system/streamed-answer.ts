/** Answers that are streams, and streams that take turns with what others have asked for. */

import { type Json, type Problem, problem, type Streamed } from "@blockyard/kernel";

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

/** The same items, each when `rest` is over. Ending it ends the source, also before the first item. */
export function resting<T>(items: AsyncIterable<T>, rest: () => Promise<void>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]();
      return {
        async next() {
          await rest();
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
