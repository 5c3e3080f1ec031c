/**
 * One answer of a model, streamed: how we read it into blocks, and how two libraries read it that many people use. The same
 * text and the same tool call for all of them, in the form in which each gets it: server-sent events of the Messages API for us
 * and for Anthropic's own SDK; for the AI SDK the chunks that its server would make of them, as its client fetches them.
 */
import Anthropic from "@anthropic-ai/sdk";
import { Fold, Normalizer, providers } from "@blockyard/providers";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";

export interface Answer {
  readonly text: string;
  /** As the Messages API sends it. */
  readonly events: Uint8Array;
  /** As the AI SDK's server sends it. */
  readonly chunks: Uint8Array;
}

export interface Reader {
  readonly name: string;
  /** The text that it has read. */
  read(answer: Answer): Promise<string>;
}

const CHUNK_BYTES = 16 * 1024;
const INPUT = JSON.stringify({ file_path: "/src/answer.ts", content: "export const answer = 42;\n" });

export function answerOf(deltas: readonly string[]): Answer {
  const pieces = INPUT.match(/.{1,4}/gs) as string[];
  return {
    text: deltas.join(""),
    events: serverSent(messageEvents(deltas, pieces), (event) => `event: ${event.type}\n`),
    chunks: serverSent(uiChunks(deltas, pieces), () => ""),
  };
}

/** Ours: bytes to block events, and those folded into blocks. */
export const ours: Reader = {
  name: "Blockyard",
  async read({ events }) {
    const provider = providers.get("anthropic");
    if (!provider) throw new Error("no provider anthropic");
    const normalizer = new Normalizer(provider);
    const fold = new Fold();
    for (let at = 0; at < events.length; at += CHUNK_BYTES)
      fold.push(normalizer.push(events.subarray(at, at + CHUNK_BYTES)));
    fold.push(normalizer.end());
    const { blocks } = fold.result();
    if (!blocks.some(({ kind }) => kind === "tool_call")) throw new Error("the tool call was not read");
    return blocks.find(({ kind }) => kind === "text")?.text ?? "";
  },
};

const client = (bytes: Uint8Array) =>
  new Anthropic({ apiKey: "none", maxRetries: 0, fetch: async () => responseOf(bytes) });

export const others: readonly Reader[] = [
  {
    name: "@anthropic-ai/sdk messages.stream",
    async read({ events }) {
      const stream = client(events).messages.stream({
        model: "m",
        max_tokens: 1,
        messages: [{ role: "user", content: "?" }],
      });
      const { content } = await stream.finalMessage();
      if (content[1]?.type !== "tool_use") throw new Error("the SDK read no tool call");
      return content[0]?.type === "text" ? content[0].text : "";
    },
  },
  {
    name: "ai readUIMessageStream",
    async read({ chunks }) {
      const transport = new DefaultChatTransport({
        api: "http://127.0.0.1/chat",
        fetch: async () => responseOf(chunks),
      });
      const stream = await transport.sendMessages({
        trigger: "submit-message",
        chatId: "1",
        messageId: undefined,
        messages: [],
        abortSignal: undefined,
      });
      let last: UIMessage | undefined;
      for await (const message of readUIMessageStream({ stream })) last = message;
      if (!last?.parts.some(({ type }) => type === "tool-Write"))
        throw new Error("the AI SDK read no tool call");
      return last.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    },
  },
];

function responseOf(bytes: Uint8Array): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + CHUNK_BYTES));
      at += CHUNK_BYTES;
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function messageEvents(text: readonly string[], input: readonly string[]): { readonly type: string }[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage,
  };
  const delta = (index: number, each: object) => ({ type: "content_block_delta", index, delta: each });
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...text.map((each) => delta(0, { type: "text_delta", text: each })),
    { type: "content_block_stop", index: 0 },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "toolu_1", name: "Write", input: {} },
    },
    ...input.map((partial_json) => delta(1, { type: "input_json_delta", partial_json })),
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
    { type: "message_stop" },
  ] as { readonly type: string }[];
}

function uiChunks(text: readonly string[], input: readonly string[]): UIMessageChunk[] {
  return [
    { type: "start", messageId: "msg_1" },
    { type: "start-step" },
    { type: "text-start", id: "0" },
    ...text.map((delta): UIMessageChunk => ({ type: "text-delta", id: "0", delta })),
    { type: "text-end", id: "0" },
    { type: "tool-input-start", toolCallId: "toolu_1", toolName: "Write" },
    ...input.map(
      (inputTextDelta): UIMessageChunk => ({
        type: "tool-input-delta",
        toolCallId: "toolu_1",
        inputTextDelta,
      }),
    ),
    {
      type: "tool-input-available",
      toolCallId: "toolu_1",
      toolName: "Write",
      input: JSON.parse(INPUT) as unknown,
    },
    { type: "finish-step" },
    { type: "finish" },
  ];
}

function serverSent<T>(events: readonly T[], head: (event: T) => string): Uint8Array {
  return new TextEncoder().encode(
    events.map((event) => `${head(event)}data: ${JSON.stringify(event)}\n\n`).join(""),
  );
}
