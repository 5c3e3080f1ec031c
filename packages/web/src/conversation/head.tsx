/**
 * The head of a conversation: its title, what it has cost so far, and the toolbar.
 */
import { type Conversation, exactText, formatCost, sessionFacts, type View } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Title } from "../actions/title.tsx";
import { isSidebarOpen, overlay } from "../state/page-state.ts";
import { useRecord } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { Toolbar } from "./toolbar.tsx";
import { UsageText } from "./turn-footer.tsx";

export function Head({ view }: { view: View }): ReactNode {
  const record = useRecord(view);
  return (
    <header className="head">
      <button
        type="button"
        className="icon-button sidebar-toggle"
        aria-label="Conversations"
        onClick={() => isSidebarOpen.change((open) => !open)}
      >
        <Icon name="menu" />
      </button>
      <div className="head-main">
        <Title conversation={view.conversation} title={record?.title ?? ""} />
        <div className="totals">
          {record?.provider && <SessionButton record={record} />}
          {record && record.costUsd !== null && <span title="Cost so far">{formatCost(record.costUsd)}</span>}
          {record && record.usage.input + record.usage.output > 0 && <UsageText usage={record.usage} />}
          {typeof record?.metadata["cwd"] === "string" && (
            <span className="head-folder" title="The folder in which agents of this conversation work">
              <Icon name="folder" /> {exactText(record.metadata["cwd"])}
            </span>
          )}
          {record && (
            <span>
              {record.turns} {record.turns === 1 ? "turn" : "turns"}
            </span>
          )}
        </div>
      </div>
      <Toolbar view={view} />
    </header>
  );
}

/** Who answers; what it works with is behind it. */
function SessionButton({ record }: { record: Conversation }): ReactNode {
  const sessions = sessionFacts(record);
  const name = record.model ?? record.provider;
  if (sessions.length === 0) return <span>{name}</span>;
  return (
    <button
      type="button"
      className="quiet-button"
      title="Session: model, permissions, tools, MCP servers"
      onClick={() => overlay.set({ type: "session", sessions })}
    >
      {name}
    </button>
  );
}
