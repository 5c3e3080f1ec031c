/**
 * The left side: conversations, those that run first, with a filter; the files of the workspace; search over everything.
 */
import { formatAge, formatCost, plural } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { archive } from "../actions/actions.ts";
import { RenameField } from "../actions/rename.tsx";
import { capabilities } from "../state/capabilities.ts";
import { useCell, useCellPart } from "../state/cell.ts";
import { useOpen } from "../state/disclosure.ts";
import { isSidebarOpen, overlay, renaming, sidebarTab } from "../state/page-state.ts";
import { go, linkTo, useRoute } from "../state/route.ts";
import { useIsViewer, useSession } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { later } from "../ui/later.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import type { Conversations, ListedConversation } from "./conversations.ts";

const FileTree = later(() => import("../files/file-tree.tsx"));

const AGE_MS = 30_000;
/** Entries that are drawn; the filter finds the others. */
const DRAWN = 300;

export function Sidebar({ conversations }: { conversations: Conversations }): ReactNode {
  const isOpen = useCell(isSidebarOpen);
  const [filter, setFilter] = useState("");
  const tab = useCell(sidebarTab);
  const isViewer = useIsViewer();
  return (
    <nav className={isOpen ? "sidebar open" : "sidebar"} aria-label="Conversations">
      <div className="sidebar-head">
        <a
          className="brand"
          href="/"
          onClick={(event) => {
            event.preventDefault();
            isSidebarOpen.set(false);
            go("/");
          }}
        >
          <Logo /> Blockyard
        </a>
        <button
          type="button"
          className="icon-button"
          title="Search everything (/)"
          aria-label="Search everything"
          onClick={() => overlay.set({ type: "search" })}
        >
          <Icon name="search" />
        </button>
        {!isViewer && (
          <button
            type="button"
            className="icon-button"
            title="New conversation"
            aria-label="New conversation"
            onClick={() => {
              isSidebarOpen.set(false);
              go("/");
            }}
          >
            <Icon name="plus" />
          </button>
        )}
      </div>
      <Tabs />
      {tab === "files" ? (
        <FileTree meanwhile={<p className="sidebar-note">Loading…</p>} />
      ) : (
        <>
          <input
            className="filter"
            type="search"
            placeholder="Filter"
            aria-label="Filter conversations"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
          <ConversationList conversations={conversations} filter={filter} />
        </>
      )}
    </nav>
  );
}

const TABS = [
  { tab: "conversations", label: "Conversations" },
  { tab: "files", label: "Files" },
] as const;

