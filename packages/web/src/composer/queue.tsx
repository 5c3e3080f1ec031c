/**
 * Messages that wait for their turn, above the composer: each can be taken back, or taken back into the field to be
 * written anew. When its turn begins a message is said in the conversation, and is gone from here.
 */
import type { Block, BlockId, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { dropQueued } from "../actions/actions.ts";
import { Icon } from "../icons.tsx";
import { useSession, useText, useViewPart } from "../session.tsx";

/** They are among the last blocks. */
const LOOKED_AT = 300;
const SHOWN_CHARS = 300;
/** A server that answers takes less. */
const QUIET_MS = 400;

interface QueueProps {
  readonly view: View;
  readonly onEdit: (text: string) => void;
}

export function Queue({ view, onEdit }: QueueProps): ReactNode {
  const ids = useViewPart(view, queuedIn);
  if (ids === "") return null;
  return (
    <ul className="queue" aria-label="Messages that wait for their turn">
      {ids.split(" ").map((id) => (
        <Waiting key={id} view={view} id={id} onEdit={onEdit} />
      ))}
    </ul>
  );
}

function Waiting({ view, id, onEdit }: QueueProps & { readonly id: BlockId }): ReactNode {
  const session = useSession();
  const text = useText(id)?.toString() ?? "";
  const drop = () => {
    const block = view.blocks.get(id);
    return block ? dropQueued(session, block) : Promise.resolve(false);
  };
  return (
    <li>
      <Icon name="clock" />
      <span className="queue-text" title={text.slice(0, SHOWN_CHARS)}>
        {text.slice(0, SHOWN_CHARS)}
      </span>
      <span className="dim">waits</span>
      <button
        type="button"
        className="icon-button"
        title="Take back into the field"
        aria-label="Take this message back into the field"
        onClick={async () => {
          if (await drop()) onEdit(text);
        }}
      >
        <Icon name="edit" />
      </button>
      <button
        type="button"
        className="icon-button"
        title="Do not send"
        aria-label="Do not send this message"
        onClick={() => void drop()}
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
  return block?.metadata["notice"] === "queued" && block.status === "pending";
}
