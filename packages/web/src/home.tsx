/**
 * The first page: a prompt for a new conversation, and, as long as there is none, what else can be done.
 */
import { type ReactNode, useState } from "react";
import { useCell } from "./cell.ts";
import { Composer } from "./composer/composer.tsx";
import { ThemeButton } from "./conversation/theme-button.tsx";
import { copyText } from "./copy.tsx";
import { Icon } from "./icons.tsx";
import { isSidebarOpen } from "./page-state.ts";
import type { Conversations } from "./sidebar/conversations.ts";

const COMMANDS = [
  {
    what: "Pipe a running agent in",
    command: "claude -p 'tidy the tests' --output-format stream-json --verbose | npx blockyard ingest claude",
  },
  {
    what: "Bring in the sessions that Claude Code and Codex keep on this machine",
    command: "npx blockyard import",
  },
  {
    what: "Give the blocks to Claude Code as tools",
    command: "claude mcp add blockyard -- npx blockyard mcp",
  },
] as const;

export function Home({ conversations }: { conversations: Conversations }): ReactNode {
  const listing = useCell(conversations.listing);
  const isEmpty = listing.state === "here" && listing.conversations.length === 0;
  return (
    <main className="home" aria-label="New conversation">
      <header className="head">
        <button
          type="button"
          className="icon-button sidebar-toggle"
          aria-label="Conversations"
          onClick={() => isSidebarOpen.change((open) => !open)}
        >
          <Icon name="menu" />
        </button>
        <div className="head-main" />
        <ThemeButton />
      </header>
      <div className="home-main">
        <h1>What should be done?</h1>
        <p className="dim">
          Pick an agent, say what you want, and watch its blocks arrive. You can edit, fork and undo them
          while they are being written.
        </p>
        <Composer conversation={undefined} />
        {isEmpty && <FirstSteps />}
      </div>
    </main>
  );
}

function FirstSteps(): ReactNode {
  return (
    <section className="first-steps" aria-label="Other ways to begin">
      <h2>Or begin with what you have</h2>
      <ul>
        {COMMANDS.map(({ what, command }) => (
          <li key={command}>
            <span>{what}</span>
            <CommandLine command={command} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function CommandLine({ command }: { command: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="command-copy">
      <code>{command}</code>
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
