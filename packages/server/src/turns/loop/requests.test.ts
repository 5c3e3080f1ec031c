/**
 * One exchange with everything in it, as the three APIs are sent it; what their errors come to; which API it is.
 */
import { APIError as AnthropicError, APIConnectionError } from "@anthropic-ai/sdk";
import { isProblem } from "@blockyard/kernel";
import { APIError as OpenaiError } from "openai";
import { describe, expect, it } from "vitest";
import { refusalOf } from "../../../../../test/model/refusals.ts";
import type { Body } from "../../../../../test/model/script.ts";
import { redactedOf, sealOf, signatureOf } from "../../../../../test/model/seal.ts";
import { requestOf as messagesRequest } from "./anthropic.ts";
import { type ApiRequest, failureOf } from "./api.ts";
import type { Message, ThinkingPart } from "./exchange.ts";
import { openaiApi, requestOf as responsesRequest } from "./openai.ts";
import { chatRequestOf } from "./openai-chat.ts";

const picture = { mediaType: "image/png", data: "aaaa" };
const input = { type: "object", properties: {} };

function request(...thoughts: readonly ThinkingPart[]): ApiRequest {
  const messages: readonly Message[] = [
    {
      role: "user",
      parts: [
        { type: "text", text: "Look" },
        { type: "image", picture },
      ],
    },
    {
      role: "assistant",
      parts: [
        ...thoughts,
        { type: "text", text: "I do" },
        { type: "call", id: "a", name: "read", input: { path: "x" } },
        { type: "call", id: "b", name: "shot", input: {} },
      ],
    },
    {
      role: "user",
      parts: [
        { type: "result", id: "a", text: "gone", pictures: [], isError: true },
        { type: "result", id: "b", text: "", pictures: [picture], isError: false },
        { type: "text", text: "So?" },
      ],
    },
  ];
  const tools = [{ name: "read", description: "Reads", input }];
  return { exchange: { system: "Be brief", messages }, tools, model: "m", maxTokens: 9 };
}

const url = "data:image/png;base64,aaaa";

describe("[L1] [L2] an exchange", () => {
  it("as a request of Messages", () => {
    const thoughts: ThinkingPart[] = [
      { type: "thinking", text: "T", signature: signatureOf("T") },
      { type: "thinking", text: "", opaque: redactedOf("x") },
    ];
    const body = messagesRequest(request(...thoughts));
    const source = { type: "base64", media_type: "image/png", data: "aaaa" };
    expect(body).toEqual({
      model: "m",
      max_tokens: 9,
      stream: true,
      system: "Be brief",
      tools: [{ name: "read", description: "Reads", input_schema: input }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image", source },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "T", signature: signatureOf("T") },
            { type: "redacted_thinking", data: redactedOf("x") },
            { type: "text", text: "I do" },
            { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
            { type: "tool_use", id: "b", name: "shot", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: "gone", is_error: true },
            { type: "tool_result", tool_use_id: "b", content: [{ type: "image", source }] },
            { type: "text", text: "So?", cache_control: { type: "ephemeral" } },
          ],
        },
      ],
    });
    expect(refusalOf({ api: "messages", body: body as unknown as Body })).toBeUndefined();
  });

  it("as a request of Responses", () => {
    const sealed: ThinkingPart = { type: "thinking", text: "T", opaque: sealOf("rs"), itemId: "rs" };
    const body = responsesRequest(request(sealed));
    const image = { type: "input_image", detail: "auto", image_url: url };
    expect(body).toMatchObject({ store: false, instructions: "Be brief", max_output_tokens: 9 });
    expect(body.input).toEqual([
      { role: "user", content: [{ type: "input_text", text: "Look" }, image] },
      {
        type: "reasoning",
        id: "rs",
        summary: [{ type: "summary_text", text: "T" }],
        encrypted_content: sealOf("rs"),
      },
      { role: "assistant", content: "I do" },
      { type: "function_call", call_id: "a", name: "read", arguments: '{"path":"x"}' },
      { type: "function_call", call_id: "b", name: "shot", arguments: "{}" },
      { type: "function_call_output", call_id: "a", output: "Error: gone" },
      { type: "function_call_output", call_id: "b", output: [image] },
      { role: "user", content: [{ type: "input_text", text: "So?" }] },
    ]);
    expect(refusalOf({ api: "responses", body: body as unknown as Body })).toBeUndefined();
  });

  it("as a request of Chat Completions", () => {
    const body = chatRequestOf(request());
    const image = { type: "image_url", image_url: { url } };
    const call = (id: string, name: string, text: string) => ({
      type: "function",
      id,
      function: { name, arguments: text },
    });
    expect(body.messages).toEqual([
      { role: "system", content: "Be brief" },
      { role: "user", content: [{ type: "text", text: "Look" }, image] },
      {
        role: "assistant",
        content: "I do",
        tool_calls: [call("a", "read", '{"path":"x"}'), call("b", "shot", "{}")],
      },
      { role: "tool", tool_call_id: "a", content: "Error: gone" },
      { role: "tool", tool_call_id: "b", content: "[the picture follows]" },
      { role: "user", content: [image, { type: "text", text: "So?" }] },
    ]);
    expect(refusalOf({ api: "chat", body: body as unknown as Body })).toBeUndefined();
  });
});