/** Only where the server has files to show. */
function Tabs(): ReactNode {
  const shown = useCell(sidebarTab);
  const isViewer = useIsViewer();
  const hasFiles = useCell(capabilities)?.tools.has("file.list") ?? false;
  // To open a file is to write: it becomes a block.
  if (!hasFiles || isViewer) return null;
  return (
    <div className="sidebar-tabs">
      {TABS.map(({ tab, label }) => (
        <button
          key={tab}
          type="button"
          aria-pressed={shown === tab}
          className={shown === tab ? "on" : ""}
          onClick={() => sidebarTab.set(tab)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function Logo(): ReactNode {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="3" y="3" width="12" height="12" rx="2.5" />
      <rect x="17" y="3" width="12" height="12" rx="2.5" opacity=".55" />
      <rect x="3" y="17" width="26" height="12" rx="2.5" opacity=".8" />
    </svg>
  );
}

function ConversationList({
  conversations,
  filter,
}: {
  conversations: Conversations;
  filter: string;
}): ReactNode {
  const listing = useCell(conversations.listing);
  const now = useNow();
  const [isArchiveOpen, toggleArchive] = useOpen("sidebar:archived", false);
  if (listing.state === "loading") return <p className="sidebar-note">Loading…</p>;
  if (listing.state === "failed")
    return <p className="sidebar-note">Can't list conversations: {listing.problem.message}</p>;
  const words = filter.trim().toLowerCase();
  const found = listing.conversations.filter((conversation) => matches(conversation, words));
  const shown = found.filter(({ isArchived }) => !isArchived);
  const archived = found.filter(({ isArchived }) => isArchived);
  return (
    <div className="conversation-list">
      {shown.length === 0 && (
        <p className="sidebar-note">{words === "" ? "No conversations yet." : "None with these words."}</p>
      )}
      <Entries conversations={shown} now={now} />
      {archived.length > 0 && (
        <>
          <button
            type="button"
            className="quiet-button archived-line"
            aria-expanded={isArchiveOpen}
            onClick={toggleArchive}
          >
            <Icon name="chevron" className={isArchiveOpen ? "turned" : ""} />
            {plural(archived.length, "archived conversation")}
          </button>
          {isArchiveOpen && <Entries conversations={archived} now={now} />}
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
      {conversations.slice(0, DRAWN).map((conversation) => {
        const { id } = conversation;
        return (
          <li key={id} onPointerEnter={() => setPointed(id)} onFocus={() => setPointed(id)}>
            <Entry conversation={conversation} isCurrent={id === current} now={now} />
            {!isViewer && (pointed === id || id === current) && <EntryMenu conversation={conversation} />}
          </li>
        );
      })}
      {conversations.length > DRAWN && (
        <li className="sidebar-note">{conversations.length - DRAWN} more: filter to see them</li>
      )}
    </ul>
  );
}

interface EntryProps {
  readonly conversation: ListedConversation;
  readonly isCurrent: boolean;
  readonly now: number;
}

function Entry({ conversation, isCurrent, now }: EntryProps): ReactNode {
  const { id, title, isUnread } = conversation;
  const isRenamed = useCellPart(renaming, (at) => at?.where === "list" && at.conversation === id);
  if (isRenamed) return <RenameField conversation={id} title={title} />;
  const names = ["entry", ...(isCurrent ? ["current"] : []), ...(isUnread ? ["unread"] : [])];
  return (
    <a
      href={linkTo(id)}
      className={names.join(" ")}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        isSidebarOpen.set(false);
        go(linkTo(id));
      }}
    >
      <span className="entry-title">
        {isUnread && (
          <span
            className="unread-dot"
            role="img"
            aria-label="new since you looked"
            title="New since you looked"
          />
        )}
        {title || "Untitled"}
      </span>
      <Facts conversation={conversation} now={now} />
    </a>
  );
}

function Facts({ conversation, now }: { conversation: ListedConversation; now: number }): ReactNode {
  const { provider, isRunning, isAsking, costUsd, updatedAt } = conversation;
  return (
    <span className="entry-facts">
      {isAsking && <span className="asking">asks you</span>}
      {isRunning && !isAsking && (
        <span className="live">
          <span className="live-dot" aria-hidden="true" /> running
        </span>
      )}
      {provider && <span>{provider}</span>}
      {costUsd !== undefined && <span>{formatCost(costUsd)}</span>}
      <span>{formatAge(now - updatedAt)}</span>
    </span>
  );
}

function EntryMenu({ conversation }: { conversation: ListedConversation }): ReactNode {
  const session = useSession();
  const { id, title, isArchived } = conversation;
  return (
    <Menu label={`More for ${title || "this conversation"}`} icon="more">
      <MenuItem icon="edit" onChoose={() => renaming.set({ conversation: id, where: "list" })}>
        Rename
      </MenuItem>
      <MenuItem icon="folder" onChoose={() => void archive(session, id, !isArchived)}>
        {isArchived ? "Take out of the archive" : "Archive"}
      </MenuItem>
    </Menu>
  );
}

/** By its words; "asks", "running", "unread" and "archived" are words of those that do or are. */
function matches(conversation: ListedConversation, words: string): boolean {
  if (words === "") return true;
  const { title, provider, id, model, isAsking, isRunning, isUnread, isArchived } = conversation;
  const states = [
    isAsking ? "asks" : "",
    isRunning ? "running" : "",
    isUnread ? "unread" : "",
    isArchived ? "archived" : "",
  ];
  return [title, provider, model, id, ...states].join(" ").toLowerCase().includes(words);
}

/** Ages grow: the list is drawn again now and then. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), AGE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
