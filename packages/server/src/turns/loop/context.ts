/**
 * From a conversation's context (the kernel picks the blocks) to an exchange that any API takes.
 *
 * - Calls of one message stand in one assistant message, their results together in the next user message, each call with
 *   exactly one. A call without a result gets an error result that says so; a call whose input never was whole is left
 *   out, with its results.
 * - Reasoning goes back only to the provider that reasoned it, and only as it was signed: what somebody edited is left out.
 *   What only the provider can read goes back sealed. Neither stands without what it led to.
 * - Errors, notices, retracted and unknown blocks are for people, and left out; included blocks stand in front, with their
 *   origin.
 *
 * Pure: the same blocks give the same exchange, so that a provider's cache is hit.
 */

import {
  type BlockId,
  type Json,
  type JsonObject,
  type Kind,
  RESULT_KINDS,
  type WholeBlock,
} from "@blockyard/kernel";
import { parseJson } from "@blockyard/providers";
import { isOther, quotedAs, type SignedBlock, type Signs, type Voices } from "../voices.ts";
import {
  type AssistantPart,
  type CallPart,
  type Exchange,
  isBlank,
  type Message,
  NAME,
  type Picture,
  type ResultPart,
  type ThinkingPart,
  type UserPart,
} from "./exchange.ts";
import { INPUT_DEPTH } from "./limits.ts";
import { attachedText, includedText, pictureOf, resultText } from "./result-text.ts";

export interface ContextRules {
  readonly system: string;
  /** The provider whose reasoning is sent back; undefined if the API accepts none. */
  readonly reasoner?: string | undefined;
  /** The authors; without it nothing is marked. */
  readonly voices?: Voices;
}

export function exchangeOf(context: readonly SignedBlock[], rules: ContextRules): Exchange {
  const building = new Building(rules);
  const system = [rules.system];
  for (const { block, included, editedBy, from } of context) {
    const signs = { editedBy, from };
    if (included) building.include(block, signs);
    else if (isSystemPrompt(block) && !building.isOfOthers(block, signs)) system.push(block.text);
    else building.add(block, signs);
  }
  return { system: system.filter((text) => !isBlank(text)).join("\n\n"), messages: building.finish() };
}

function isSystemPrompt({ kind, role, side, metadata }: WholeBlock): boolean {
  return kind === "text" && role === "system" && !side && metadata.notice === undefined;
}

/** How a block on the conversation's own path reaches the model. Its results go with their call. */
const SENT_AS: Readonly<Record<Kind, "nothing" | "thought" | "call" | "picture" | "text">> = {
  text: "text",
  thinking: "thought",
  tool_call: "call",
  tool_result: "text",
  code: "text",
  command: "text",
  file_change: "text",
  todo: "text",
  image: "picture",
  file: "text",
  error: "nothing",
  unknown: "nothing",
};

/** An assistant's message that may still grow, and the results of its calls. */
interface Answer {
  messageId: string | undefined;
  index: number;
  readonly parts: { readonly part: AssistantPart; readonly messageId: string | undefined }[];
  /** By the id of the block that calls. */
  readonly calls: Map<BlockId, { readonly call: CallPart; readonly block: WholeBlock; result?: Gathered }>;
}

interface Gathered {
  readonly texts: string[];
  readonly pictures: Picture[];
  isError: boolean;
}

const OPENING = "[The beginning of this conversation is not shown.]";
const REPLACED = /[\ufffd\u2400]/;

class Building {
  readonly #reasoner: string | undefined;
  readonly #voices: Voices | undefined;
  readonly #messages: Message[] = [];
  readonly #ids = new Set<string>();
  #user: UserPart[] = [];
  #answer: Answer | undefined;

  constructor({ reasoner, voices }: ContextRules) {
    this.#reasoner = reasoner;
    this.#voices = voices;
  }

