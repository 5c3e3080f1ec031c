/** The head of a conversation: its title, folder, state, context usage and cost, and the menus. */
import { type Conversation, exactName, formatCount, plural, spentWords, type View } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Title } from "../actions/title.tsx";
import { lateAsks } from "../rows/late-asks.ts";
import { workspaceBranch, workspaceRoot } from "../state/capabilities.ts";
import { useCell } from "../state/cell.ts";
import { contextUse } from "../state/context-use.ts";
import { overlay } from "../state/page-state.ts";
import { showPane } from "../state/pane.ts";
import { useRecord, useViewPart } from "../state/session.tsx";
import { agentName } from "../ui/agent-icon.tsx";
import { Icon } from "../ui/icons.tsx";
import { SidebarToggle } from "../ui/sidebar-toggle.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { headState } from "./head-state.ts";
import { Toolbar } from "./toolbar.tsx";

export function Head({ view }: { view: View }): ReactNode {
  const record = useRecord(view);
  const isLate = useViewPart(view, () => lateAsks(view).length > 0);
  const spent = spentWords(record?.costUsd, record?.uncounted !== undefined);
  return (
    <header className="head">
      <SidebarToggle />
      <div className="head-main">
        <Title conversation={view.conversation} title={record?.title ?? ""} />
        <div className="head-facts">
          {record && <Place record={record} />}
          {record?.provider && (
            <button
              type="button"
              className="head-fact"
              title="Session: model, permissions, tools, MCP servers"
              onClick={() => showPane("session")}
            >
              {record.model ?? agentName(record.provider)}
            </button>
          )}
        </div>
      </div>
      {record && record.turns > 0 && <StateMark state={headState(record, isLate)} hasWords />}
      <ContextRing view={view} />
      {record && spent !== "" && (
        <button
          type="button"
          className="head-fact cost"
          title={`Cost so far: ${plural(record.turns, "turn")}, ${formatCount(record.usage.input)} tokens in, ${formatCount(record.usage.output)} out.${cutWords(record)} Open the cost overview`}
          onClick={() => overlay.set({ type: "costs" })}
        >
          {spent}
        </button>
      )}
      <Toolbar view={view} />
    </header>
  );
}

function cutWords({ uncounted = 0 }: Conversation): string {
  return uncounted === 0
    ? ""
    : ` ${plural(uncounted, "turn")} may have cost more: ended before all usage was reported.`;
}

/** The folder that its agents work in, and the branch where that is the workspace. */
function Place({ record }: { record: Conversation }): ReactNode {
  const root = useCell(workspaceRoot);
  const branch = useCell(workspaceBranch);
  const folder = record.metadata.cwd;
  if (folder === undefined) return null;
  // Outside of the workspace, the name alone does not say where.
  const name = folder === root ? (folder.split("/").filter(Boolean).at(-1) ?? folder) : folder;
  return (
    <>
      <span className="head-folder" title={`Works in ${exactName(folder)}`}>
        <Icon name="folder" /> <span className="head-folder-name">{exactName(name)}</span>
      </span>
      {branch !== undefined && folder === root && (
        <span className="head-folder" title="Workspace branch">
          <Icon name="branch" /> <span className="head-folder-name">{exactName(branch)}</span>
        </span>
      )}
    </>
  );
}

const ROUND = 2 * Math.PI * 6;
/** From here on the agent may soon drop the earliest messages. */
const NEARLY_FULL = 0.8;

function ContextRing({ view }: { view: View }): ReactNode {
  const said = useViewPart(view, () => {
    const use = contextUse(view);
    return use && `${use.usedTokens}/${use.windowTokens}`;
  });
  if (said === undefined) return null;
  const [used = 0, window = 1] = said.split("/").map(Number);
  const share = used / window;
  const words = `Context ${Math.round(share * 100)} % full: ${formatCount(used)} of ${formatCount(window)} tokens`;
  return (
    <button
      type="button"
      className={share >= NEARLY_FULL ? "context-ring full" : "context-ring"}
      title={words}
      aria-label={words}
      onClick={() => showPane("session")}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" />
        <circle cx="8" cy="8" r="6" className="used" strokeDasharray={`${share * ROUND} ${ROUND}`} />
      </svg>
      <span aria-hidden="true">{Math.round(share * 100)}%</span>
    </button>
  );
}
