/** The left side: the workspace, a way to begin, and its conversations: what needs the reader, what runs, then by day. */

import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { useCell, useCellPart } from "../state/cell.ts";
import { useOpen } from "../state/disclosure.ts";
import { isSidebarOpen, overlay } from "../state/page-state.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { go, useRoute } from "../state/route.ts";
import { useIsViewer } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { Resizer } from "../ui/resizer.tsx";
import { ThemeButton } from "../ui/theme-button.tsx";
import type { Conversations, ListedConversation } from "./conversations.ts";
import { archivedWords, Entry, EntryMenu } from "./entry.tsx";
import { groupsOf, stateOf, stateWords } from "./groups.ts";
import { DRAWN_ENTRIES } from "./limits.ts";
import { useNow } from "./now.ts";
import { WorkspaceSwitcher } from "./workspace-switcher.tsx";

const WIDTH = { least: 200, most: 440, usual: 264 };

export function Sidebar({ conversations }: { conversations: Conversations }): ReactNode {
  const isOpen = useCell(isSidebarOpen);
  const width = useCellPart(preferences, ({ sidebarWidth }) => sidebarWidth);
  const listing = useCell(conversations.listing);
  const [filter, setFilter] = useState("");
  const isViewer = useIsViewer();
  const all = listing.state === "here" ? listing.conversations : [];
  return (
    <nav className={isOpen ? "sidebar open" : "sidebar"} aria-label="Conversations">
      <div className="sidebar-head">
        <WorkspaceSwitcher conversations={all} />
        <button
          type="button"
          className="icon-button"
          title="Hide the sidebar ([)"
          aria-label="Hide the sidebar"
          onClick={hideSidebar}
        >
          <Icon name="sidebar" />
        </button>
      </div>
      <div className="sidebar-begin">
        {!isViewer && (
          <a className="new-task" href="/" onClick={leaveTo("/")}>
            <Icon name="plus" /> New task
          </a>
        )}
        <button
          type="button"
          className={isViewer ? "new-task" : "icon-button"}
          title="Search everything (/)"
          aria-label="Search everything"
          onClick={() => overlay.set({ type: "search" })}
        >
          <Icon name="search" /> {isViewer && "Search everything"}
        </button>
      </div>
      <div className="filter-field">
        <Icon name="filter" />
        <input
          className="filter"
          type="search"
          placeholder="Filter conversations"
          aria-label="Filter conversations"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "ArrowDown") return;
            event.preventDefault();
            document.querySelector<HTMLElement>(".conversation-list a.entry")?.focus();
          }}
        />
      </div>
      <ConversationList conversations={conversations} filter={filter} />
      <Foot />
      <Resizer
        label="Width of the sidebar"
        side="before"
        width={width}
        {...WIDTH}
        onResize={(wanted) => prefer({ sidebarWidth: wanted })}
      />
    </nav>
  );
}

function Foot(): ReactNode {
  return (
    <div className="sidebar-foot">
      <button
        type="button"
        className="quiet-button"
        title="Commands (Ctrl K)"
        onClick={() => overlay.set({ type: "palette" })}
      >
        <Icon name="command" /> Commands
      </button>
      <span className="spread" />
      <button
        type="button"
        className="icon-button"
        title="Keyboard (?)"
        aria-label="Keyboard"
        onClick={() => overlay.set({ type: "help" })}
      >
        <Icon name="question" />
      </button>
      <ThemeButton />
    </div>
  );
}

/** In a narrow window it covers the page, and is hidden again; in a wide one its state is stored. */
function hideSidebar(): void {
  if (isSidebarOpen.get()) isSidebarOpen.set(false);
  else prefer({ sidebar: false });
}

function leaveTo(path: string) {
  return (event: { preventDefault(): void }) => {
    event.preventDefault();
    isSidebarOpen.set(false);
    go(path);
  };
}