describe("[L23] an error", () => {
  const headers = (all: Record<string, string> = {}) => new Headers(all);
  const body = (type: string) => ({ type: "error", error: { type, message: "Why" } });
  it.each<[string, unknown, boolean, number | undefined]>([
    [
      "429",
      new AnthropicError(429, body("rate_limit_error"), undefined, headers({ "retry-after": "2" })),
      true,
      2_000,
    ],
    ["529", new AnthropicError(529, body("overloaded_error"), undefined, headers()), true, undefined],
    ["500", new OpenaiError(500, { message: "Why" }, undefined, headers({ "retry-after-ms": "7" })), true, 7],
    ["400", new AnthropicError(400, body("invalid_request_error"), undefined, headers()), false, undefined],
    [
      "no money",
      new OpenaiError(429, { code: "insufficient_quota", message: "Why" }, undefined, headers()),
      false,
      undefined,
    ],
    [
      "an event",
      new AnthropicError(undefined, body("overloaded_error"), undefined, headers()),
      true,
      undefined,
    ],
    [
      "an event for good",
      new AnthropicError(undefined, body("invalid_request_error"), undefined, headers()),
      false,
      undefined,
    ],
    ["no connection", new APIConnectionError({ message: "Why" }), true, undefined],
    ["a cut one", new TypeError("terminated", { cause: new Error("Why") }), true, undefined],
    [
      "none at all",
      new APIConnectionError({ cause: new TypeError("fetch failed", { cause: new Error("Why") }) }),
      true,
      undefined,
    ],
    ["a bug", new RangeError("Why"), false, undefined],
  ])("%s", (_, error, isRetryable, retryAfterMs) => {
    const failure = failureOf(error);
    expect([failure.isRetryable, failure.retryAfterMs]).toEqual([isRetryable, retryAfterMs]);
    expect(failure.message).toContain("Why"); // also where Node and the SDKs keep it to a cause
  });

  it("[L23] a cut connection is said in words", () => {
    const { message } = failureOf(new TypeError("terminated"));
    expect(message).toBe("The connection broke off in the middle of the answer");
  });
});

it.each<[object, string | undefined]>([
  [{}, "openai"],
  [{ OPENAI_BASE_URL: "https://eu.api.openai.com/v1" }, "openai"],
  [{ OPENAI_BASE_URL: "http://127.0.0.1:11434/v1" }, undefined],
  [{ OPENAI_BASE_URL: "http://openai.com.evil.example/v1" }, undefined],
  [{ OPENAI_BASE_URL: "http://127.0.0.1:1/v1", BLOCKYARD_OPENAI_API: "responses" }, "openai"],
])("[L10] %j", (env, reasoner) => {
  const api = openaiApi.open({ OPENAI_API_KEY: "k", ...env });
  if (isProblem(api)) throw new Error(api.message);
  expect(api.reasoner).toBe(reasoner); // Chat Completions take no reasoning back
  expect(openaiApi.open({ OPENAI_API_KEY: "k", BLOCKYARD_OPENAI_API: "telegraph" })).toMatchObject({
    problem: "invalid",
  });
});
