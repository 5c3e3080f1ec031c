/** Lines as Claude Code prints them, handmade for cases without a recording, and the adapter's events for lines. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { type Folded, type FoldedBlock, fold, providers } from "@blockyard/providers";

export type Line = { readonly [key: string]: unknown };

export function init(extra: Line = {}): Line {
  return { type: "system", subtype: "init", session_id: "s", cwd: "/w", model: "m", ...extra };
}

export function system(subtype: string, extra: Line = {}): Line {
  return { type: "system", subtype, ...extra };
}

/** An assistant line with the given content blocks. */
export function answer(id: string, content: readonly Line[], extra: Line = {}): Line {
  const usage = { input_tokens: 10, output_tokens: 2 };
  return {
    type: "assistant",
    message: { id, model: "m", content, usage },
    parent_tool_use_id: null,
    ...extra,
  };
}

export function say(id: string, text: string, extra: Line = {}): Line {
  return answer(id, [{ type: "text", text }], extra);
}

export function call(id: string, name: string, input: Line, extra: Line = {}): Line {
  return answer(`msg-${id}`, [{ type: "tool_use", id, name, input }], extra);
}

/** The user line that answers a call. */
export function reply(id: string, content: unknown, extra: Line = {}, isError?: boolean): Line {
  const block = { type: "tool_result", tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
  return { type: "user", message: { role: "user", content: [block] }, parent_tool_use_id: null, ...extra };
}

/** A call with its result, both whole. */
export function used(
  name: string,
  input: Line,
  content: unknown,
  payload?: unknown,
  isError?: boolean,
): Line[] {
  return [
    call("t1", name, input),
    reply("t1", content, payload === undefined ? {} : { tool_use_result: payload }, isError),
  ];
}

export function event(event: Line, extra: Line = {}): Line {
  return { type: "stream_event", event, parent_tool_use_id: null, ...extra };
}

/** The stream events that open a message. */
export function opening(id: string): Line {
  return event({
    type: "message_start",
    message: { id, model: "m", usage: { input_tokens: 10, output_tokens: 2 } },
  });
}

export function blockStart(index: number, block: Line): Line {
  return event({ type: "content_block_start", index, content_block: block });
}

export function delta(index: number, change: Line): Line {
  return event({ type: "content_block_delta", index, delta: change });
}

export function blockStop(index: number): Line {
  return event({ type: "content_block_stop", index });
}

export function done(extra: Line = {}): Line {
  return { subtype: "success", is_error: false, total_cost_usd: 0, result: "", type: "result", ...extra };
}

/** The block events of lines, without the closing of what is open. */
export function eventsOf(lines: readonly Line[], isCut = true): BlockEvent[] {
  const adapter = providers.get("claude")!.adapter;
  const events: BlockEvent[] = [];
  let state = adapter.start("run");
  for (const line of lines) {
    const [next, made] = adapter.step(state, line as Json);
    state = next;
    events.push(...made);
  }
  if (isCut) events.push(...adapter.end(state));
  return events;
}

export function foldLines(lines: readonly Line[]): Folded {
  const folded = fold(eventsOf(lines));
  if (folded.faults.length > 0) throw new Error(folded.faults.join("\n"));
  return folded;
}

/** One block in few words: `kind role status(reason) label "text"`. */
export function brief(block: FoldedBlock): string {
  const reason = typeof block.metadata.reason === "string" ? `(${block.metadata.reason})` : "";
  const notice = typeof block.metadata.notice === "string" ? ` ${block.metadata.notice}` : "";
  return `${block.kind} ${block.role} ${block.status}${reason}${notice} ${JSON.stringify(block.text)}`;
}

export function briefs(lines: readonly Line[]): string[] {
  return foldLines(lines).blocks.map(brief);
}

/** The block of a kind, and its metadata. */
export function only(lines: readonly Line[], kind: string): FoldedBlock & { readonly metadata: JsonObject } {
  const found = foldLines(lines).blocks.filter((block) => block.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} blocks of kind ${kind}`);
  return found[0]!;
}
