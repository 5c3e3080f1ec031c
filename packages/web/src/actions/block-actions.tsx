/**
 * The small row of buttons at a block: copy, edit, fork, and a menu with the rest. In a narrow window there is the menu alone, with all
 * of them: the row would stand on the text.
 */
import type { Block } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { inspected } from "../state/page-state.ts";
import { linkTo } from "../state/route.ts";
import { useIsViewer, useSession } from "../state/session.tsx";
import { copyAndTell } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { copyBlock, editBlock, forkAt, forkAway, prune, undo } from "./actions.ts";
import { addToNext } from "./include.ts";

export function BlockActions({ block }: { block: Block }): ReactNode {
  const session = useSession();
  const isViewer = useIsViewer();
  return (
    <div className="block-actions">
      <button
        type="button"
        className="icon-button usual"
        title="Copy"
        aria-label="Copy this block"
        onClick={() => void copyBlock(session, block)}
      >
        <Icon name="copy" />
      </button>
      {!isViewer && (
        <>
          <button
            type="button"
            className="icon-button usual"
            title="Edit (e)"
            aria-label="Edit this block"
            onClick={() => editBlock(block)}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            className="icon-button usual"
            title="Fork here (f)"
            aria-label="Fork the conversation here"
            onClick={() => void forkAt(session, block)}
          >
            <Icon name="fork" />
          </button>
        </>
      )}
      <Menu label="More actions for this block" icon="more">
        <Usual block={block} />
        {!isViewer && (
          <>
            <MenuItem icon="undo" onChoose={() => void undo(session, block.id, "undo")}>
              Undo my last edit here
            </MenuItem>
            <MenuItem icon="redo" onChoose={() => void undo(session, block.id, "redo")}>
              Redo
            </MenuItem>
            <MenuItem icon="branch" onChoose={() => void forkAway(session, block)}>
              Fork into a new conversation
            </MenuItem>
            <MenuItem icon="prune" onChoose={() => void prune(session, block.id, !block.pruned)}>
              {block.pruned ? "Include in context" : "Exclude from context"}
            </MenuItem>
            <MenuItem icon="plus" onChoose={() => void addToNext(session, block.id)}>
              Add to the next conversation
            </MenuItem>
          </>
        )}
        <MenuItem
          icon="link"
          onChoose={() => void copyAndTell(`${location.origin}${linkTo(block.conversation, block.id)}`)}
        >
          Copy link
        </MenuItem>
        <MenuItem icon="history" onChoose={() => inspected.set(block.id)}>
          History and details
        </MenuItem>
      </Menu>
    </div>
  );
}

/** Actions that have buttons of their own in a wide window. */
function Usual({ block }: { block: Block }): ReactNode {
  const session = useSession();
  const isViewer = useIsViewer();
  if (!matchMedia("(max-width: 760px)").matches) return null;
  return (
    <>
      <MenuItem icon="copy" onChoose={() => void copyBlock(session, block)}>
        Copy
      </MenuItem>
      {!isViewer && (
        <>
          <MenuItem icon="edit" onChoose={() => editBlock(block)}>
            Edit
          </MenuItem>
          <MenuItem icon="fork" onChoose={() => void forkAt(session, block)}>
            Fork here
          </MenuItem>
        </>
      )}
    </>
  );
}
