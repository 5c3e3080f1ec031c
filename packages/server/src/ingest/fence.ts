/**
 * The fence around a stream, if several nodes share a store. Turns that it opens are marked as this node's, so that
 * others end them if it dies. And a node that stalled until others considered it dead finds its turns ended when it
 * continues: the rest of the stream belongs to no turn any more, and must not reopen what was closed. The plan of every
 * write checks the turns that it is committed on.
 */

import {
  type ConversationId,
  type Draft,
  type IngestKernel,
  type Kernel,
  type Problem,
  problem,
  type Write,
} from "@blockyard/kernel";

/** The kernel as a stream may use it; `turn`: the one that was opened for it. */
export function fenced(kernel: Kernel, turn?: string): IngestKernel {
  const { node } = kernel;
  if (node === undefined) return kernel;
  const own = new Set(turn === undefined ? [] : [turn]);
  return {
    env: kernel.env,
    store: kernel.store,
    conversation: (id) => kernel.conversation(id),
    turns: (id) => kernel.turns(id),
    allBlocks: (id) => kernel.allBlocks(id),
    catchUp: (id, seq) => kernel.catchUp(id, seq),
    // Whoever ends a turn in its node's place ends its blocks with it, and those take no more pieces.
    stream: (id, agent, text) => kernel.stream(id, agent, text),
    drain: (id, agent) => kernel.drain(id, agent),
    write: <T>(id: ConversationId, write: Write<T>) =>
      kernel.write(id, {
        ...write,
        plan: (draft) => {
          const taken = takenFrom(draft, own);
          if (taken) return taken;
          const answer = write.plan(draft);
          for (const opened of mark(draft, node)) own.add(opened);
          return answer;
        },
      }),
  };
}

/** A run that ends its turn takes the node off; whoever ends it in its place leaves it there. */
function takenFrom(draft: Draft, own: ReadonlySet<string>): Problem | undefined {
  for (const id of own) {
    const turn = draft.turn(id);
    if (turn !== undefined && turn.status !== "running" && turn.node !== undefined)
      return problem("gone", `turn ${id} was ended by another node`);
  }
  return undefined;
}

function mark(draft: Draft, node: string): readonly string[] {
  const opened = draft.ops.flatMap(({ body }) => (body.type === "turn" ? [body.turn.id] : []));
  for (const id of new Set(opened)) {
    const turn = draft.turn(id);
    if (turn?.status === "running" && turn.node === undefined) draft.setTurn({ ...turn, node });
  }
  return opened;
}
