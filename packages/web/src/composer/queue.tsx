/**
 * Messages that wait for their turn, above the composer: each can be moved, removed, or taken back into the field to be written
 * anew. One that is held, because the turn before it was stopped or the server was restarted, can be sent. When its turn
 * begins a message is said in the conversation, and is gone from here.
 */
import { plural, type QueuedMark, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { dropQueued, moveQueued, releaseQueued } from "../actions/actions.ts";
import { capabilities } from "../state/capabilities.ts";
import { useBlock, useSession, useText } from "../state/session.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { QUEUE_ANSWER_MS, QUEUED_CHARS } from "./limits.ts";
import { useWaiting, type WaitingMessage } from "./waiting.ts";

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
  const { messages, look } = useWaiting(view);
  if (messages.length === 0) return null;
  return (
    <ul className="queue" aria-label="Queued messages">
      {messages.map((message, i) => (
        <Waiting
          key={message.id}
          {...{ message, onEdit, look }}
          isFirst={i === 0}
          isLast={i === messages.length - 1}
        />
      ))}
    </ul>
  );
}

interface WaitingProps extends Pick<QueueProps, "onEdit"> {
  readonly message: WaitingMessage;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly look: () => void;
}

function Waiting({ message, onEdit, isFirst, isLast, look }: WaitingProps): ReactNode {
  const session = useSession();
  const { id } = message;
  const here = useBlock(id);
  const text = useText(id, here !== undefined)?.toString() ?? message.text ?? "";
  const block = here ?? message;
  const { held, sent, attachments = [] } = block.metadata.queued ?? {};
  const change = async <T,>(done: Promise<T>): Promise<T> => {
    const answer = await done;
    look();
    return answer;
  };
  return (
    <li className={held ? "held" : ""}>
      <Icon name={held ? "stop" : "clock"} />
      <span className="queue-text" title={text.slice(0, QUEUED_CHARS)}>
        {text.slice(0, QUEUED_CHARS)}
      </span>
      {attachments.length > 0 && <span className="dim">+ {plural(attachments.length, "file")}</span>}
      <span className={held ? "warn" : "dim"}>{held ? HELD[held] : sent ? "Sending…" : "Queued"}</span>
      {held && (
        <button
          type="button"
          className="quiet-button"
          onClick={() => void change(releaseQueued(session, block))}
        >
          Send
        </button>
      )}
      {capabilities.get()?.tools.has("turn.move") === true && !(isFirst && isLast) && (
        <>
          <Small
            name="Move up"
            icon="send"
            isOff={isFirst}
            onPress={() => void change(moveQueued(session, block, "up"))}
          />
          <Small
            name="Move down"
            icon="down"
            isOff={isLast}
            onPress={() => void change(moveQueued(session, block, "down"))}
          />
        </>
      )}
      <Small
        name="Edit"
        icon="edit"
        onPress={async () => {
          if (await change(dropQueued(session, block))) onEdit(text, attachments);
        }}
      />
      <Small name="Remove" icon="cross" onPress={() => void change(dropQueued(session, block))} />
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

/** Messages that are not with the server yet, because it is unavailable: they are sent when it is back. */
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
