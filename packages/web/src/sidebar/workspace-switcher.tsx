/**
 * Which workspace this is, with its branch, and which folder's conversations are listed: agents may work in other folders too.
 */

import { plural } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { workspaceBranch, workspaceRoot } from "../state/capabilities.ts";
import { useCell, useCellPart } from "../state/cell.ts";
import { notify } from "../state/page-state.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu, MenuChoice, MenuGroup, MenuItem } from "../ui/menu.tsx";
import type { ListedConversation } from "./conversations.ts";
import { folderName, nameAmong } from "./folder-name.ts";
import { NAMED_FOLDERS } from "./limits.ts";

export function WorkspaceSwitcher({
  conversations,
}: {
  conversations: readonly ListedConversation[];
}): ReactNode {
  const root = useCell(workspaceRoot);
  const branch = useCell(workspaceBranch);
  const chosen = useCellPart(preferences, ({ folder }) => folder);
  const counts = countFolders(conversations, root);
  const folders = counts.map(([folder]) => folder);
  const name = chosen === "" ? folderName(root ?? "Blockyard") : nameAmong(chosen, folders);
  return (
    <Menu
      label="Workspace"
      className="workspace"
      text={
        <>
          <Logo />
          <span className="workspace-name">{name}</span>
          <Icon name="chevron" className="turned" />
        </>
      }
    >
      {root !== undefined && (
        <div className="workspace-about">
          <strong>{folderName(root)}</strong>
          <span className="dim">{root}</span>
          {branch !== undefined && (
            <span className="dim">
              <Icon name="branch" /> {branch}
            </span>
          )}
        </div>
      )}
      <MenuGroup label="Show conversations from">
        <MenuChoice
          type="radio"
          isOn={chosen === ""}
          detail={conversations.length}
          onChange={() => prefer({ folder: "" })}
        >
          All folders
        </MenuChoice>
        {counts.slice(0, NAMED_FOLDERS).map(([folder, count]) => (
          <MenuChoice
            key={folder}
            type="radio"
            isOn={chosen === folder}
            detail={count}
            onChange={() => prefer({ folder })}
          >
            <span title={folder}>{nameAmong(folder, folders)}</span>
          </MenuChoice>
        ))}
      </MenuGroup>
      {counts.length > NAMED_FOLDERS && (
        <div className="menu-label">
          {plural(counts.length - NAMED_FOLDERS, "more folder")}: use the filter
        </div>
      )}
      {root !== undefined && (
        <MenuGroup>
          <MenuItem icon="copy" onChoose={() => void copyPath(root)}>
            Copy the folder's path
          </MenuItem>
        </MenuGroup>
      )}
    </Menu>
  );
}

async function copyPath(path: string): Promise<void> {
  const isDone = await copyText(path);
  notify(isDone ? "Copied" : "Couldn't copy: the browser refused", !isDone);
}

/** Folders with their conversations, the workspace first, then the most used. */
function countFolders(
  conversations: readonly ListedConversation[],
  root: string | undefined,
): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>(root === undefined ? [] : [[root, 0]]);
  for (const { folder } of conversations)
    if (folder !== undefined) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => Number(b === root) - Number(a === root) || n - m);
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
