/**
 * The left side: conversations, those that run first, with a filter; search over everything.
 */
import { type ReactNode, useEffect, useState } from "react";
import { useCell } from "../cell.ts";
import { formatAge, formatCost } from "../format.ts";
import { Icon } from "../icons.tsx";
import { isSidebarOpen, overlay } from "../page-state.ts";
import { go, linkTo, useRoute } from "../route.ts";
import type { Conversations, ListedConversation } from "./conversations.ts";

const AGE_MS = 30_000;

export function Sidebar({ conversations }: { conversations: Conversations }): ReactNode {
  const isOpen = useCell(isSidebarOpen);
  const [filter, setFilter] = useState("");
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
      </div>
      <input
        className="filter"
        type="search"
        placeholder="Filter"
        aria-label="Filter conversations"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <ConversationList conversations={conversations} filter={filter} />
    </nav>
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
  const { conversation: current } = useRoute();
  const now = useNow();
  if (listing.state === "loading") return <p className="sidebar-note">Loading…</p>;
  if (listing.state === "failed") return <p className="sidebar-note">No list: {listing.problem.message}</p>;
  const words = filter.trim().toLowerCase();
  const shown = listing.conversations.filter((conversation) => matches(conversation, words));
  if (shown.length === 0)
    return (
      <p className="sidebar-note">{words === "" ? "No conversations yet." : "None with these words."}</p>
    );
  return (
    <ul className="conversation-list">
      {shown.map((conversation) => (
        <li key={conversation.id}>
          <Entry conversation={conversation} isCurrent={conversation.id === current} now={now} />
        </li>
      ))}
    </ul>
  );
}

interface EntryProps {
  readonly conversation: ListedConversation;
  readonly isCurrent: boolean;
  readonly now: number;
}

function Entry({ conversation, isCurrent, now }: EntryProps): ReactNode {
  const { id, title, provider, isRunning, costUsd, updatedAt } = conversation;
  return (
    <a
      href={linkTo(id)}
      className={isCurrent ? "entry current" : "entry"}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        isSidebarOpen.set(false);
        go(linkTo(id));
      }}
    >
      <span className="entry-title">{title || "Untitled"}</span>
      <span className="entry-facts">
        {isRunning && (
          <span className="live">
            <span className="live-dot" aria-hidden="true" /> running
          </span>
        )}
        {provider && <span>{provider}</span>}
        {costUsd !== undefined && <span>{formatCost(costUsd)}</span>}
        <span>{formatAge(now - updatedAt)}</span>
      </span>
    </a>
  );
}

function matches({ title, provider, id, model }: ListedConversation, words: string): boolean {
  return words === "" || `${title} ${provider ?? ""} ${model ?? ""} ${id}`.toLowerCase().includes(words);
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
