/** Two libraries that many people read a model's answer with, and two that show a tool's input while it is written. */
import Anthropic from "@anthropic-ai/sdk";
import { MessageStream } from "@anthropic-ai/sdk/lib/MessageStream.mjs";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { parse as parsePartial } from "partial-json";
import { CHUNK_BYTES, type Peer, type ReadWhileWritten } from "./readers.ts";

const client = (bytes: Uint8Array) =>
  new Anthropic({ apiKey: "none", maxRetries: 0, fetch: async () => responseOf(bytes) });

export const others: Peer["others"] = [
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

async function withSdk(...[deltas, eventsOf]: Parameters<ReadWhileWritten>): Promise<void> {
  const lines = eventsOf(deltas).map((event) => `${JSON.stringify(event)}\n`);
  const bytes = new TextEncoder().encode(lines.join(""));
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  let seen = 0;
  const stream = MessageStream.fromReadableStream(body);
  stream.on("inputJson", (_, input) => {
    seen += String((input as { content?: string }).content ?? "").length;
  });
  await stream.done();
  if (seen === 0) throw new Error("the SDK showed no input");
}

function withPartialJson(deltas: readonly string[]): void {
  let text = "";
  let seen = 0;
  for (const delta of deltas) {
    text += delta;
    seen += String((parsePartial(text) as { content?: string }).content ?? "").length;
  }
  if (seen === 0) throw new Error("partial-json showed no input");
}

export const whileWritten: Peer["whileWritten"] = [
  ["@anthropic-ai/sdk, inputJson listener", withSdk],
  ["partial-json", withPartialJson],
];
