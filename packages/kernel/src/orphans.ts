/**
 * Closing what a dead process left open: blocks that nobody writes any more and turns that nobody runs. Done once after a
 * start, before anything new begins, so that nothing stays `running` for ever.
 */

import type { AgentId, Block, ConversationId } from "./block.ts";
import type { Kernel } from "./kernel.ts";
import { isProblem } from "./problem.ts";

export interface Closed {
  readonly blocks: number;
  readonly turns: number;
}

/** Ends every open block as interrupted, and every running turn. File blocks have no end and are left alone. */
export async function closeOrphans(kernel: Kernel, agent: AgentId): Promise<Closed> {
  const open = new Map<ConversationId, Block[]>();
  for (const status of ["pending", "running"] as const) {
    for (const block of await kernel.store.blocks({ status, order: "first", limit: 1e9 })) {
      if (block.kind !== "file")
        open.set(block.conversation, [...(open.get(block.conversation) ?? []), block]);
    }
  }
  const running = await kernel.store.conversations({ limit: 1e9 });
  for (const record of running)
    if (record.running.length > 0 && !open.has(record.id)) open.set(record.id, []);
  let blocks = 0;
  let turns = 0;
  for (const [conversation, list] of open) {
    const closed = await kernel.write(conversation, {
      agent,
      plan: (draft) => {
        let ended = 0;
        for (const { id } of list) {
          const after = draft.status(id, "error", { reason: "interrupted" });
          if (!isProblem(after)) ended++;
        }
        const stopped = draft.record.running.flatMap((id) => draft.turn(id) ?? []);
        for (const turn of stopped) {
          draft.setTurn({ ...turn, status: "error", reason: "interrupted", endedAt: draft.at });
        }
        return { ended, stopped: stopped.length };
      },
    });
    if (isProblem(closed)) continue;
    blocks += closed.ended;
    turns += closed.stopped;
  }
  return { blocks, turns };
}
