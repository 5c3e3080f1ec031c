/** Answers that are streams, and streams that take turns with what others have asked for. */

import type { Streamed } from "@blockyard/kernel";

/** The answer of a tool that streams. */
export function isStreamed(value: unknown): value is Streamed<unknown> {
  const { stream } = (value ?? {}) as { stream?: unknown };
  return typeof stream === "object" && stream !== null && Symbol.asyncIterator in stream;
}

/** The same items, each when `rest` is over. Whoever ends it ends what is behind it, also before the first item. */
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
