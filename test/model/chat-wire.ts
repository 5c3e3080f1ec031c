/**
 * Answers as Chat Completions sends them: as chunks with an end marker, or whole.
 */
import type { Wire } from "./messages-wire.ts";
import { type Answer, DELTA_CHARS, type Part, pieces } from "./script.ts";

interface Ids {
  next(prefix: string): string;
}

export function chatEvents(answer: Answer, model: string, ids: Ids): Wire[] {
  const head = {
    id: ids.next("chatcmpl-"),
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model,
  };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    data: { ...head, choices: [{ index: 0, delta, finish_reason }], usage: null },
  });
  const calls = answer.parts.filter((part) => "call" in part);
  const events: Wire[] = [chunk({ role: "assistant", content: "" })];
  for (const part of answer.parts)
    for (const delta of deltasOf(part, calls.indexOf(part as never), answer.deltaChars ?? DELTA_CHARS, ids))
      events.push(chunk(delta));
  events.push(chunk({}, finishOf(answer)));
  events.push({ data: { ...head, choices: [], usage: usageOf(answer) } }, { data: "[DONE]" });
  return events;
}

export function wholeChat(answer: Answer, model: string, ids: Ids): object {
  const text = answer.parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("");
  const calls = answer.parts.flatMap((part) =>
    "call" in part
      ? [
          {
            id: part.id ?? ids.next("call_"),
            type: "function",
            function: { name: part.call, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  );
  const message = { role: "assistant", content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
  return {
    ...{ id: ids.next("chatcmpl-"), object: "chat.completion", created: 1_760_000_000, model },
    choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
    usage: usageOf(answer),
  };
}

function finishOf({ stop, parts }: Answer): string {
  if (stop === "max_tokens") return "length";
  if (stop === "refusal") return "content_filter";
  return parts.some((part) => "call" in part) ? "tool_calls" : "stop";
}

function usageOf({ usage }: Answer): object {
  const { input, output } = usage ?? { input: 100, output: 20 };
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function deltasOf(part: Part, index: number, chars: number, ids: Ids): readonly object[] {
  if ("text" in part) return pieces(part.text, chars).map((content) => ({ content }));
  if ("thinking" in part)
    return pieces(part.thinking, chars).map((reasoning_content) => ({ reasoning_content }));
  if ("refusal" in part) return pieces(part.refusal, chars).map((refusal) => ({ refusal }));
  if ("redacted" in part) return [];
  const id = part.id ?? ids.next("call_");
  const json = JSON.stringify(part.input).slice(0, part.inputChars);
  const first = { index, id, type: "function", function: { name: part.call, arguments: "" } };
  const rest = pieces(json, chars).map((text) => ({ index, function: { arguments: text } }));
  return [first, ...rest].map((call) => ({ tool_calls: [call] }));
}
