/**
 * An exchange as a request to Chat Completions. Only what every server that speaks this format takes: no reasoning goes
 * back, and the pictures of a result follow it as a message of the user.
 */

import type OpenAI from "openai";
import type { ApiRequest } from "./api.ts";
import type { AssistantPart, Message, Picture, ResultPart, UserPart } from "./exchange.ts";

type Param = OpenAI.Chat.ChatCompletionMessageParam;
type Content = OpenAI.Chat.ChatCompletionContentPart;

export function chatRequestOf(request: ApiRequest): OpenAI.Chat.ChatCompletionCreateParamsStreaming {
  const { exchange, tools, model, maxTokens } = request;
  const system: Param[] = exchange.system === "" ? [] : [{ role: "system", content: exchange.system }];
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: maxTokens,
    messages: [...system, ...exchange.messages.flatMap((message) => messagesOf(message))],
    tools: tools.map(({ name, description, input }) => ({
      type: "function" as const,
      function: { name, description, parameters: { ...input } },
    })),
  };
}

function messagesOf(message: Message): Param[] {
  if (message.role === "assistant") return assistantMessage(message.parts);
  const results = message.parts.filter((part) => part.type === "result");
  const said = message.parts.filter((part) => part.type !== "result").map(contentOf);
  const shown = results.flatMap(({ pictures }) => pictures.map(imageOf));
  const content = [...shown, ...said];
  return [...results.map(toolMessage), ...(content.length === 0 ? [] : [userMessage(content)])];
}

/** Plain text stays a plain string: not every server takes parts. */
function userMessage(content: readonly Content[]): Param {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { role: "user", content: texts.length === content.length ? texts.join("\n\n") : [...content] };
}

function contentOf(part: Exclude<UserPart, ResultPart>): Content {
  return part.type === "text" ? { type: "text", text: part.text } : imageOf(part.picture);
}

function imageOf({ mediaType, data }: Picture): Content {
  return { type: "image_url", image_url: { url: `data:${mediaType};base64,${data}` } };
}

function toolMessage({ id, text, isError }: ResultPart): Param {
  const words = isError && !/^error/i.test(text) ? `Error: ${text}` : text;
  return { role: "tool", tool_call_id: id, content: words || "[the picture follows]" };
}

function assistantMessage(parts: readonly AssistantPart[]): Param[] {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  const calls = parts.flatMap((part) => (part.type === "call" ? [part] : []));
  if (text === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text === "" ? null : text,
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ id, name, input }) => ({
              type: "function" as const,
              id,
              function: { name, arguments: JSON.stringify(input) },
            })),
          }),
    },
  ];
}
