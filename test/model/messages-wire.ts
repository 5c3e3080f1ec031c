/**
 * Answers as Anthropic's Messages API sends them: as a stream of events, or whole.
 */
import { type Answer, DELTA_CHARS, type Failure, type Part, pieces } from "./script.ts";
import { redactedOf, signatureOf } from "./seal.ts";

export type Wire = { readonly event?: string; readonly data: object | string };

interface Ids {
  next(prefix: string): string;
}

interface Content {
  readonly start: object;
  readonly deltas: readonly object[];
  readonly whole: object;
}

export function messageEvents(answer: Answer, model: string, ids: Ids): Wire[] {
  const message = shell(answer, model, ids);
  const usage = message.usage as { readonly input_tokens: number; readonly output_tokens: number };
  const events: object[] = [
    {
      type: "message_start",
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: { input_tokens: usage.input_tokens, output_tokens: 1 },
      },
    },
    { type: "ping" },
  ];
  answer.parts.forEach((part, index) => {
    const { start, deltas } = contentOf(part, answer.deltaChars ?? DELTA_CHARS, ids);
    events.push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  });
  const delta = {
    stop_reason: stopOf(answer),
    stop_sequence: null,
    ...(answer.stop === "refusal"
      ? { stop_details: { type: "refusal", category: null, explanation: answer.explanation ?? null } }
      : {}),
  };
  events.push({ type: "message_delta", delta, usage: { output_tokens: usage.output_tokens } });
  events.push({ type: "message_stop" });
  return events.map((data) => ({ event: (data as { type: string }).type, data }));
}

export function wholeMessage(answer: Answer, model: string, ids: Ids): object {
  const content = answer.parts.map((part) => contentOf(part, DELTA_CHARS, ids).whole);
  return { ...shell(answer, model, ids), content, stop_reason: stopOf(answer), stop_sequence: null };
}

export function messageError({ type, message }: Pick<Failure, "type" | "message">): object {
  return { type: "error", error: { type, message } };
}

function shell({ usage }: Answer, model: string, ids: Ids): { readonly [name: string]: unknown } {
  return {
    id: ids.next("msg_"),
    type: "message",
    role: "assistant",
    model,
    usage: { input_tokens: usage?.input ?? 100, output_tokens: usage?.output ?? 20 },
  };
}

function stopOf({ stop, parts }: Answer): string {
  if (stop !== undefined) return stop === "pause" ? "pause_turn" : stop;
  return parts.some((part) => "call" in part) ? "tool_use" : "end_turn";
}

function contentOf(part: Part, chars: number, ids: Ids): Content {
  if ("thinking" in part) {
    const signature = signatureOf(part.thinking);
    const said = pieces(part.thinking, chars).map((thinking) => ({ type: "thinking_delta", thinking }));
    return {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [...said, { type: "signature_delta", signature }],
      whole: { type: "thinking", thinking: part.thinking, signature },
    };
  }
  if ("redacted" in part) {
    const whole = { type: "redacted_thinking", data: redactedOf(part.redacted) };
    return { start: whole, deltas: [], whole };
  }
  if ("call" in part) {
    const json = JSON.stringify(part.input).slice(0, part.inputChars);
    const start = { type: "tool_use", id: part.id ?? ids.next("toolu_"), name: part.call, input: {} };
    const said = pieces(json, chars).map((partial_json) => ({ type: "input_json_delta", partial_json }));
    return {
      start,
      deltas: [{ type: "input_json_delta", partial_json: "" }, ...said],
      whole: { ...start, input: part.input },
    };
  }
  const text = "text" in part ? part.text : part.refusal;
  return {
    start: { type: "text", text: "" },
    deltas: pieces(text, chars).map((each) => ({ type: "text_delta", text: each })),
    whole: { type: "text", text },
  };
}