function ConversationList({
  conversations,
  filter,
}: {
  conversations: Conversations;
  filter: string;
}): ReactNode {
  const listing = useCell(conversations.listing);
  const folder = useCellPart(preferences, (chosen) => chosen.folder);
  const now = useNow();
  const isViewer = useIsViewer();
  const list = useRef<HTMLDivElement>(null);
  const [isArchiveOpen, toggleArchive] = useOpen("sidebar:archived", false);
  if (listing.state === "loading") return <p className="sidebar-note">Loading…</p>;
  if (listing.state === "failed")
    return <p className="sidebar-note">Couldn't load conversations: {listing.problem.message}</p>;
  const words = filter.trim().toLowerCase();
  const found = listing.conversations
    .filter((conversation) => folder === "" || conversation.folder === folder)
    .filter((conversation) => matches(conversation, words, isViewer));
  const current = found.filter(({ isArchived }) => !isArchived);
  const archived = found.filter(({ isArchived }) => isArchived);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its links have the focus; these are their keys
    <div className="conversation-list" ref={list} onKeyDown={(event) => walk(event, list.current)}>
      {current.length === 0 && (
        <p className="sidebar-note">{words === "" ? "No conversations yet" : "No matches"}</p>
      )}
      {groupsOf(current.slice(0, DRAWN_ENTRIES), now, isViewer).map(
        ({ name, state, conversations: members }) => (
          <section key={name} aria-label={name}>
            <h2 className={state === "needs" ? "group-name needs" : "group-name"}>
              {name}
              {state === "needs" && <span className="group-count">{members.length}</span>}
            </h2>
            <Entries conversations={members} now={now} />
          </section>
        ),
      )}
      {current.length > DRAWN_ENTRIES && (
        <p className="sidebar-note">{current.length - DRAWN_ENTRIES} more: filter to see them</p>
      )}
      {archived.length > 0 && (
        <>
          <button
            type="button"
            className="quiet-button archived-line"
            aria-expanded={isArchiveOpen}
            onClick={toggleArchive}
          >
            <Icon name="chevron" className={isArchiveOpen ? "turned" : ""} />
            {archivedWords(archived.length)}
          </button>
          {isArchiveOpen && <Entries conversations={archived.slice(0, DRAWN_ENTRIES)} now={now} />}
        </>
      )}
    </div>
  );
}

function Entries({
  conversations,
  now,
}: {
  conversations: readonly ListedConversation[];
  now: number;
}): ReactNode {
  const { conversation: current } = useRoute();
  const isViewer = useIsViewer();
  // Only the entry that is pointed at has its menu in the document.
  const [pointed, setPointed] = useState<string | undefined>(undefined);
  return (
    <ul>
      {conversations.map((conversation) => {
        const { id } = conversation;
        return (
          <li key={id} onPointerEnter={() => setPointed(id)} onFocus={() => setPointed(id)}>
            <Entry conversation={conversation} isCurrent={id === current} now={now} />
            {!isViewer && (pointed === id || id === current) && <EntryMenu conversation={conversation} />}
          </li>
        );
      })}
    </ul>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Arrow keys, or j and k, go from conversation to conversation; Enter, as for every link, opens it. */
function walk(event: KeyboardEvent, list: HTMLElement | null): void {
  if (!(event.target instanceof HTMLElement) || !event.target.matches("a.entry") || !list) return;
  const entries = [...list.querySelectorAll<HTMLElement>("a.entry")];
  const at = entries.indexOf(event.target);
  const step = STEPS[event.key];
  const to = step !== undefined ? at + step : { Home: 0, End: entries.length - 1 }[event.key];
  if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (to < 0) document.querySelector<HTMLElement>(".sidebar .filter")?.focus();
  else entries[Math.min(entries.length - 1, to)]?.focus();
}

/** By its words; its state, "unread" and "archived" are words of it too. */
function matches(conversation: ListedConversation, words: string, isViewer: boolean): boolean {
  if (words === "") return true;
  const { title, provider, id, model, folder, isUnread, isArchived } = conversation;
  const state = stateWords(stateOf(conversation), isViewer);
  const states = [state, isUnread ? "unread" : "", isArchived ? "archived" : ""];
  return [title, provider, model, folder, id, ...states].join(" ").toLowerCase().includes(words);
}
