/**
 * The first page: this workspace, a field to begin with, what needs the reader, what runs, and what was done last. As long as there
 * is nothing of one's own, a recorded session to watch and other ways to start.
 */

import { exactText, formatAge, spentWords } from "@blockyard/kernel";
import { Fragment, type ReactNode, useState } from "react";
import { Composer } from "../composer/composer.tsx";
import { useAsked } from "../sidebar/asked.ts";
import type { Conversations, ListedConversation } from "../sidebar/conversations.ts";
import { groupsOf, stateOf } from "../sidebar/groups.ts";
import { useNow } from "../sidebar/now.ts";
import { workspaceBranch, workspaceRoot } from "../state/capabilities.ts";
import { useCell } from "../state/cell.ts";
import { go, linkTo } from "../state/route.ts";
import { useIsViewer } from "../state/session.tsx";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { PaneToggle } from "../ui/pane-toggle.tsx";
import { SidebarToggle } from "../ui/sidebar-toggle.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { NAMED_CONVERSATIONS } from "./limits.ts";

const WAYS = [
  {
    icon: "download",
    what: "Import your sessions",
    why: "Imports the sessions that Claude Code and Codex saved on this machine.",
    command: "blockyard import",
  },
  {
    icon: "terminal",
    what: "Pipe in a running agent",
    why: "Its blocks appear here as it works.",
    command: "claude -p --output-format stream-json --verbose 'tidy the tests' | blockyard ingest",
  },
  {
    icon: "plug",
    what: "Give the blocks to Claude Code as tools",
    why: "It reads, edits and searches them over MCP.",
    command:
      "claude mcp add blockyard --env BLOCKYARD_TOKEN=$(blockyard token create --agent claude-mcp) -- blockyard mcp",
  },
] as const;

export function Home({ conversations }: { conversations: Conversations }): ReactNode {
  const listing = useCell(conversations.listing);
  const root = useCell(workspaceRoot);
  const isViewer = useIsViewer();
  const known = listing.state === "here" ? listing.conversations.filter(({ isArchived }) => !isArchived) : [];
  const isNew = listing.state === "here" && listing.conversations.every(({ isRecorded }) => isRecorded);
  const name = root?.split("/").filter(Boolean).at(-1);
  return (
    <main className="home" aria-label={isViewer ? "Conversations" : "New task"}>
      <header className="head">
        <SidebarToggle />
        <div className="head-main" />
        {!isViewer && <PaneToggle label="Files" />}
      </header>
      <div className="home-main">
        {isViewer ? (
          <>
            <h1>Read only</h1>
            <p className="dim">Choose a conversation to watch it live.</p>
          </>
        ) : (
          <h1>{name === undefined ? "New task" : `New task in ${name}`}</h1>
        )}
        <Place />
        <Composer conversation={undefined} />
        {isNew && !isViewer ? <FirstStart story={known[0]} /> : <Overview conversations={known} />}
      </div>
    </main>
  );
}

function Place(): ReactNode {
  const root = useCell(workspaceRoot);
  const branch = useCell(workspaceBranch);
  if (root === undefined) return null;
  return (
    <p className="home-place">
      <span>
        <Icon name="folder" /> {root}
      </span>
      {branch !== undefined && (
        <span>
          <Icon name="branch" /> {branch}
        </span>
      )}
    </p>
  );
}

/** The list beside it has all of them. */
const RECENT = "Recent";

function Overview({ conversations }: { conversations: readonly ListedConversation[] }): ReactNode {
  const now = useNow();
  const groups = groupsOf(conversations, now, useIsViewer());
  const named = groups.filter(({ state }) => state !== undefined);
  const recent = groups.filter((group) => !named.includes(group)).flatMap((group) => group.conversations);
  return (
    <div className="overview">
      {named.map(({ name, state, conversations: members }) => (
        <Rows key={name} name={name} isNeeds={state === "needs"} conversations={members} now={now} />
      ))}
      {recent.length > 0 && <Rows name={RECENT} conversations={recent} now={now} />}
    </div>
  );
}

interface RowsProps {
  readonly name: string;
  readonly isNeeds?: boolean;
  readonly conversations: readonly ListedConversation[];
  readonly now: number;
}

function Rows({ name, isNeeds = false, conversations, now }: RowsProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? conversations : conversations.slice(0, NAMED_CONVERSATIONS);
  const more = conversations.length - shown.length;
  return (
    <section className={isNeeds ? "home-needs" : undefined} aria-label={`${name}: conversations`}>
      <h2 className={isNeeds ? "group-name needs" : "group-name"}>
        {name}
        {isNeeds && <span className="group-count">{conversations.length}</span>}
      </h2>
      <ul>
        {shown.map((conversation) => (
          <li key={conversation.id}>
            <HomeRow conversation={conversation} now={now} />
          </li>
        ))}
      </ul>
      {more > 0 && name !== RECENT && (
        <button type="button" className="quiet-button home-more" onClick={() => setWhole(true)}>
          Show {more} more
        </button>
      )}
    </section>
  );
}

function HomeRow({ conversation, now }: { conversation: ListedConversation; now: number }): ReactNode {
  const { id, title, provider, costUsd, isCostLeast, updatedAt, asks, folder } = conversation;
  const spent = spentWords(costUsd, isCostLeast);
  const asked = useAsked(asks, folder);
  return (
    <a
      className="home-row"
      href={linkTo(id)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(linkTo(id));
      }}
    >
      <AgentIcon provider={provider} />
      <span className="home-row-title" dir="auto">
        {title || "Untitled"}
      </span>
      {asked && (
        <span className={asked.isCode ? "home-row-asked code-words" : "home-row-asked"}>
          {exactText(asked.words)}
        </span>
      )}
      <span className="spread" />
      {spent !== "" && <span className="home-row-fact">{spent}</span>}
      <span className="home-row-fact">{formatAge(now - updatedAt)}</span>
      <StateMark state={stateOf(conversation)} />
    </a>
  );
}

function FirstStart({ story }: { story: ListedConversation | undefined }): ReactNode {
  return (
    <section className="first-steps" aria-label="Other ways to start">
      {story && (
        <a
          className="story"
          href={linkTo(story.id)}
          onClick={(event) => {
            event.preventDefault();
            go(linkTo(story.id));
          }}
        >
          <span className="story-play" aria-hidden="true" />
          <span>
            <strong>Watch an agent work</strong>
            <span className="dim">
              “{(story.title || "Untitled").replace(" (recorded)", "")}”, a recorded session. Edit, fork and
              search it.
            </span>
          </span>
          <Icon name="chevron" />
        </a>
      )}
      <h2>Other ways to start</h2>
      <ul>
        {WAYS.map(({ icon, what, why, command }) => (
          <li key={command}>
            <Icon name={icon} />
            <strong>{what}</strong>
            <span className="dim">{why}</span>
            <CommandLine command={command} />
          </li>
        ))}
      </ul>
      <p className="dim">
        Not installed as a command? Use <code>npm start -s --</code> in Blockyard's folder instead of{" "}
        <code>blockyard</code>.
      </p>
    </section>
  );
}

function CommandLine({ command }: { command: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="command-copy">
      <code>
        {command.split(" ").map((word, at) => (
          <Fragment key={at}>
            {at > 0 && " "}
            <span className="word">{word}</span>
          </Fragment>
        ))}
      </code>
      <button
        type="button"
        className="icon-button"
        aria-label={isCopied ? "Copied" : "Copy this command"}
        onClick={async () => setCopied(await copyText(command))}
      >
        <Icon name={isCopied ? "check" : "copy"} />
      </button>
    </div>
  );
}
