/** What the adapter of Chat Completions remembers: the completion that is open, its choices, and the calls in them. */

import type { BlockKey, Json, JsonObject } from "@blockyard/kernel";
import type { Seal } from "./chat-content.ts";
import type { Count, Turn } from "./turn.ts";

export type SaidName = "text" | "thinking" | "refusal" | "audio";

export interface ChatCall {
  key: BlockKey | undefined;
  id: string | undefined;
  name: string | undefined;
  /** A custom tool takes plain text. */
  isPlain: boolean;
  input: string;
}

export interface Choice {
  readonly index: number;
  /** The block that is being written; another kind of content ends it. */
  open: { readonly name: SaidName; readonly key: BlockKey; text: string; chars: number } | undefined;
  annotations: Json[];
  readonly calls: ChatCall[];
  /** Calls by the index that the server gives them. */
  readonly byIndex: Map<number, ChatCall>;
  finishReason: string | undefined;
  /** Its text so far: a whole message that repeats it at the end adds only the rest. */
  readonly said: Set<SaidName | "call">;
  /** What seals the thinking that is open, or all of it where none of it can be read. */
  seal: Seal;
  /** Tools that the server has run, by their index. */
  readonly executed: Map<number, ExecutedTool>;
  /** Sound has come. */
  hasAudio: boolean;
}

export interface ExecutedTool {
  readonly key: BlockKey;
  readonly toolUseId: string;
  readonly toolName: string;
  isEnded: boolean;
}

export interface Completion {
  readonly turn: Turn;
  /** The server's own id, once one has come; and whether it has come again. */
  id: string | undefined;
  hasSteadyId: boolean;
  readonly choices: Map<number, Choice>;
  finishReason: string | undefined;
  /** Web pages that some servers list once for the whole answer. */
  sources: readonly Json[];
}

export interface ChatState {
  readonly count: Count;
  readonly runsTools: boolean;
  completion: Completion | undefined;
}

/** Only if several answers were requested. */
export function choiceLabel(choice: Choice): JsonObject {
  return choice.index === 0 ? {} : { label: `choice ${choice.index + 1}` };
}
