/**
 * Codex's error messages. Some are sentences, some are the provider's whole answer as a JSON string; some announce a
 * retry and are not failures at all.
 */

import type { BlockEvent, BlockKey, Json, JsonObject } from "@blockyard/kernel";
import { isObject, parseObject } from "../framing/json.ts";
import { given, numberOf, textOf, wordsOf } from "../read.ts";

interface Failure {
  readonly text: string;
  readonly code?: string;
  readonly details?: Json;
}

/** A message, unpacked where it is an API's error body. */
export function readFailure(message: string): Failure {
  const start = message.indexOf("{");
  const body = start === 0 ? parseObject(message) : undefined;
  const error = isObject(body?.error) ? body.error : body;
  const text = error === undefined ? undefined : (wordsOf(error.message) ?? wordsOf(error.detail));
  if (error === undefined || text === undefined) return { text: message };
  const { message: _, code, ...rest } = error;
  return {
    text,
    ...given({ code: textOf(code) ?? textOf(error.type) ?? numberOf(code)?.toString() }),
    ...(Object.keys(rest).length === 0 ? {} : { details: rest }),
  };
}

/** "Reconnecting... 1/5 (…)", "Re-connecting... 1/5": the turn goes on. */
export function isRetry(message: string): boolean {
  return /^re-?connecting\b/i.test(message);
}

export function failureMetadata(failure: Failure): JsonObject {
  return given({ code: failure.code, details: failure.details });
}

/** A notice that is not the end of anything: a retry, a warning. */
export function noticeBlock(
  key: BlockKey,
  message: string,
  notice: "retry" | "warning",
  at?: number,
): readonly BlockEvent[] {
  const failure = readFailure(message);
  const metadata = given({
    ...failureMetadata(failure),
    notice,
    retryable: notice === "retry" ? true : undefined,
  });
  return [
    {
      type: "block-start",
      key,
      kind: "error",
      role: "system",
      metadata,
      text: failure.text,
      ...given({ at }),
    },
    { type: "block-end", key, status: "done", ...given({ at }) },
  ];
}
