/** What an ACP agent is sent to read: a prompt with what comes along, as far as the agent takes it, or a message into its turn. */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";
import { type Attached, fileText } from "../../attachments.ts";
import type { Message } from "../../message.ts";

export function promptOf(prompt: string, told: string, attached: Attached, agent: JsonObject): Json[] {
  const abilities = isObject(agent["agentCapabilities"]) ? agent["agentCapabilities"] : {};
  const prompts = isObject(abilities["promptCapabilities"]) ? abilities["promptCapabilities"] : {};
  const pictures = prompts["image"] === true ? attached.pictures : [];
  const text = (words: string) => ({ type: "text", text: words });
  return [
    ...(told === "" ? [] : [text(told)]),
    ...pictures.map(({ mediaType, bytes }) => ({
      ...{ type: "image", mimeType: mediaType, data: Buffer.from(bytes).toString("base64") },
    })),
    ...attached.files.map((file) => text(fileText(file))),
    text(prompt),
  ];
}

/** A message that is sent while the agent works. */
export function wordsOf({ text, attached }: Message): string {
  return [...attached.files.map(fileText), text].join("\n\n");
}