  /** Whether anybody but the requesting person and the agents that run here wrote or changed it. */
  isOfOthers({ agent }: WholeBlock, { editedBy = [], from }: Signs): boolean {
    if (this.#voices === undefined) return false;
    return editedBy.length > 0 || from !== undefined || isOther(this.#voices, agent);
  }

  include(block: WholeBlock, signs: Signs): void {
    const picture = pictureOf(block);
    if (picture) return this.#say({ type: "image", picture });
    if (isBlank(block.text)) return;
    const text = includedText(block);
    // A file is recognizable as one, whoever writes to it.
    const isQuoted = block.kind !== "file" && this.isOfOthers(block, signs);
    this.#say({ type: "text", text: isQuoted ? quotedAs(block, signs, text) : text });
  }

  add(block: WholeBlock, signs: Signs): void {
    const { kind, metadata } = block;
    if (metadata.notice !== undefined || metadata.reason === "retracted") return;
    if (block.side) return this.#result(block, signs);
    if (this.isOfOthers(block, signs)) return this.#quote(block, signs);
    switch (SENT_AS[kind]) {
      case "nothing":
        return;
      case "thought":
        return this.#think(block);
      case "call":
        return this.#call(block);
      case "picture":
        return this.#image(block);
      case "text":
        if (!isBlank(block.text)) this.#text(block);
    }
  }

  finish(): readonly Message[] {
    this.#closeAnswer();
    this.#closeUser();
    const [first] = this.#messages;
    if (first?.role === "assistant")
      this.#messages.unshift({ role: "user", parts: [{ type: "text", text: OPENING }] });
    return this.#messages;
  }

  #text(block: WholeBlock): void {
    const isFile = block.kind === "file" || RESULT_KINDS.includes(block.kind);
    const isAttached = block.kind === "code" && block.role === "user";
    const text = isAttached ? attachedText(block) : isFile ? includedText(block) : block.text;
    if (block.role === "model") this.#answers(block, { type: "text", text });
    else this.#say({ type: "text", text });
  }

  /** Text of others, in whatever role, is quoted to the model and never attributed to it. A call of its own stays one. */
  #quote(block: WholeBlock, signs: Signs): void {
    const isOwnCall = block.kind === "tool_call" && !this.isOfOthers(block, { from: signs.from });
    if (isOwnCall) return this.#call(block, true);
    if (block.kind === "error" || block.kind === "unknown" || block.kind === "thinking") return;
    const picture = pictureOf(block);
    const text = picture ? "[an image, which follows]" : resultText(block);
    if (!isBlank(text)) this.#say({ type: "text", text: quotedAs(block, signs, text) });
    if (picture) this.#say({ type: "image", picture });
  }

