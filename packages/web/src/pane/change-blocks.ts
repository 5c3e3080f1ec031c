/**
 * The blocks of a conversation that changed files: those that are here, live, and those of earlier, asked for once.
 */
import type { ToolAnswer } from "@blockyard/client";
import { type BlockId, isProblem, type View } from "@blockyard/kernel";
import { useEffect, useMemo, useState } from "react";
import { type Session, useOrder, useRecord, useSession, useViewState } from "../state/session.tsx";
import { type ChangeBlock, changeBlockOf } from "./change-list.ts";
import { EARLIER_BLOCKS } from "./limits.ts";

export function useChangeBlocks(view: View): { blocks: readonly ChangeBlock[]; isReading: boolean } {
  const session = useSession();
  const order = useOrder(view);
  const record = useRecord(view);
  const [earlier, setEarlier] = useState<ReadonlyMap<BlockId, ChangeBlock>>(new Map());
  const { isOpen, more } = useViewState(view);
  const [isRead, setRead] = useState(false);
  const isReading = !isOpen || (more && !isRead);
  const isAsked = isOpen && more && !isRead;
  useEffect(() => {
    if (!isAsked) return;
    let isOver = false;
    void readEarlier(session, view, () => isOver).then((found) => {
      if (isOver) return;
      setEarlier(found);
      setRead(true);
    });
    return () => {
      isOver = true;
    };
  }, [session, view, isAsked]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: order and the record's seq say that blocks have changed
  const blocks = useMemo(() => {
    const here = new Map(earlier);
    for (const block of view.blocks.values()) {
      if (block.kind !== "file_change") continue;
      const found = changeBlockOf(block, view.texts.get(block.id)?.toString() ?? "");
      if (found) here.set(found.id, found);
      else here.delete(block.id);
    }
    return [...here.values()];
  }, [view, order, earlier, record?.seq]);
  return { blocks, isReading };
}

async function readEarlier(
  session: Session,
  view: View,
  isOver: () => boolean,
): Promise<ReadonlyMap<BlockId, ChangeBlock>> {
  const found = new Map<BlockId, ChangeBlock>();
  const listed = await session.ask("block.list", {
    ...{ conversation: view.conversation, kind: "file_change", limit: EARLIER_BLOCKS },
  });
  if (isProblem(listed)) return found;
  for (const { block_id: id } of listed.blocks) {
    if (isOver()) break;
    if (view.blocks.has(id)) continue;
    const answer = await session.ask("block.read", { block_id: id, line_numbers: false });
    const block = isProblem(answer) ? undefined : readBlock(answer);
    if (block) found.set(id, block);
  }
  return found;
}

function readBlock(answer: ToolAnswer<"block.read">): ChangeBlock | undefined {
  const { block_id: id, seq: born, kind, status, metadata, content } = answer;
  return changeBlockOf({ id, born, kind, status, metadata }, content);
}
