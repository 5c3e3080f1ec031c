/**
 * The first page: a prompt for a new conversation, and, as long as there is none of one's own, what else can be done.
 */
import { Fragment, type ReactNode, useState } from "react";
import { Composer } from "../composer/composer.tsx";
import type { Conversations } from "../sidebar/conversations.ts";
import { useCell } from "../state/cell.ts";
import { isSidebarOpen } from "../state/page-state.ts";
import { useIsViewer } from "../state/session.tsx";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { ThemeButton } from "../ui/theme-button.tsx";

const COMMANDS = [
  {
    what: "Pipe a running agent in",
    command: "claude -p --output-format stream-json --verbose 'tidy the tests' | blockyard ingest",
  },
  {
    what: "Bring in the sessions that Claude Code and Codex keep on this machine",
    command: "blockyard import",
  },
  {
    what: "Give the blocks to Claude Code as tools",
    command:
      "claude mcp add blockyard --env BLOCKYARD_TOKEN=$(blockyard token create --agent claude-mcp) -- blockyard mcp",
  },
] as const;

/** An empty yard plays so many recorded sessions. */
const RECORDED = 2;

export function Home({ conversations }: { conversations: Conversations }): ReactNode {
  const listing = useCell(conversations.listing);
  const isViewer = useIsViewer();
  const isNew = listing.state === "here" && listing.conversations.length <= RECORDED;
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
        {isViewer ? (
          <>
            <h1>Reading along</h1>
            <p className="dim">Choose a conversation: what happens in it shows here as it happens.</p>
          </>
        ) : (
          <>
            <h1>What should be done?</h1>
            <p className="dim">
              Pick an agent, say what you want, and watch its blocks arrive. You can edit, fork and undo them
              while they are being written.
            </p>
          </>
        )}
        <Composer conversation={undefined} />
        {isNew && !isViewer && <FirstSteps />}
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
      <p className="dim">
        Where Blockyard is not installed as a command: <code>npm start -s --</code> in its folder does the
        same.
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
