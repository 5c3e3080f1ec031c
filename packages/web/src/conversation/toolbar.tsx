/** The menus of a conversation: View (what is shown, open and close all, follow the end) and everything else. */
import { type Conversation, type ConversationId, sessionFacts, type View } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { archive, forkAway } from "../actions/actions.ts";
import { exportConversation, exportFormats } from "../actions/export.ts";
import { capabilities } from "../state/capabilities.ts";
import { useCell } from "../state/cell.ts";
import { setAll } from "../state/disclosure.ts";
import { isFinding, isFollowing, notify, overlay, renaming } from "../state/page-state.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { resumeLine } from "../state/resume-line.ts";
import { linkTo } from "../state/route.ts";
import { useIsViewer, useRecord, useSession } from "../state/session.tsx";
import { agentName } from "../ui/agent-icon.tsx";
import { copyAndTell } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu, MenuChoice, MenuGroup, MenuItem } from "../ui/menu.tsx";
import { PaneToggle } from "../ui/pane-toggle.tsx";

const KINDS = [
  { key: "thinking", label: "Thinking" },
  { key: "tools", label: "Tool calls" },
  { key: "results", label: "Results" },
  { key: "system", label: "System notes" },
] as const;

export function Toolbar({ view }: { view: View }): ReactNode {
  return (
    <div className="toolbar" role="toolbar" aria-label="Conversation">
      <button
        type="button"
        className="icon-button toolbar-find"
        title="Find in this conversation (Ctrl F)"
        aria-label="Find in this conversation"
        onClick={() => isFinding.set(true)}
      >
        <Icon name="search" />
      </button>
      <ViewMenu />
      <MoreMenu view={view} />
      <PaneToggle label="Changes, files, session, outline" />
    </div>
  );
}

function ViewMenu(): ReactNode {
  const chosen = useCell(preferences);
  const isFollowed = useCell(isFollowing);
  return (
    <Menu label="View" icon="eye" text={<span className="menu-text">View</span>}>
      <MenuGroup label="Show">
        {KINDS.map(({ key, label }) => (
          <MenuChoice key={key} isOn={chosen[key]} onChange={(isOn) => prefer({ [key]: isOn })}>
            {label}
          </MenuChoice>
        ))}
      </MenuGroup>
      <MenuGroup label="Diffs">
        <MenuChoice
          type="radio"
          isOn={chosen.diff === "unified"}
          onChange={() => prefer({ diff: "unified" })}
        >
          In one column
        </MenuChoice>
        <MenuChoice type="radio" isOn={chosen.diff === "split"} onChange={() => prefer({ diff: "split" })}>
          Side by side
        </MenuChoice>
      </MenuGroup>
      <MenuGroup>
        <MenuChoice isOn={isFollowed} onChange={(isOn) => isFollowing.set(isOn)}>
          Follow the latest
        </MenuChoice>
        <MenuItem icon="expand" onChoose={() => setAll(true)}>
          Expand all
        </MenuItem>
        <MenuItem icon="collapse" onChoose={() => setAll(false)}>
          Collapse all
        </MenuItem>
      </MenuGroup>
    </Menu>
  );
}

function MoreMenu({ view }: { view: View }): ReactNode {
  const session = useSession();
  const record = useRecord(view);
  const isViewer = useIsViewer();
  const { conversation } = view;
  const isArchived = record?.metadata.archived === true;
  const canDelete = useCell(capabilities)?.tools.has("conversation.delete") ?? false;
  return (
    <Menu label="More" icon="more">
      <MenuItem icon="search" hint="ctrl F" onChoose={() => isFinding.set(true)}>
        Find
      </MenuItem>
      {!isViewer && (
        <MenuGroup>
          <MenuItem icon="edit" hint="t" onChoose={() => renaming.set({ conversation, where: "head" })}>
            Rename
          </MenuItem>
          <MenuItem icon="fork" onChoose={() => forkAtEnd(session, view)}>
            Fork into a new conversation
          </MenuItem>
        </MenuGroup>
      )}
      <ExportGroup conversation={conversation} />
      <CopyGroup view={view} />
      {!isViewer && (
        <MenuGroup>
          <MenuItem icon="archive" onChoose={() => void archive(session, conversation, !isArchived)}>
            {isArchived ? "Unarchive" : "Archive"}
          </MenuItem>
          {canDelete && session.isOwner && (
            <MenuItem
              icon="trash"
              isDanger
              onChoose={() =>
                overlay.set({ type: "delete", conversation, title: record?.title || "Untitled" })
              }
            >
              Delete…
            </MenuItem>
          )}
        </MenuGroup>
      )}
      <MenuGroup>
        <MenuItem icon="command" hint="ctrl K" onChoose={() => overlay.set({ type: "palette" })}>
          Commands
        </MenuItem>
        <MenuItem icon="question" hint="?" onChoose={() => overlay.set({ type: "help" })}>
          Keyboard
        </MenuItem>
      </MenuGroup>
    </Menu>
  );
}

function ExportGroup({ conversation }: { conversation: ConversationId }): ReactNode {
  return (
    <MenuGroup name="Export">
      {exportFormats.map(({ format, label }) => (
        <MenuItem key={format} icon="download" onChoose={() => void exportConversation(conversation, format)}>
          Export as {label}
        </MenuItem>
      ))}
    </MenuGroup>
  );
}

/** Its address, its id, and the command to resume it in a terminal. */
function CopyGroup({ view }: { view: View }): ReactNode {
  const record = useRecord(view);
  const { conversation } = view;
  return (
    <MenuGroup name="Copy">
      <MenuItem icon="link" onChoose={() => void copyAndTell(`${location.origin}${linkTo(conversation)}`)}>
        Copy link
      </MenuItem>
      <MenuItem icon="copy" onChoose={() => void copyAndTell(conversation)}>
        Copy conversation id
      </MenuItem>
      {record &&
        resumeLines(record).map(({ provider, line }) => (
          <MenuItem key={provider} icon="terminal" onChoose={() => void copyAndTell(line)}>
            Copy the {agentName(provider)} resume command
          </MenuItem>
        ))}
    </MenuGroup>
  );
}

function forkAtEnd(session: ReturnType<typeof useSession>, view: View): void {
  const head = view.record?.head;
  const block = head == null ? undefined : view.blocks.get(head);
  if (block) void forkAway(session, block);
  else notify("Nothing to fork yet", true);
}

/** For each agent whose session can be resumed in a terminal. */
function resumeLines(record: Conversation): readonly { provider: string; line: string }[] {
  return sessionFacts(record).flatMap(({ provider }) => {
    const line = resumeLine(provider, record.sessions[provider] ?? "", record.metadata.cwd);
    return line === undefined ? [] : [{ provider, line }];
  });
}
