/**
 * A message as Claude Code reads it. Its id lets us see when it is read, and take it back; its origin makes it the user's words for
 * the model also where it comes in the middle of a turn. The prompt comes last: only the last text decides whether it is a command.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { type Attached, fileText } from "../../attachments.ts";
import type { Message } from "../../message.ts";
import type { Mode } from "../../mode.ts";

export const NATIVE_MODES: Readonly<Record<Mode, string>> = {
  plan: "plan",
  ask: "default",
  edits: "acceptEdits",
  full: "bypassPermissions",
};

export function modeOf(native: string | undefined): Mode | undefined {
  const found = Object.entries(NATIVE_MODES).find(([, name]) => name === native);
  return found?.[0] as Mode | undefined;
}

interface Words {
  readonly prompt: string;
  /** The briefing on the conversation, sent first. */
  readonly told?: string;
  readonly attached: Attached;
}

export function claudeMessage(
  { prompt, told, attached: { files, pictures } }: Words,
  id: string,
  priority?: Message["when"],
): JsonObject & { readonly uuid: string } {
  const content: Json[] = [
    ...(told === undefined ? [] : [{ type: "text", text: told }]),
    ...pictures.map(({ mediaType, bytes }) => ({
      type: "image",
      source: { type: "base64", media_type: mediaType, data: Buffer.from(bytes).toString("base64") },
    })),
    ...files.map((file) => ({ type: "text", text: fileText(file) })),
    { type: "text", text: prompt },
  ];
  return {
    type: "user",
    message: { role: "user", content },
    parent_tool_use_id: null,
    uuid: id,
    origin: { kind: "human" },
    ...(priority === undefined ? {} : { priority }),
  };
}
