/**
 * What becomes of the commits of a group, once it is known where their conversations stand: pure, so that the rule that
 * no two commits take one number is tested without a server. Each conversation is decided for itself.
 */

import type { Commit, CommitAnswer } from "@blockyard/kernel";
import { type BlockId, type ConversationId, checkCommit } from "@blockyard/kernel/plain";

export interface Decided {
  /** In order: those that take effect together. */
  readonly accepted: readonly Commit[];
  /** Of those that do not: why, by their place in the group. */
  readonly refused: ReadonlyMap<Commit, CommitAnswer | { readonly error: unknown }>;
}

/**
 * Decides the commits of one conversation in order of arrival. `seq` is its current one, 0 if it does not exist;
 * `versionOf` returns a block's stored version.
 */
export function decide(
  commits: readonly Commit[],
  seq: number,
  versionOf: (block: BlockId) => number,
): Decided {
  const versions = new Map<BlockId, number>();
  const accepted: Commit[] = [];
  const refused = new Map<Commit, CommitAnswer | { readonly error: unknown }>();
  let now = seq;
  for (const commit of commits) {
    if (commit.expectedSeq !== now) {
      refused.set(commit, { type: "moved", seq: now });
      continue;
    }
    try {
      checkCommit(commit, (block) => versions.get(block) ?? versionOf(block));
    } catch (error) {
      refused.set(commit, { error });
      continue;
    }
    accepted.push(commit);
    now = commit.record.seq;
    for (const { id, version } of commit.blocks) versions.set(id, version);
  }
  return { accepted, refused };
}

/** The commits of each conversation, in order. */
export function byConversation(commits: Iterable<Commit>): Map<ConversationId, Commit[]> {
  const groups = new Map<ConversationId, Commit[]>();
  for (const commit of commits) {
    const group = groups.get(commit.conversation);
    if (group) group.push(commit);
    else groups.set(commit.conversation, [commit]);
  }
  return groups;
}
