/**
 * Messages that wait for their turn, above the composer: each can be removed, or taken back into the field to be written
 * anew. One that is held, because the turn before it was stopped or the server was restarted, can be sent. When its turn
 * begins a message is said in the conversation, and is gone from here.
 */
import { type Block, type BlockId, isEnded, plural, type QueuedMark, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { dropQueued, releaseQueued } from "../actions/actions.ts";
import { useBlock, useSession, useText, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

/** They are among the last blocks. */
const LOOKED_AT = 300;
const SHOWN_CHARS = 300;
/** A server that answers takes less. */
const QUIET_MS = 400;

type Kept = NonNullable<QueuedMark["attachments"]>;

interface QueueProps {
  readonly view: View;
  /** Takes a message back into the field, with its files. */
  readonly onEdit: (text: string, files: Kept) => void;
}

const HELD = {
  stopped: "Not sent: the turn was stopped",
  restarted: "Not sent: the server restarted",
} as const;

export function Queue({ view, onEdit }: QueueProps): ReactNode {
  const ids = useViewPart(view, queuedIn);
  if (ids === "") return null;
  return (
    <ul className="queue" aria-label="Queued messages">
      {ids.split(" ").map((id) => (
        <Waiting key={id} id={id} onEdit={onEdit} />
      ))}
    </ul>
  );
}

function Waiting({ id, onEdit }: Pick<QueueProps, "onEdit"> & { readonly id: BlockId }): ReactNode {
  const session = useSession();
  const text = useText(id)?.toString() ?? "";
  const block = useBlock(id);
  if (!block) return null;
  const { held, attachments = [] } = (block.metadata["queued"] ?? {}) as Partial<QueuedMark>;
  return (
    <li className={held ? "held" : ""}>
      <Icon name={held ? "stop" : "clock"} />
      <span className="queue-text" title={text.slice(0, SHOWN_CHARS)}>
        {text.slice(0, SHOWN_CHARS)}
      </span>
      {attachments.length > 0 && <span className="dim">+ {plural(attachments.length, "file")}</span>}
      <span className={held ? "warn" : "dim"}>{held ? HELD[held] : "Queued"}</span>
      {held && (
        <button type="button" className="quiet-button" onClick={() => void releaseQueued(session, block)}>
          Send
        </button>
      )}
      <button
        type="button"
        className="icon-button"
        title="Edit"
        aria-label="Edit this message"
        onClick={async () => {
          if (await dropQueued(session, block)) onEdit(text, attachments);
        }}
      >
        <Icon name="edit" />
      </button>
      <button
        type="button"
        className="icon-button"
        title="Remove"
        aria-label="Remove this message"
        onClick={() => void dropQueued(session, block)}
      >
        <Icon name="cross" />
      </button>
    </li>
  );
}

/** What was sent and is not with the server yet, because it is away: it goes out by itself when the server is back. */
export function Sending({ text }: { text: string }): ReactNode {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLong) return null;
  return (
    <ul className="queue" aria-label="What is being sent">
      <li>
        <Icon name="clock" />
        <span className="queue-text">{text.slice(0, SHOWN_CHARS)}</span>
        <span className="dim">is being sent; keep this page open</span>
      </li>
    </ul>
  );
}

/** Their ids, oldest first, in one word: so that nothing is drawn while nothing changes. */
function queuedIn({ order, blocks }: View): string {
  return order
    .slice(-LOOKED_AT)
    .filter((id) => isWaiting(blocks.get(id)))
    .join(" ");
}

function isWaiting(block: Block | undefined): boolean {
  return block?.metadata["notice"] === "queued" && !isEnded(block.status);
}
