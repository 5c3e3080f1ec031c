/** One exchange with everything in it, as sent to the three APIs; how their errors are interpreted; which API is chosen. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { refusalOf } from "../../../../../test/model/refusals.ts";
import type { Body } from "../../../../../test/model/script.ts";
import { redactedOf, sealOf, signatureOf } from "../../../../../test/model/seal.ts";
import { requestOf as messagesRequest } from "./anthropic.ts";
import { type ApiRequest, failureOf } from "./api.ts";
import { ApiConnectionError, ApiError, customHeaders, eventStream } from "./event-stream.ts";
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
  const anthropic = (type: string) => ({ type: "error", error: { type, message: "Why" } });
  const openai = (type: string, code: string) => ({ error: { type, code, message: "Why" } });
  it.each<[string, unknown, boolean, number | undefined]>([
    ["429", new ApiError(429, anthropic("rate_limit_error"), headers({ "retry-after": "2" })), true, 2_000],
    ["529", new ApiError(529, anthropic("overloaded_error"), headers()), true, undefined],
    ["500", new ApiError(500, { error: { message: "Why" } }, headers({ "retry-after-ms": "7" })), true, 7],
    ["400", new ApiError(400, anthropic("invalid_request_error"), headers()), false, undefined],
    [
      "no money",
      new ApiError(429, openai("insufficient_quota", "insufficient_quota"), headers()),
      false,
      undefined,
    ],
    [
      "no money, by its code",
      new ApiError(429, openai("tokens", "insufficient_quota"), headers()),
      false,
      undefined,
    ],
    ["a proxy's page", new ApiError(502, "<h1>Why</h1>", headers()), true, undefined],
    ["an event", new ApiError(undefined, anthropic("overloaded_error"), headers()), true, undefined],
    [
      "an event of Responses",
      new ApiError(undefined, { type: "error", code: "server_error", message: "Why" }, headers()),
      true,
      undefined,
    ],
    [
      "an event for good",
      new ApiError(undefined, anthropic("invalid_request_error"), headers()),
      false,
      undefined,
    ],
    ["a cut one", new TypeError("terminated", { cause: new Error("Why") }), true, undefined],
    [
      "none at all",
      new ApiConnectionError("Lost", { cause: new TypeError("fetch failed", { cause: new Error("Why") }) }),
      true,
      undefined,
    ],
    ["a bug", new RangeError("Why"), false, undefined],
  ])("%s", (_, error, isRetryable, retryAfterMs) => {
    const failure = failureOf(error);
    expect([failure.isRetryable, failure.retryAfterMs]).toEqual([isRetryable, retryAfterMs]);
    expect(failure.message).toContain("Why"); // also where Node keeps it to a cause
  });

  it("[L23] a cut connection is described", () => {
    const { message } = failureOf(new TypeError("terminated"));
    expect(message).toBe("The connection was lost in the middle of the answer");
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

describe("[U83] a stream of events", () => {
  const read = async (answer: (response: ServerResponse) => void): Promise<unknown[]> => {
    const server = createServer((_, response) => answer(response));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const request = {
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      body: {},
      signal: new AbortController().signal,
    };
    const events: unknown[] = [];
    try {
      for await (const event of eventStream(request)) events.push(event);
    } catch (error) {
      events.push(failureOf(error));
    } finally {
      server.closeAllConnections();
      server.close();
    }
    return events;
  };
  it.each<[string, string, unknown[]]>([
    [
      "whole",
      'event: a\ndata: {"a":1}\n\ndata: {"b":2}\n\ndata: [DONE]\n\ndata: {"c":3}\n\n',
      [{ a: 1 }, { b: 2 }],
    ],
    [
      "with pings and comments",
      ': hi\n\nevent: ping\ndata: {"type":"ping"}\n\ndata: {"a":1}\n\n',
      [{ a: 1 }],
    ],
    ["with lines of \\r\\n", 'data: {"a":1}\r\n\r\n', [{ a: 1 }]],
    ["without the last blank line", 'data: {"a":1}', [{ a: 1 }]],
    ["cut inside of an event", 'data: {"a":1}\n\ndata: {"b":', [{ a: 1 }]],
    [
      "that ends in an error",
      'data: {"a":1}\n\nevent: error\ndata: {"error":{"type":"overloaded_error"}}\n\n',
      [{ a: 1 }, expect.objectContaining({ code: "overloaded_error", isRetryable: true })],
    ],
    [
      "that ends in an unnamed error",
      'data: {"error":{"code":"server_error","message":"Why"}}\n\n',
      [expect.objectContaining({ message: "Why", isRetryable: true })],
    ],
    ["with an event that is not JSON", "data: {\n\n", [expect.objectContaining({ isRetryable: true })]],
  ])("%s", async (_, text, expected) => {
    expect(await read((response) => response.end(text))).toEqual(expected);
  });

  it("an answer that is an error", async () => {
    const [failure] = await read((response) =>
      response.writeHead(429, { "retry-after": "3" }).end('{"error":{"message":"Why"}}'),
    );
    expect(failure).toMatchObject({ status: 429, message: "Why", retryAfterMs: 3_000 });
    expect((await read((response) => response.writeHead(502).end("<h1>Bad</h1>")))[0]).toMatchObject({
      message: "The provider answered 502: <h1>Bad</h1>",
    });
  });

  it("a connection that breaks, or never was", async () => {
    const [first, broken] = await read((response) => {
      response.write('data: {"a":1}\n\n', () => response.destroy());
    });
    expect(first).toEqual({ a: 1 });
    expect(broken).toMatchObject({
      isRetryable: true,
      message: expect.stringContaining("was lost in the middle"),
    });
    const request = {
      url: "http://127.0.0.1:1/",
      headers: {},
      body: {},
      signal: new AbortController().signal,
    };
    const lost = await eventStream(request)[Symbol.asyncIterator]().next().catch(failureOf);
    expect(lost).toMatchObject({
      isRetryable: true,
      message: expect.stringContaining("cannot be reached: "),
    });
  });

  it("carries headers of the user's own", () => {
    expect(customHeaders("X-Team: a\nnonsense\n x-more : b:c ")).toEqual({ "x-team": "a", "x-more": "b:c" });
    expect(customHeaders(undefined)).toEqual({});
  });
});
