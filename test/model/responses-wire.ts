/**
 * Answers as OpenAI's Responses API sends them: as a stream of numbered events, or whole.
 */
import type { Wire } from "./messages-wire.ts";
import { type Answer, type CallPart, DELTA_CHARS, type Failure, type Part, pieces } from "./script.ts";
import { sealOf } from "./seal.ts";

interface Ids {
  next(prefix: string): string;
}

interface Item {
  readonly added: object;
  readonly between: readonly object[];
  readonly done: object;
}

export function responseEvents(answer: Answer, model: string, ids: Ids): Wire[] {
  const id = ids.next("resp_");
  const items = answer.parts.map((part) => itemOf(part, answer.deltaChars ?? DELTA_CHARS, ids));
  const response = (status: string) => ({ id, object: "response", created_at: 1_760_000_000, model, status });
  const end = {
    ...response(statusOf(answer)),
    output: items.map(({ done }) => done),
    usage: usageOf(answer),
    ...(answer.stop === "max_tokens" ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
  };
  const events: object[] = [
    { type: "response.created", response: { ...response("in_progress"), output: [] } },
    { type: "response.in_progress", response: { ...response("in_progress"), output: [] } },
  ];
  items.forEach(({ added, between, done }, output_index) => {
    events.push({ type: "response.output_item.added", output_index, item: added });
    for (const event of between) events.push({ output_index, ...event });
    events.push({ type: "response.output_item.done", output_index, item: done });
  });
  events.push({ type: `response.${end.status}`, response: end });
  return events.map((event, sequence_number) => ({
    event: (event as { type: string }).type,
    data: { ...event, sequence_number },
  }));
}

export function wholeResponse(answer: Answer, model: string, ids: Ids): object {
  const output = answer.parts.map((part) => itemOf(part, DELTA_CHARS, ids).done);
  const id = ids.next("resp_");
  return {
    ...{ id, object: "response", created_at: 1_760_000_000, model, status: statusOf(answer) },
    ...{ output, usage: usageOf(answer) },
  };
}

export function openaiError({ type, message }: Pick<Failure, "type" | "message">): object {
  return { error: { message, type, code: type.replace(/_error$/, ""), param: null } };
}

function statusOf({ stop }: Answer): "completed" | "incomplete" {
  return stop === "max_tokens" ? "incomplete" : "completed";
}

function usageOf({ usage }: Answer): object {
  const { input, output } = usage ?? { input: 100, output: 20 };
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

function itemOf(part: Part, chars: number, ids: Ids): Item {
  if ("thinking" in part || "redacted" in part) return reasoning(part, chars, ids);
  if ("call" in part && part.freeform !== undefined) return customCall(part, part.freeform, chars, ids);
  if ("call" in part) return functionCall(part, chars, ids);
  const id = ids.next("msg_");
  const isText = "text" in part;
  const text = isText ? part.text : part.refusal;
  const name = isText ? "output_text" : "refusal";
  const field = isText ? "text" : "refusal";
  const extra = isText ? { annotations: [] } : {};
  const at = { item_id: id, content_index: 0 };
  const whole = { type: name, [field]: text, ...extra };
  const head = { id, type: "message", role: "assistant" };
  return {
    added: { ...head, status: "in_progress", content: [] },
    between: [
      { type: "response.content_part.added", ...at, part: { type: name, [field]: "", ...extra } },
      ...pieces(text, chars).map((delta) => ({ type: `response.${name}.delta`, ...at, delta })),
      { type: `response.${name}.done`, ...at, [field]: text },
      { type: "response.content_part.done", ...at, part: whole },
    ],
    done: { ...head, status: "completed", content: [whole] },
  };
}

function reasoning(
  part: { readonly thinking: string } | { readonly redacted: string },
  chars: number,
  ids: Ids,
): Item {
  const id = ids.next("rs_");
  const text = "thinking" in part ? part.thinking : "";
  const at = { item_id: id, summary_index: 0 };
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  const said = pieces(text, chars).map((delta) => ({
    type: "response.reasoning_summary_text.delta",
    ...at,
    delta,
  }));
  const whole = { type: "summary_text", text };
  const between =
    text === ""
      ? []
      : [
          { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
          ...said,
          { type: "response.reasoning_summary_text.done", ...at, text },
          { type: "response.reasoning_summary_part.done", ...at, part: whole },
        ];
  return {
    added: { id, type: "reasoning", summary: [] },
    between,
    done: { id, type: "reasoning", summary, encrypted_content: sealOf(id) },
  };
}

function functionCall(part: CallPart, chars: number, ids: Ids): Item {
  const id = ids.next("fc_");
  const json = JSON.stringify(part.input).slice(0, part.inputChars);
  const group = part.namespace === undefined ? {} : { namespace: part.namespace };
  const head = {
    ...{ id, type: "function_call", call_id: part.id ?? ids.next("call_"), name: part.call },
    ...group,
  };
  const isCut = part.inputChars !== undefined;
  return {
    added: { ...head, arguments: "", status: "in_progress" },
    between: [
      ...pieces(json, chars).map((delta) => ({
        type: "response.function_call_arguments.delta",
        item_id: id,
        delta,
      })),
      ...(isCut ? [] : [{ type: "response.function_call_arguments.done", item_id: id, arguments: json }]),
    ],
    done: { ...head, arguments: json, status: isCut ? "incomplete" : "completed" },
  };
}

function customCall(part: CallPart, input: string, chars: number, ids: Ids): Item {
  const id = ids.next("ctc_");
  const head = { id, type: "custom_tool_call", call_id: part.id ?? ids.next("call_"), name: part.call };
  const said = pieces(input, chars).map((delta) => ({
    type: "response.custom_tool_call_input.delta",
    item_id: id,
    delta,
  }));
  return {
    added: { ...head, input: "", status: "in_progress" },
    between: [...said, { type: "response.custom_tool_call_input.done", item_id: id, input }],
    done: { ...head, input, status: "completed" },
  };
}