  #image(block: WholeBlock): void {
    const picture = pictureOf(block);
    if (picture && block.role !== "model") this.#say({ type: "image", picture });
    else if (!isBlank(block.text)) this.#text(block);
  }

  #think(block: WholeBlock): void {
    const part = this.#reasoner === block.metadata.provider ? thinkingOf(block) : undefined;
    if (part && this.#reasoner !== undefined) this.#answers(block, part);
  }

  /** `asCalled`: with the input that the model gave, not with the current text. */
  #call(block: WholeBlock, asCalled = false): void {
    const input = inputOf(asCalled ? { ...block, text: "" } : block);
    if (input === undefined) return;
    const name = String(block.metadata.toolName);
    const call: CallPart = {
      type: "call",
      id: this.#idOf(String(block.metadata.toolUseId)),
      name: NAME.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "tool",
      input,
    };
    this.#answers(block, call);
    this.#answer?.calls.set(block.id, { call, block });
  }

  /** Its own id if it is valid and unused. */
  #idOf(id: string): string {
    const plain = NAME.test(id) ? id : `call_${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40)}`;
    let unique = plain;
    for (let i = 2; this.#ids.has(unique); i++) unique = `${plain.slice(0, 56)}_${i}`;
    this.#ids.add(unique);
    return unique;
  }

  #result(block: WholeBlock, signs: Signs): void {
    const known = block.parent === null ? undefined : this.#answer?.calls.get(block.parent);
    if (!known) return; // of a call that was left out
    known.result ??= { texts: [], pictures: [], isError: false };
    const picture = pictureOf(block);
    if (picture) known.result.pictures.push(picture);
    const text = resultText(block);
    const isOther = this.isOfOthers(block, signs);
    if (!isBlank(text)) known.result.texts.push(isOther ? quotedAs(block, signs, text) : text);
    const failed = block.kind === "error" || block.metadata.isError === true || block.status === "error";
    known.result.isError ||= failed;
  }

  #answers(block: WholeBlock, part: AssistantPart): void {
    const messageId = textOf(block.metadata.messageId);
    const index = Number(block.metadata.index ?? 0);
    const open = this.#answer;
    // The same message continues. A server that gives every message the same id restarts its index.
    const goesOn = open && messageId !== undefined && open.messageId === messageId && index > open.index;
    if (open && open.calls.size > 0 && !goesOn) this.#closeAnswer();
    if (!this.#answer) this.#closeUser();
    this.#answer ??= { messageId, index, parts: [], calls: new Map() };
    this.#answer.messageId = messageId;
    this.#answer.index = index;
    this.#answer.parts.push({ part, messageId });
  }

  #say(part: UserPart): void {
    this.#closeAnswer();
    this.#user.push(part);
  }

  #closeUser(): void {
    if (this.#user.length > 0) this.#messages.push({ role: "user", parts: this.#user });
    this.#user = [];
  }

  #closeAnswer(): void {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    const parts = answer.parts.filter((_, i) => isLedSomewhere(answer.parts, i)).map(({ part }) => part);
    if (parts.length === 0) return this.#reopenUser();
    this.#messages.push({ role: "assistant", parts });
    for (const { call, block, result } of answer.calls.values())
      this.#user.push(resultPart(call, block, result));
  }

  /** An answer with nothing left: the next user message joins the previous one. */
  #reopenUser(): void {
    const last = this.#messages.at(-1);
    if (last?.role !== "user") return;
    this.#messages.pop();
    this.#user = [...last.parts];
  }
}

/** Reasoning stays only before other content of the same message. */
function isLedSomewhere(parts: Answer["parts"], i: number): boolean {
  const here = parts[i];
  if (here?.part.type !== "thinking") return true;
  const next = parts.slice(i + 1).find(({ part }) => part.type !== "thinking");
  return next !== undefined && next.messageId === here.messageId;
}

function resultPart(call: CallPart, block: WholeBlock, result: Gathered | undefined): ResultPart {
  const { id } = call;
  if (result === undefined)
    return { type: "result", id, text: missingText(block), pictures: [], isError: true };
  const text = result.texts.join("\n\n");
  const said = text === "" && result.pictures.length === 0 ? "(no output)" : text;
  return { type: "result", id, text: said, pictures: result.pictures, isError: result.isError };
}

function missingText({ metadata }: WholeBlock): string {
  const why = textOf(metadata.error) ?? textOf(metadata.reason);
  const short = textOf(metadata.shortResult);
  if (metadata.success === true)
    return `The result of this call is not available.${short ? ` In short: ${short}` : ""}`;
  return `This call has no result${why === undefined ? "" : `: ${why}`}. It may have run partly.`;
}

/** As signed or sealed; undefined if its provider would reject it. */
function thinkingOf({ metadata, status, promoted, text }: WholeBlock): ThinkingPart | undefined {
  if (status !== "done") return undefined;
  const { signature, opaque } = metadata;
  const itemId = textOf(metadata.extra?.["itemId"]);
  const named = itemId === undefined ? {} : { itemId };
  if (typeof opaque === "string" && opaque !== "")
    return { type: "thinking", text: promoted ? "" : text, opaque, ...named };
  const isUntouched = !promoted && !REPLACED.test(text);
  if (typeof signature !== "string" || signature === "" || !isUntouched) return undefined;
  return { type: "thinking", text, signature, ...named };
}

/** The input of a call, as an object; undefined if it was never complete. The text counts: people edit that. */
function inputOf({ metadata, text }: WholeBlock): JsonObject | undefined {
  const { input, reason } = metadata;
  if (input === undefined || reason === "truncated") return undefined;
  const said = parseJson(text, INPUT_DEPTH);
  return isObject(said) ? said : isObject(input) ? input : { input };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
