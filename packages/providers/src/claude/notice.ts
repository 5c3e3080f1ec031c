/**
 * Notices: what the CLI says itself, beside the conversation. Text blocks of role `system`, with a label in
 * `metadata.notice`. One that comes without words makes no block.
 */

import type { BlockKey, Json, JsonObject } from "@blockyard/kernel";
import { timeOf } from "../read.ts";
import { lineKey, type Out, type State } from "./state.ts";

interface Notice {
  readonly notice: string;
  readonly text: string | undefined;
  readonly parent?: BlockKey | undefined;
  readonly extra?: JsonObject;
}

export function addNotice(state: State, out: Out, line: JsonObject, notice: Notice, part = ""): void {
  if (notice.text === undefined || notice.text.trim() === "") return;
  const extra = notice.extra === undefined ? {} : presentFields(notice.extra);
  const at = timeOf(line.timestamp);
  const key = lineKey(state, line.uuid, part);
  out.push({
    type: "block-start",
    key,
    ...(notice.parent === undefined ? {} : { parent: notice.parent }),
    kind: "text",
    role: "system",
    metadata: { notice: notice.notice, ...(Object.keys(extra).length === 0 ? {} : { extra }) },
    text: notice.text,
    ...(at === undefined ? {} : { at }),
  });
  out.push({ type: "block-end", key, status: "done" });
}

/** Without fields that are null or missing. */
export function presentFields(extra: { readonly [key: string]: Json | undefined }): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [name, value] of Object.entries(extra))
    if (value !== undefined && value !== null) kept[name] = value;
  return kept;
}

/** Whatever was retried has gone on, or has failed for good. */
export function endRetries(state: State, out: Out): void {
  if (state.retry !== undefined) out.push({ type: "block-end", key: state.retry.key, status: "done" });
  state.retry = undefined;
}
