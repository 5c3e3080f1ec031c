/**
 * The settings of a conversation's agents: model, mode, tools, MCP servers and their status, ids, and the command that
 * resumes the session in a terminal.
 */
import {
  type Conversation,
  exactText,
  type SessionFacts,
  sessionFacts,
  spentWords,
  type View,
} from "@blockyard/kernel";
import type { ReactNode } from "react";
import { contextUse } from "../state/context-use.ts";
import { useOpen } from "../state/disclosure.ts";
import { resumeLine } from "../state/resume-line.ts";
import { useRecord } from "../state/session.tsx";
import { AgentIcon, agentName } from "../ui/agent-icon.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { breakable } from "../ui/long-words.tsx";
import { LISTED_NAMES } from "./limits.ts";

/** Facts that are many short words. */
const LISTS = new Set(["Tools", "Agents", "Skills", "Slash commands", "Plugins"]);

export function SessionTab({ view }: { view: View }): ReactNode {
  const record = useRecord(view);
  if (!record) return <p className="pane-note">Loading…</p>;
  const sessions = sessionFacts(record);
  const context = contextUse(view);
  const spent = spentWords(record.costUsd, record.uncounted !== undefined);
  return (
    <div className="session-tab">
      <section>
        <h2>Conversation</h2>
        <dl className="facts">
          <Fact name="Id" value={record.id} isCopied />
          {context && (
            <Fact
              name="Context"
              value={`${context.usedTokens.toLocaleString("en-US")} of ${context.windowTokens.toLocaleString("en-US")} tokens`}
            />
          )}
          <Fact name="Tokens" value={tokens(record)} />
          {spent !== "" && <Fact name="Cost" value={spent} />}
        </dl>
      </section>
      {sessions.length === 0 && <p className="pane-note">No agent session yet.</p>}
      {sessions.map((session) => (
        <SessionSection key={session.provider} session={session} record={record} />
      ))}
    </div>
  );
}

function SessionSection({ session, record }: { session: SessionFacts; record: Conversation }): ReactNode {
  const { provider, facts } = session;
  const line = resumeLine(provider, record.sessions[provider] ?? "", record.metadata.cwd);
  return (
    <section aria-label={`Session: ${agentName(provider)}`}>
      <h2>
        <AgentIcon provider={provider} /> {agentName(provider)}
      </h2>
      {line !== undefined && (
        <div className="command-copy">
          <code>{exactText(line)}</code>
          <CopyButton text={() => line} label="Copy the command that resumes this session" />
        </div>
      )}
      <dl className="facts">
        {facts.map(({ label, value }) =>
          LISTS.has(label) ? (
            <Names key={label} name={label} names={value.split(", ")} />
          ) : label === "MCP servers" ? (
            <Servers key={label} servers={value.split(", ")} />
          ) : (
            <Fact key={label} name={label} value={value} isCopied={label === "Session"} />
          ),
        )}
      </dl>
    </section>
  );
}

function Fact({
  name,
  value,
  isCopied = false,
}: {
  name: string;
  value: string;
  isCopied?: boolean;
}): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {isCopied ? <code>{exactText(value)}</code> : breakable(exactText(value))}
        {isCopied && <CopyButton text={() => value} label={`Copy ${name.toLowerCase()}`} />}
      </dd>
    </div>
  );
}

function Names({ name, names }: { name: string; names: readonly string[] }): ReactNode {
  const [isAll, toggle] = useOpen(`session:${name}`, false);
  const shown = isAll ? names : names.slice(0, LISTED_NAMES);
  return (
    <div className="many">
      <dt>
        {name} <span className="dim">{names.length}</span>
      </dt>
      <dd className="chips">
        {shown.map((each) => (
          <span key={each}>{breakable(exactText(each))}</span>
        ))}
        {names.length > LISTED_NAMES && (
          <button type="button" aria-expanded={isAll} onClick={toggle}>
            {isAll ? "Show fewer" : `Show ${names.length - LISTED_NAMES} more`}
          </button>
        )}
      </dd>
    </div>
  );
}

/** "name (status)", as sessionFacts writes them. */
function Servers({ servers }: { servers: readonly string[] }): ReactNode {
  return (
    <div className="many">
      <dt>MCP servers</dt>
      <dd>
        <ul className="servers">
          {servers.map((server) => {
            const [, name = server, status] = /^(.*?)(?: \(([^()]*)\))?$/.exec(server) ?? [];
            return (
              <li key={server}>
                <span className={`server-dot ${toneOf(status)}`} aria-hidden="true" />
                {exactText(name)}
                {status && <span className="dim">{exactText(status)}</span>}
              </li>
            );
          })}
        </ul>
      </dd>
    </div>
  );
}

function toneOf(status: string | undefined): string {
  if (status === "connected") return "good";
  return status === "failed" ? "failed" : "";
}

function tokens({ usage }: Conversation): string {
  const { input, cacheRead, output } = usage;
  const count = (n: number) => n.toLocaleString("en-US");
  return `${count(input)} in, ${count(cacheRead)} of them cached; ${count(output)} out`;
}
