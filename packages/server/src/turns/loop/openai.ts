/**
 * OpenAI's Responses API, and Chat Completions for the many servers that speak that instead: which of them it is follows
 * from the base URL, unless BLOCKYARD_OPENAI_API says it.
 *
 * Nothing is kept at the provider (`store: false`): every request carries the whole exchange, reasoning included, as
 * sealed items that stand in front of the calls they led to.
 */

import { problem } from "@blockyard/kernel";
import { type Adapter, openaiWith } from "@blockyard/providers";
import type OpenAI from "openai";
import type { Api, ApiRequest, ApiSource, Environment } from "./api.ts";
import { customHeaders, eventStream } from "./event-stream.ts";
import type { AssistantPart, Message, ResultPart, UserPart } from "./exchange.ts";
import { chatRequestOf } from "./openai-chat.ts";

const DEFAULT_MODEL = "gpt-6.1-sol";
const BASE_URL = "https://api.openai.com/v1";

type Flavour = "responses" | "chat";

export const openaiApi: ApiSource = {
  provider: "openai",
  open(env) {
    const apiKey = env["OPENAI_API_KEY"];
    if (!apiKey) {
      return problem(
        "unavailable",
        "OPENAI_API_KEY is not set: set it to an OpenAI API key (any word for your own server that needs " +
          "none, set with OPENAI_BASE_URL), restart the server, and try again",
        { variable: "OPENAI_API_KEY" },
      );
    }
    const flavour = flavourOf(env);
    if (flavour === undefined) {
      return problem("invalid", "BLOCKYARD_OPENAI_API must be responses or chat", {
        variable: "BLOCKYARD_OPENAI_API",
      });
    }
    const base = (env["OPENAI_BASE_URL"] || BASE_URL).replace(/\/+$/, "");
    const headers = {
      ...customHeaders(env["OPENAI_CUSTOM_HEADERS"]),
      ...(env["OPENAI_ORG_ID"] ? { "openai-organization": env["OPENAI_ORG_ID"] } : {}),
      ...(env["OPENAI_PROJECT_ID"] ? { "openai-project": env["OPENAI_PROJECT_ID"] } : {}),
      authorization: `Bearer ${apiKey}`,
    };
    const api: Api = {
      provider: "openai",
      defaultModel: env["OPENAI_MODEL"] || DEFAULT_MODEL,
      reasoner: flavour === "responses" ? "openai" : undefined,
      adapter: () => openaiWith({ runsTools: true }) as Adapter,
      ask(request, signal) {
        if (flavour === "responses")
          return eventStream({ url: `${base}/responses`, headers, body: requestOf(request), signal });
        return eventStream({
          url: `${base}/chat/completions`,
          headers,
          body: chatRequestOf(request),
          signal,
        });
      },
    };
    return api;
  },
};

function flavourOf(env: Environment): Flavour | undefined {
  const said = env["BLOCKYARD_OPENAI_API"];
  if (said) return said === "responses" || said === "chat" ? said : undefined;
  const base = env["OPENAI_BASE_URL"];
  if (!base) return "responses";
  return URL.canParse(base) && /(^|\.)openai\.com$/.test(new URL(base).hostname) ? "responses" : "chat";
}

export function requestOf(request: ApiRequest): OpenAI.Responses.ResponseCreateParamsStreaming {
  const { exchange, tools, model, maxTokens } = request;
  return {
    model,
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    max_output_tokens: maxTokens,
    parallel_tool_calls: true,
    ...(exchange.system === "" ? {} : { instructions: exchange.system }),
    input: exchange.messages.flatMap((message) => itemsOf(message)),
    tools: tools.map(({ name, description, input }) => ({
      type: "function" as const,
      name,
      description,
      parameters: { ...input },
      strict: false,
    })),
  };
}

type Item = OpenAI.Responses.ResponseInputItem;

function itemsOf(message: Message): Item[] {
  if (message.role === "assistant") return message.parts.flatMap((part) => assistantItem(part));
  const results = message.parts.filter((part) => part.type === "result");
  const said = message.parts.filter((part) => part.type !== "result");
  const user: Item[] = said.length === 0 ? [] : [{ role: "user", content: said.map(userContent) }];
  return [...results.map(resultItem), ...user];
}

function userContent(part: Exclude<UserPart, ResultPart>): OpenAI.Responses.ResponseInputContent {
  if (part.type === "text") return { type: "input_text", text: part.text };
  return imageContent(part.picture.mediaType, part.picture.data);
}

function imageContent(mediaType: string, data: string): OpenAI.Responses.ResponseInputImage {
  return { type: "input_image", detail: "auto", image_url: `data:${mediaType};base64,${data}` };
}

/** An item's own id is left out: with it the provider would look for neighbours that may have been edited away. */
function assistantItem(part: AssistantPart): Item[] {
  if (part.type === "text") return [{ role: "assistant", content: part.text }];
  if (part.type === "call") {
    const { id, name, input } = part;
    return [{ type: "function_call", call_id: id, name, arguments: JSON.stringify(input) }];
  }
  if (part.opaque === undefined || part.itemId === undefined) return [];
  const summary = part.text === "" ? [] : [{ type: "summary_text" as const, text: part.text }];
  return [{ type: "reasoning", id: part.itemId, summary, encrypted_content: part.opaque }];
}

/** There is no flag for a failed call: the words say it. */
function resultItem({ id, text, pictures, isError }: ResultPart): Item {
  const words = isError && !/^error/i.test(text) ? `Error: ${text}` : text;
  if (pictures.length === 0) return { type: "function_call_output", call_id: id, output: words };
  const said = words === "" ? [] : [{ type: "input_text" as const, text: words }];
  const shown = pictures.map(({ mediaType, data }) => imageContent(mediaType, data));
  return { type: "function_call_output", call_id: id, output: [...said, ...shown] };
}
