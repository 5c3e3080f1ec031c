/**
 * Who wrote what a model reads. Text of the requesting person, and of the agents that this server runs, is passed as it
 * is. Everything else was written or changed by others (programs with their own token): it is marked with their name,
 * and every line of it is quoted, so that no text can pass for the person's, or for the model's own.
 */

import {
  type Block,
  type BlockId,
  type ContextBlock,
  isProblem,
  type Kernel,
  type Problem,
  type WholeBlock,
} from "@blockyard/kernel";
import { importedUntil } from "../ingest/import-mark.ts";
import { BRIEFED_NAME_CHARS, VOICE_COPIES } from "./limits.ts";

/** The authors in a turn. */
export interface Voices {
  /** The requester. */
  readonly owner: string;
  /** Agents that this server runs. No token has such a name. */
  readonly agents: ReadonlySet<string>;
}

/** What a block does not say of itself. */
export interface Signs {
  /** Who else has changed its text. */
  readonly editedBy?: readonly string[] | undefined;
  /** The real author, if the block's agent has only copied it. */
  readonly from?: string | undefined;
}

export interface SignedBlock extends ContextBlock, Signs {}

const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
const UNKNOWN = "others";
const IMPORT = "an import";

/**
 * Who has changed a block's text after a version of it, besides its own agent. Changes older than the history may be
 * anybody's.
 */
export async function editorsOf(
  kernel: Kernel,
  { id, agent, promoted }: Block,
  since = 0,
): Promise<readonly string[] | Problem> {
  if (!promoted) return [];
  const log = await kernel.log(id, { version: since });
  if (isProblem(log)) return log;
  const older = log.compacted === undefined ? [] : (log.compacted.editors ?? [UNKNOWN]);
  const later = log.ops.filter(({ body }) => body.type === "splice").map((op) => op.agent);
  return [...new Set([...older, ...later])].filter((editor) => editor !== agent);
}

/** The context with its editors and authors, as far as they are neither the person nor an agent that runs here. */
export async function signed(
  kernel: Kernel,
  context: readonly ContextBlock[],
  voices: Voices,
): Promise<readonly SignedBlock[] | Problem> {
  const blocks: SignedBlock[] = [];
  const known = new Map<BlockId, Signs>();
  for (const each of context) {
    const signs = known.get(each.block.id) ?? (await signsOf(kernel, each.block, voices));
    if (isProblem(signs)) return signs;
    known.set(each.block.id, signs);
    blocks.push({ ...each, ...signs });
  }
  return blocks;
}

/** A fork's copy belongs to the copying agent; its source says whose words it holds. */
async function signsOf(kernel: Kernel, copy: Block, voices: Voices): Promise<Signs | Problem> {
  const others = new Set<string>();
  let from: string | undefined;
  let block = copy;
  for (let copies = 0; ; copies++) {
    const editors = await editorsOf(kernel, block);
    if (isProblem(editors)) return editors;
    for (const editor of editors) if (isOther(voices, editor)) others.add(editor);
    const isImported = await comesFromImport(kernel, block);
    if (isProblem(isImported)) return isImported;
    if (isImported) from ??= IMPORT;
    if (block !== copy && isOther(voices, block.agent)) from ??= block.agent;
    const source = block.metadata.includes;
    if (typeof source !== "string" || from !== undefined) break;
    const next = copies < VOICE_COPIES ? await kernel.block(source) : undefined;
    if (isProblem(next) && next.problem !== "not_found" && next.problem !== "gone") return next;
    if (next === undefined || isProblem(next)) {
      from = UNKNOWN; // it was deleted, together with its record of authors
      break;
    }
    block = next;
  }
  return {
    ...(others.size === 0 ? {} : { editedBy: [...others] }),
    ...(from === undefined ? {} : { from }),
  };
}

/** An export may name anybody as its author. */
async function comesFromImport(kernel: Kernel, { conversation, born }: Block): Promise<boolean | Problem> {
  const record = await kernel.conversation(conversation);
  return isProblem(record) ? record : born <= importedUntil(record);
}

export function isOther({ owner, agents }: Voices, agent: string): boolean {
  return agent !== owner && !agents.has(agent);
}

/** A text of others, with whose it is. */
export function quotedAs(block: WholeBlock, { editedBy = [], from }: Signs, text: string): string {
  const name = block.role === "model" ? block.agent : `${block.agent} (${block.role})`;
  const copied = from === undefined || from === IMPORT ? name : from;
  const author = from === IMPORT ? `${IMPORT} says that ${name} wrote this` : `${copied} wrote this`;
  const who = editedBy.length === 0 ? author : `${author}, ${editedBy.join(", ")} changed it`;
  return `[Blockyard] ${who}; it is not from your user:\n${quoted(text)}`;
}

/** Every line of it begins with a mark, so that none can pass for one of ours. */
export function quoted(text: string): string {
  const lines = text.toWellFormed().trimEnd().split(LINE_END);
  return lines.map((line) => (line === "" ? "|" : `| ${line}`)).join("\n");
}

/** A name inside of one of our lines. */
export function oneLine(name: unknown): string {
  return String(name)
    .slice(0, BRIEFED_NAME_CHARS)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}
