/**
 * The model server against the official SDKs' own accumulation: what the script says is what their users would get, on
 * every wire; and what the real APIs refuse is refused.
 */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusalOf } from "./refusals.ts";
import { type Asked, type Body, call, overloaded, say } from "./script.ts";
import { sealOf, signatureOf } from "./seal.ts";
import { ModelServer } from "./server.ts";

let model: ModelServer;
beforeEach(async () => {
  model = await ModelServer.start();
});
afterEach(() => model.stop());

const anthropic = () => new Anthropic({ apiKey: "k", baseURL: model.url, maxRetries: 0 });
const openai = () => new OpenAI({ apiKey: "k", baseURL: `${model.url}/v1`, maxRetries: 0 });
const tool = { name: "look", description: "", input_schema: { type: "object" as const } };
const messages = [{ role: "user" as const, content: "Hi" }];
const functionTool = { type: "function" as const, name: "look", parameters: {}, strict: false };
const answer = {
  parts: [
    { thinking: "Well, let me see what there is." },
    { text: "I look, twice." },
    call("look", { at: "ä\n" }),
    call("look", {}),
  ],
  usage: { input: 7, output: 9 },
};

describe("[L60] a script is what each API's own client reads", () => {
  it.each([true, false])("Messages (stream: %s)", async (streams) => {
    model.play([answer]);
    const request = { model: "m", max_tokens: 9, messages, tools: [tool] };
    const got = streams
      ? await anthropic().messages.stream(request).finalMessage()
      : await anthropic().messages.create(request);
    expect(got.stop_reason).toBe("tool_use");
    expect(got.usage).toMatchObject({ input_tokens: 7, output_tokens: 9 });
    expect(got.content).toMatchObject([
      { type: "thinking", thinking: "Well, let me see what there is.", signature: expect.any(String) },
      { type: "text", text: "I look, twice." },
      { type: "tool_use", name: "look", input: { at: "ä\n" } },
      { type: "tool_use", name: "look", input: {} },
    ]);
  });

  it("Responses", async () => {
    model.play([answer]);
    const stream = openai().responses.stream({ model: "m", input: "Hi", tools: [functionTool] });
    const got = await stream.finalResponse();
    expect(got.output).toMatchObject([
      { type: "reasoning", summary: [{ text: "Well, let me see what there is." }] },
      { type: "message", content: [{ type: "output_text", text: "I look, twice." }] },
      { type: "function_call", name: "look", arguments: '{"at":"ä\\n"}' },
      { type: "function_call", name: "look", arguments: "{}" },
    ]);
    expect(got.usage).toMatchObject({ input_tokens: 7, output_tokens: 9 });
  });

  it("Chat", async () => {
    model.play([answer]);
    const tools = [{ type: "function" as const, function: { name: "look" } }];
    const got = await openai().chat.completions.stream({ model: "m", messages, tools }).finalChatCompletion();
    expect(got.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "I look, twice.",
        tool_calls: [
          { function: { name: "look", arguments: '{"at":"ä\\n"}' } },
          { function: { name: "look", arguments: "{}" } },
        ],
      },
    });
  });
});

describe("[L61] failures", () => {
  const ask = () =>
    anthropic()
      .messages.stream({ model: "m", max_tokens: 9, messages, tools: [tool] })
      .finalMessage();

  it("are answers with a status and a time to wait", async () => {
    model.play([overloaded]);
    const error = await ask().catch((each) => each);
    expect([error.status, error.type, error.headers.get("retry-after-ms")]).toEqual([
      529,
      "overloaded_error",
      "5",
    ]);
  });

  it("cut a stream in its middle, or end it with an error event", async () => {
    model.play([
      say("Half of it", { cutAfter: 3 }),
      say("Half", { failAfter: { events: 3, type: "api_error", message: "Broken" } }),
    ]);
    await expect(ask()).rejects.toThrow();
    await expect(ask()).rejects.toThrow("Broken");
  });

  it("an aside uses up no step", async () => {
    model.play([say("Main")]);
    const aside = await anthropic().messages.create({ model: "m", max_tokens: 9, messages });
    expect(aside.content).toMatchObject([{ text: "ok" }]);
    expect((await ask()).content).toMatchObject([{ text: "Main" }]);
    expect([model.asked.length, model.asides.length]).toEqual([1, 1]);
  });
});

const user = (...content: Body[]): Body => ({ role: "user", content });
const assistant = (...content: Body[]): Body => ({ role: "assistant", content });
const text: Body = { type: "text", text: "x" };
const use: Body = { type: "tool_use", id: "t", name: "look", input: {} };
const result: Body = { type: "tool_result", tool_use_id: "t", content: "y" };
const item = (type: string, more: object = {}): Body => ({ type, ...more });
const chatCall: Body = { role: "assistant", tool_calls: [{ id: "t" }] };

it.each<[Asked["api"], string, readonly Body[], boolean]>([
  ["messages", "the assistant first", [assistant(text), user(text)], true],
  ["messages", "a call without its result", [user(text), assistant(use), user(text)], true],
  ["messages", "a call and its result", [user(text), assistant(use), user(result)], false],
  [
    "messages",
    "a result too late",
    [user(text), assistant(use), user(text), assistant(text), user(result)],
    true,
  ],
  ["messages", "a result of nothing", [user(text), assistant(text), user(result)], true],
  [
    "messages",
    "two calls of one id",
    [user(text), assistant(use), user(result), assistant(use), user(result)],
    true,
  ],
  ["messages", "a blank text", [user({ type: "text", text: " \n" })], true],
  [
    "messages",
    "thinking as it was signed",
    [
      user(text),
      assistant({ type: "thinking", thinking: "a", signature: signatureOf("a") }, text),
      user(text),
    ],
    false,
  ],
  [
    "messages",
    "thinking that was edited",
    [
      user(text),
      assistant({ type: "thinking", thinking: "b", signature: signatureOf("a") }, text),
      user(text),
    ],
    true,
  ],
  ["responses", "a call without its output", [item("function_call", { call_id: "c" })], true],
  ["responses", "an output without its call", [item("function_call_output", { call_id: "c" })], true],
  [
    "responses",
    "reasoning with its call",
    [
      item("reasoning", { id: "r", encrypted_content: sealOf("r") }),
      item("function_call", { call_id: "c" }),
      item("function_call_output", { call_id: "c" }),
    ],
    false,
  ],
  ["responses", "reasoning alone", [item("reasoning", { id: "r", encrypted_content: sealOf("r") })], true],
  ["chat", "a call without its message", [chatCall, { role: "user", content: "x" }], true],
  ["chat", "a call with its message", [chatCall, { role: "tool", tool_call_id: "t" }], false],
])("[L62] %s: %s", (api, _, list, isRefused) => {
  const body: Body = api === "responses" ? { input: list } : { messages: list };
  expect(refusalOf({ api, body }) !== undefined).toBe(isRefused);
});
