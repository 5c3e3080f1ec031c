/**
 * The messages that wait for their turn, in the order in which they are sent: those among the last blocks, live, and those further up,
 * which the page need not have loaded. The server is asked for these when the conversation is opened, and when a turn begins or ends,
 * since only then one of them is sent.
 */
import {
  type Block,
  type BlockId,
  type ConversationId,
  isEnded,
  isProblem,
  type View,
} from "@blockyard/kernel";
import { useEffect, useState } from "react";
import { type Session, useSession, useViewPart, useViewState } from "../state/session.tsx";
import { QUEUE_BLOCKS, QUEUED_MESSAGES } from "./limits.ts";

export interface WaitingMessage {
  readonly id: BlockId;
  readonly conversation: ConversationId;
  readonly born: number;
  readonly metadata: Pick<Block["metadata"], "queued" | "turn">;
  /** Where the block is not loaded. */
  readonly text?: string;
}

interface Waiting {
  readonly messages: readonly WaitingMessage[];
  /** Asks again for those further up, when one of them was changed here. */
  readonly look: () => void;
}

export function useWaiting(view: View): Waiting {
  const session = useSession();
  const near = useViewPart(view, nearIn);
  const turns = useViewPart(view, ({ record }) => record?.running.join(" ") ?? "");
  const isFarAway = useViewPart(view, ({ order, more }) => more || order.length > QUEUE_BLOCKS);
  const { isOpen } = useViewState(view);
  const [far, setFar] = useState<readonly WaitingMessage[]>([]);
  const [looks, setLooks] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when a turn begins or ends, or somebody wants to know
  useEffect(() => {
    if (!isOpen || !isFarAway) return;
    let isGone = false;
    void readWaiting(session, view.conversation).then((found) => {
      if (!isGone && found) setFar(found);
    });
    return () => {
      isGone = true;
    };
  }, [session, view, isOpen, isFarAway, turns, looks]);
  const ids = near === "" ? [] : near.split(" ");
  const here = ids.flatMap((id) => view.blocks.get(id) ?? []);
  const isNear = new Set(view.order.slice(-QUEUE_BLOCKS));
  const messages = [...here, ...far.filter(({ id }) => !isNear.has(id))];
  return { messages: messages.sort(byPlace), look: () => setLooks((count) => count + 1) };
}

/** Their ids in one word, with what is told of them: so that nothing is drawn while nothing changes. */
function nearIn({ order, blocks }: View): string {
  return order
    .slice(-QUEUE_BLOCKS)
    .filter((id) => {
      const block = blocks.get(id);
      return block !== undefined && isWaiting(block);
    })
    .sort((a, b) => byPlace(blocks.get(a) as Block, blocks.get(b) as Block))
    .join(" ");
}

async function readWaiting(
  session: Session,
  conversation: ConversationId,
): Promise<readonly WaitingMessage[] | undefined> {
  const found: WaitingMessage[] = [];
  // One that somebody has edited while it waited is running.
  for (const status of ["pending", "running"] as const) {
    const listed = await session.ask("block.list", {
      conversation,
      status,
      kind: "text",
      limit: QUEUED_MESSAGES,
    });
    if (isProblem(listed)) return undefined;
    for (const { block_id: id, side, role } of listed.blocks) {
      if (!side || role !== "user") continue;
      const answer = await session.ask("block.read", { block_id: id, line_numbers: false });
      if (isProblem(answer) || answer.metadata.notice !== "queued") continue;
      const { seq: born, metadata, content: text } = answer;
      found.push({ id, conversation, born, metadata, text });
    }
  }
  return found;
}

/** Where somebody has put it; else where it came. */
function byPlace(a: WaitingMessage, b: WaitingMessage): number {
  const placeOf = ({ metadata, born }: WaitingMessage) => metadata.queued?.place ?? born;
  return placeOf(a) - placeOf(b) || a.born - b.born;
}

function isWaiting({ metadata, status }: Block): boolean {
  return metadata.notice === "queued" && !isEnded(status);
}
