/**
 * What an agent may do to the blocks and conversations of others. The owner may do everything; a viewer is refused
 * before this. An agent:
 *
 * - speaks as itself: it creates blocks with the roles model and tool. What a user or the system says is the owner's.
 * - edits any text that agents and tools wrote, but not what the owner said.
 * - controls its own blocks (status, metadata, place), and conversations that it created (their context and head). In
 *   others it appends at the end, or attaches beside.
 * - does not write the metadata that says who wrote something, where it comes from, or what the server did with it.
 */

import type { Block } from "../model/block.ts";
import type { Conversation } from "../model/conversation.ts";
import type { BlockId } from "../model/ids.ts";
import type { Role } from "../model/kind.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { Draft } from "../write/draft.ts";
import type { Caller } from "./tool.ts";

const AGENTS_ROLES: readonly Role[] = ["model", "tool"];

/** Metadata that claims an author, an origin or a deed of the server. */
const RESERVED_METADATA = ["includes", "author", "label", "notice", "node", "sandbox", "observed"] as const;

/** Metadata of conversations that only the server writes. */
const RESERVED_RECORD = [
  "imported",
  "archived",
  "mode",
  "switched",
  "choices",
  "titled",
  "recorded",
] as const;

export function maySpeak({ agent, role }: Caller, as: Role): Problem | undefined {
  if (role === "owner" || AGENTS_ROLES.includes(as)) return undefined;
  return problem(
    "forbidden",
    `${agent} writes with the roles ${AGENTS_ROLES.join(" and ")}: only the owner writes as ${as}`,
    { role: as, valid_roles: AGENTS_ROLES },
  );
}

/** Whether the text of a block may be changed. */
export function mayEdit({ agent, role }: Caller, block: Block): Problem | undefined {
  // What an agent has copied from others (a fork) has its name, and their words.
  if (role === "owner" || block.kind === "file" || AGENTS_ROLES.includes(block.role)) return undefined;
  return problem(
    "forbidden",
    `block ${block.id} was written by ${block.agent} as ${block.role}, and agents cannot edit it. Create your own block instead`,
    { block_id: block.id, role: block.role, caller: agent },
  );
}

/** Whether a caller decides where a conversation continues and what belongs to its context. */
export function mayDirect({ agent, role }: Caller, record: Conversation): Problem | undefined {
  if (role === "owner" || record.createdBy === agent) return undefined;
  return problem(
    "forbidden",
    `conversation ${record.id} belongs to ${record.createdBy}: ${agent} may add to its end, not change its context or head`,
    { conversation: record.id, created_by: record.createdBy, caller: agent },
  );
}

/** Whether a new block may be placed there: anywhere but at the end it would move the head to another branch. */
export function mayPlace(
  caller: Caller,
  { record }: Draft,
  parent: BlockId | null | undefined,
  isSide: boolean,
): Problem | undefined {
  if (isSide || parent === undefined || parent === record.head) return undefined;
  return mayDirect(caller, record);
}

/** Whether an agent may write these keys. `turnOf`: who runs a turn, since a block names the turn that it is of. */
export function mayClaim(
  { agent, role }: Caller,
  metadata: Readonly<Record<string, unknown>> | undefined,
  turnOf: (turn: string) => string | undefined,
): Problem | undefined {
  if (role === "owner" || metadata === undefined) return undefined;
  const claimed = RESERVED_METADATA.find((key) => metadata[key] !== undefined);
  if (claimed !== undefined) return reserved(`metadata.${claimed}`);
  const turn = metadata.turn;
  if (turn === undefined || turn === null || turnOf(String(turn)) === agent) return undefined;
  return problem("forbidden", `turn ${String(turn).slice(0, 80)} is not run by ${agent}`, {
    field: "metadata.turn",
  });
}

/** The same for a conversation's metadata, for any caller: values that an import or the archive wrote there are trusted. */
export function mayRecord(metadata: Readonly<Record<string, unknown>> | undefined): Problem | undefined {
  const claimed = RESERVED_RECORD.find((key) => metadata?.[key] !== undefined);
  return claimed === undefined ? undefined : reserved(`metadata.${claimed}`);
}

function reserved(field: string): Problem {
  return problem("forbidden", `${field} is set only by the server`, { field });
}
