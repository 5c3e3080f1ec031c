/**
 * One answer of a model, streamed, in the form in which each reader gets it: server-sent events of the Messages API, and the
 * chunks that the AI SDK's server would make of them. The same text and the same tool call in both.
 */

export interface Answer {
  readonly text: string;
  /** As the Messages API sends it. */
  readonly events: Uint8Array;
  /** As the AI SDK's server sends it. */
  readonly chunks: Uint8Array;
}

const INPUT = JSON.stringify({ file_path: "/src/answer.ts", content: "export const answer = 42;\n" });

export function answerOf(deltas: readonly string[]): Answer {
  const pieces = INPUT.match(/.{1,4}/gs) as string[];
  return {
    text: deltas.join(""),
    events: serverSent(messageEvents(deltas, pieces), (event) => `event: ${event.type}\n`),
    chunks: serverSent(uiChunks(deltas, pieces), () => ""),
  };
}

interface UiChunk {
  readonly type: string;
  readonly [field: string]: unknown;
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

function uiChunks(text: readonly string[], input: readonly string[]): UiChunk[] {
  return [
    { type: "start", messageId: "msg_1" },
    { type: "start-step" },
    { type: "text-start", id: "0" },
    ...text.map((delta): UiChunk => ({ type: "text-delta", id: "0", delta })),
    { type: "text-end", id: "0" },
    { type: "tool-input-start", toolCallId: "toolu_1", toolName: "Write" },
    ...input.map(
      (inputTextDelta): UiChunk => ({
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
