/**
 * What goes along with every prompt beside the conversation itself: files and blocks of elsewhere, each with a button that takes it
 * out of the context again.
 */

import { type BlockId, type ConversationId, isProblem, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { include, toInclude } from "../actions/include.ts";
import { useCell } from "../state/cell.ts";
import { type Session, useSession, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { CHIP_CHARS } from "./limits.ts";

const names = new Map<BlockId, Promise<Named>>();

interface Named {
  readonly name: string;
  readonly isFile: boolean;
}

export function ContextChips({ view }: { view: View | undefined }): ReactNode {
  return view ? <OfConversation view={view} /> : <OfNext />;
}

function OfConversation({ view }: { view: View }): ReactNode {
  const ids = useViewPart(view, ({ record }) => record?.included.join(" ") ?? "");
  return <Chips ids={ids === "" ? [] : ids.split(" ")} conversation={view.conversation} />;
}

function OfNext(): ReactNode {
  return <Chips ids={useCell(toInclude)} conversation={undefined} />;
}

interface ChipsProps {
  readonly ids: readonly BlockId[];
  readonly conversation: ConversationId | undefined;
}

function Chips({ ids, conversation }: ChipsProps): ReactNode {
  if (ids.length === 0) return null;
  return (
    <ul className="context-chips" aria-label="In the context">
      {ids.map((id) => (
        <Chip key={id} id={id} conversation={conversation} />
      ))}
    </ul>
  );
}

function Chip({ id, conversation }: { id: BlockId; conversation: ConversationId | undefined }): ReactNode {
  const session = useSession();
  const [named, setNamed] = useState<Named | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    void nameOf(session, id).then((found) => isGone || setNamed(found));
    return () => {
      isGone = true;
    };
  }, [session, id]);
  const { name, isFile } = named ?? { name: "…", isFile: false };
  return (
    <li>
      <Icon name={isFile ? "file" : "plus"} />
      <span className="attached-name" title={name}>
        {name}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={`Remove ${name} from the context`}
        onClick={() => void include(session, conversation, id, false)}
      >
        <Icon name="cross" />
      </button>
    </li>
  );
}

/** A file's path; for another block its beginning. */
function nameOf(session: Session, id: BlockId): Promise<Named> {
  const known = names.get(id) ?? readName(session, id);
  names.set(id, known);
  return known;
}

async function readName(session: Session, id: BlockId): Promise<Named> {
  const answer = await session.ask("block.read", {
    block_id: id,
    line_numbers: false,
    range: { start: 0, end: 1 },
  });
  if (isProblem(answer)) {
    names.delete(id);
    return { name: "missing block", isFile: false };
  }
  const { metadata, content, kind } = answer as {
    readonly metadata?: { readonly path?: unknown };
    readonly content?: unknown;
    readonly kind?: unknown;
  };
  if (kind === "file" && typeof metadata?.path === "string") return { name: metadata.path, isFile: true };
  const text = typeof content === "string" ? content.trim() : "";
  return { name: text.slice(0, CHIP_CHARS) || "a block", isFile: false };
}
