/**
 * The speaker from here on, with the time: a separate line, shared by everything after it until somebody else speaks.
 */
import { type Block, type BlockId, type Speaker, speakerOf, type View } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { type Session, useBlock, useSession, useView } from "../state/session.tsx";
import { agentIcon } from "../ui/agent-icon.tsx";
import { Icon } from "../ui/icons.tsx";

export function SpeakerRow({ id }: { id: BlockId }): ReactNode {
  const session = useSession();
  const view = useView();
  const block = useBlock(id);
  const speaker = block && whoSpeaks(session, view, block);
  if (!speaker) return null;
  return (
    <div className={`speaker speaker-${speaker.side}`} data-who={colourOf(speaker)}>
      <span className="speaker-icon">
        <Icon name={speaker.side === "person" ? "user" : agentIcon(speaker.id)} />
      </span>
      <h2 className="speaker-name">{speaker.name}</h2>
      <Time at={block.createdAt} />
    </div>
  );
}

export function whoSpeaks(session: Session, view: View, block: Block): Speaker | undefined {
  const { createdBy, provider } = view.record ?? {};
  return speakerOf(block, { createdBy, provider, self: session.replica.self?.agent });
}

const COLOURS = 6;

/** The same for the same speaker, on every page. */
function colourOf({ id }: Speaker): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return sum % COLOURS;
}

function Time({ at }: { at: number }): ReactNode {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const time = date.toLocaleTimeString(undefined, { timeStyle: "short" });
  const day = date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {isToday ? time : `${day}, ${time}`}
    </time>
  );
}
