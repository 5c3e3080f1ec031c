/**
 * Messages that wait for their turn, above the composer: each can be moved, removed, or taken back into the field to be written
 * anew. One that is held, because the turn before it was stopped or the server was restarted, can be sent. When its turn
 * begins a message is said in the conversation, and is gone from here.
 */

import { type Block, type BlockId, isEnded, plural, type QueuedMark, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { dropQueued, moveQueued, releaseQueued } from "../actions/actions.ts";
import { capabilities } from "../state/capabilities.ts";
import { useBlock, useSession, useText, useViewPart } from "../state/session.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { QUEUE_ANSWER_MS, QUEUE_BLOCKS, QUEUED_CHARS } from "./limits.ts";

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
  const all = ids.split(" ");
  return (
    <ul className="queue" aria-label="Queued messages">
      {all.map((id, i) => (
        <Waiting key={id} id={id} onEdit={onEdit} before={all[i - 1]} after={all[i + 1]} />
      ))}
    </ul>
  );
}

interface WaitingProps extends Pick<QueueProps, "onEdit"> {
  readonly id: BlockId;
  readonly before: BlockId | undefined;
  readonly after: BlockId | undefined;
}

function Waiting({ id, onEdit, before, after }: WaitingProps): ReactNode {
  const session = useSession();
  const text = useText(id)?.toString() ?? "";
  const block = useBlock(id);
  if (!block) return null;
  const { held, sent, attachments = [] } = block.metadata.queued ?? {};
  const move = (to: BlockId | undefined, by: "up" | "down") =>
    to !== undefined && void moveQueued(session, block, by);
  return (
    <li className={held ? "held" : ""}>
      <Icon name={held ? "stop" : "clock"} />
      <span className="queue-text" title={text.slice(0, QUEUED_CHARS)}>
        {text.slice(0, QUEUED_CHARS)}
      </span>
      {attachments.length > 0 && <span className="dim">+ {plural(attachments.length, "file")}</span>}
      <span className={held ? "warn" : "dim"}>{held ? HELD[held] : sent ? "Sending…" : "Queued"}</span>
      {held && (
        <button type="button" className="quiet-button" onClick={() => void releaseQueued(session, block)}>
          Send
        </button>
      )}
      {capabilities.get()?.tools.has("turn.move") === true &&
        (before !== undefined || after !== undefined) && (
          <>
            <Small
              name="Move up"
              icon="send"
              isOff={before === undefined}
              onPress={() => move(before, "up")}
            />
            <Small
              name="Move down"
              icon="down"
              isOff={after === undefined}
              onPress={() => move(after, "down")}
            />
          </>
        )}
      <Small
        name="Edit"
        icon="edit"
        onPress={async () => {
          if (await dropQueued(session, block)) onEdit(text, attachments);
        }}
      />
      <Small name="Remove" icon="cross" onPress={() => void dropQueued(session, block)} />
    </li>
  );
}

interface SmallProps {
  readonly name: string;
  readonly icon: IconName;
  readonly isOff?: boolean;
  readonly onPress: () => void;
}

function Small({ name, icon, isOff = false, onPress }: SmallProps): ReactNode {
  return (
    <button
      type="button"
      className="icon-button"
      title={name}
      aria-label={`${name} this message`}
      disabled={isOff}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}

/** What was sent and is not with the server yet, because it is away: it goes out by itself when the server is back. */
export function Sending({ text }: { text: string }): ReactNode {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), QUEUE_ANSWER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLong) return null;
  return (
    <ul className="queue" aria-label="Sending">
      <li>
        <Icon name="clock" />
        <span className="queue-text">{text.slice(0, QUEUED_CHARS)}</span>
        <span className="dim">Sending… keep this page open</span>
      </li>
    </ul>
  );
}

/** Their ids in one word, the next one first: so that nothing is drawn while nothing changes. */
function queuedIn({ order, blocks }: View): string {
  const waiting = order.slice(-QUEUE_BLOCKS).flatMap((id) => {
    const block = blocks.get(id);
    return block && isWaiting(block) ? [block] : [];
  });
  return waiting
    .sort((a, b) => placeOf(a) - placeOf(b) || a.born - b.born)
    .map(({ id }) => id)
    .join(" ");
}

/** Where somebody has put it; else where it came. */
function placeOf({ metadata, born }: Block): number {
  return metadata.queued?.place ?? born;
}

function isWaiting({ metadata, status }: Block): boolean {
  return metadata.notice === "queued" && !isEnded(status);
}
