/**
 * Anthropic's Messages API: an exchange as its request, and the stream of its events.
 *
 * The end of the exchange is marked for the provider's cache: the next round begins with the same words.
 */

import type Anthropic from "@anthropic-ai/sdk";
import { problem } from "@blockyard/kernel";
import { type Adapter, anthropicWith } from "@blockyard/providers";
import type { Api, ApiRequest, ApiSource } from "./api.ts";
import { customHeaders, eventStream } from "./event-stream.ts";
import type { AssistantPart, Message, Picture, UserPart } from "./exchange.ts";

const DEFAULT_MODEL = "claude-sonnet-5-5";
const BASE_URL = "https://api.anthropic.com";
const API_VERSION = "2026-10-21";

export const anthropicApi: ApiSource = {
  provider: "anthropic",
  open(env) {
    const apiKey = env["ANTHROPIC_API_KEY"];
    if (!apiKey) {
      return problem(
        "unavailable",
        "ANTHROPIC_API_KEY is not set: set it to an Anthropic API key, restart the server, and try again",
        { variable: "ANTHROPIC_API_KEY" },
      );
    }
    const url = `${(env["ANTHROPIC_BASE_URL"] || BASE_URL).replace(/\/+$/, "")}/v1/messages`;
    const headers = {
      ...customHeaders(env["ANTHROPIC_CUSTOM_HEADERS"]),
      "anthropic-version": API_VERSION,
      "x-api-key": apiKey,
    };
    const api: Api = {
      provider: "anthropic",
      defaultModel: env["ANTHROPIC_MODEL"] || DEFAULT_MODEL,
      reasoner: "anthropic",
      adapter: () => anthropicWith({ runsTools: true }) as Adapter,
      ask: (request, signal) => eventStream({ url, headers, body: requestOf(request), signal }),
    };
    return api;
  },
};

export function requestOf(request: ApiRequest): Anthropic.MessageCreateParamsStreaming {
  const { exchange, tools, model, maxTokens } = request;
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(exchange.system === "" ? {} : { system: exchange.system }),
    messages: exchange.messages.map((message, i) => messageOf(message, i === exchange.messages.length - 1)),
    tools: tools.map(({ name, description, input }) => ({
      name,
      description,
      input_schema: input as Anthropic.Tool.InputSchema,
    })),
  };
}

function messageOf(message: Message, isLast: boolean): Anthropic.MessageParam {
  if (message.role === "assistant")
    return { role: "assistant", content: message.parts.map((part) => assistantPart(part)) };
  const content = message.parts.map((part) => userPart(part));
  const last = content.at(-1);
  if (isLast && last) last.cache_control = { type: "ephemeral" };
  return { role: "user", content };
}

type UserContent = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.ToolResultBlockParam;

function userPart(part: UserPart): UserContent {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image") return image(part.picture);
  const { id, text, pictures, isError } = part;
  const said = text === "" ? [] : [{ type: "text" as const, text }];
  const content = pictures.length === 0 ? text : [...said, ...pictures.map((picture) => image(picture))];
  return { type: "tool_result", tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

function assistantPart(part: AssistantPart): Anthropic.ContentBlockParam {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "call") return { type: "tool_use", id: part.id, name: part.name, input: part.input };
  if (part.opaque !== undefined) return { type: "redacted_thinking", data: part.opaque };
  return { type: "thinking", thinking: part.text, signature: part.signature ?? "" };
}

function image({ mediaType, data }: Picture): Anthropic.ImageBlockParam {
  const media_type = mediaType as Anthropic.Base64ImageSource["media_type"];
  return { type: "image", source: { type: "base64", media_type, data } };
}
