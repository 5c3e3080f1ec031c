/** Sub-agents in a rollout log: which threads a call has started, and what agents write to each other. */

import { wholeBlock } from "../call.ts";
import { textOf, wordsOf } from "../read.ts";
import type { ToolItem } from "./item.ts";
import { type LogIndex, type LogRecord, messageText } from "./log-index.ts";
import { at, keyOf, type Reading } from "./log-reading.ts";

/** The threads that a call has started. */
export function startedThreads(
  index: LogIndex,
  callId: string,
  item: ToolItem | undefined,
  output: string,
): readonly string[] {
  const told = index.started.get(callId);
  if (told !== undefined) return [told];
  if (item?.type === "collab") return item.tool === "spawn_agent" ? item.receivers : [];
  const id = /"agent_id":\s*"([^"]+)"/.exec(output)?.[1];
  return id === undefined ? [] : [id];
}

/** A message from one agent to another: the task from its starter, or a report. Sealed text is not shown. */
export function showAgentMessage(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  const author = textOf(payload.author) ?? "";
  const whole = messageText(payload);
  const text = (HEADER.exec(whole)?.[1] ?? whole).trim();
  if (text === "") return;
  const key = keyOf(reading, wordsOf(payload.id) ?? `agent-${record.ordinal}`);
  const place = { ...at(reading), key, kind: "text" } as const;
  const isTask = reading.parent !== undefined && (textOf(payload.recipient) ?? "").startsWith(`${author}/`);
  const block = isTask
    ? ({ ...place, role: "user", metadata: {}, text } as const)
    : ({
        ...place,
        role: "system",
        metadata: { notice: "agent" },
        text: `Agent ${author}: ${text}`,
      } as const);
  reading.out.push(...wholeBlock(block));
}

/** The prefix before the text, for the model. */
const HEADER = /^Message Type: .*\n(?:[A-Z][A-Za-z ]*: .*\n)*Payload:(?:\n|$)([\s\S]*)$/;
