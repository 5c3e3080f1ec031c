/** One conversation in the list: its agent, its title, its state. Cost and time are shown on hover or keyboard focus. */

import { exactText, formatAge, plural, spentWords } from "@blockyard/kernel";
import { type PointerEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { archive } from "../actions/actions.ts";
import { RenameField } from "../actions/rename.tsx";
import { useCellPart } from "../state/cell.ts";
import { isSidebarOpen, renaming } from "../state/page-state.ts";
import { go, linkTo } from "../state/route.ts";
import { useIsViewer, useSession } from "../state/session.tsx";
import { AgentIcon, agentName } from "../ui/agent-icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { useAsked } from "./asked.ts";
import type { ListedConversation } from "./conversations.ts";
import { stateOf, stateWords } from "./groups.ts";
import { CARD_MS } from "./limits.ts";

interface EntryProps {
  readonly conversation: ListedConversation;
  readonly isCurrent: boolean;
  readonly now: number;
}

export function Entry({ conversation, isCurrent, now }: EntryProps): ReactNode {
  const { id, title, isUnread, provider, updatedAt } = conversation;
  const isRenamed = useCellPart(renaming, (at) => at?.where === "list" && at.conversation === id);
  const card = useCard();
  if (isRenamed) return <RenameField conversation={id} title={title} />;
  const state = stateOf(conversation);
  const isLive = state === "needs" || state === "running";
  const names = Object.entries({ current: isCurrent, unread: isUnread, live: isLive })
    .filter(([, isSo]) => isSo)
    .map(([name]) => name);
  return (
    <>
      <a
        ref={card.anchor}
        href={linkTo(id)}
        className={["entry", ...names].join(" ")}
        aria-current={isCurrent ? "page" : undefined}
        aria-describedby={card.isShown ? card.id : undefined}
        onPointerMove={card.pointed}
        onPointerLeave={card.hide}
        onFocus={(event) => event.target.matches(":focus-visible") && card.show(0)}
        onBlur={card.hide}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          card.hide();
          isSidebarOpen.set(false);
          go(linkTo(id));
        }}
      >
        <AgentIcon provider={provider} />
        <span className="entry-title" dir="auto">
          {title || "Untitled"}
        </span>
        {isUnread && <span className="unread-dot" role="img" aria-label="New since your last visit" />}
        {state === "done" ? (
          <span className="entry-age">{formatAge(now - updatedAt)}</span>
        ) : (
          <StateMark state={state} />
        )}
      </a>
      <div ref={card.box} id={card.id} className="entry-card" role="tooltip" popover="manual">
        {card.isShown && <Facts conversation={conversation} now={now} />}
      </div>
    </>
  );
}

function Facts({ conversation, now }: { conversation: ListedConversation; now: number }): ReactNode {
  const { title, provider, model, folder, costUsd, isCostLeast, turns, createdAt, updatedAt, asks } =
    conversation;
  const asked = useAsked(asks, folder);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["State", stateWords(stateOf(conversation), useIsViewer())],
    ["Request", asked && exactText(asked.words)],
    ["Agent", provider && [agentName(provider), model].filter(Boolean).join(" · ")],
    ["Folder", folder],
    ["Cost", spentWords(costUsd, isCostLeast)],
    ["Turns", turns > 0 ? String(turns) : undefined],
    ["Started", when(createdAt)],
    ["Changed", `${when(updatedAt)} (${formatAge(now - updatedAt)})`],
  ];
  return (
    <>
      <p>{title || "Untitled"}</p>
      <dl className="facts">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </>
  );
}

function when(at: number): string {
  return new Date(at).toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" });
}

/** A tooltip, shown after a moment. */
function useCard() {
  const anchor = useRef<HTMLAnchorElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [isShown, setShown] = useState(false);
  const id = useId();
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    const [from, card] = [anchor.current, box.current];
    if (!from || !card) return;
    if (!isShown) return card.hidePopover();
    card.showPopover();
    const at = from.getBoundingClientRect();
    const left = Math.min(at.right + 8, innerWidth - card.offsetWidth - 8);
    card.style.left = `${left}px`;
    card.style.top = `${besideComposer(left, Math.max(8, Math.min(at.top, innerHeight - card.offsetHeight - 8)), card)}px`;
    return hideWhenLeft(() => setShown(false));
  }, [isShown]);
  const show = (delay: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(true), delay);
  };
  const hide = () => {
    clearTimeout(timer.current);
    setShown(false);
  };
  /** An entry that has moved under a pointer that rests was not pointed at. */
  const pointed = ({ pointerType, movementX, movementY }: PointerEvent) => {
    if (pointerType === "mouse" && !isShown && (movementX !== 0 || movementY !== 0)) show(CARD_MS);
  };
  return { anchor, box, id, isShown, show, hide, pointed };
}

/** What somebody writes stays in sight: above the field, or below it where there is no room. */
function besideComposer(left: number, top: number, { offsetWidth, offsetHeight }: HTMLElement): number {
  const field = document.querySelector("form.composer")?.getBoundingClientRect();
  const isOver =
    field !== undefined &&
    left < field.right &&
    left + offsetWidth > field.left &&
    top < field.bottom &&
    top + offsetHeight > field.top;
  if (!isOver) return top;
  const above = field.top - offsetHeight - 8;
  return above >= 8 ? above : field.bottom + 8;
}

/** Who types, presses or scrolls does something else now. Keys that move the focus from entry to entry hide and show it by that. */
function hideWhenLeft(hide: () => void): () => void {
  const types = ["keydown", "pointerdown", "wheel"] as const;
  for (const type of types) addEventListener(type, hide, { capture: true, passive: true });
  return () => {
    for (const type of types) removeEventListener(type, hide, { capture: true });
  };
}

export function EntryMenu({ conversation }: { conversation: ListedConversation }): ReactNode {
  const session = useSession();
  const { id, title, isArchived } = conversation;
  return (
    <Menu label={`More actions for ${title || "this conversation"}`} icon="more">
      <MenuItem icon="edit" onChoose={() => renaming.set({ conversation: id, where: "list" })}>
        Rename
      </MenuItem>
      <MenuItem icon="archive" onChoose={() => void archive(session, id, !isArchived)}>
        {isArchived ? "Unarchive" : "Archive"}
      </MenuItem>
    </Menu>
  );
}

/** "3 archived". */
export function archivedWords(count: number): string {
  return plural(count, "archived conversation");
}
