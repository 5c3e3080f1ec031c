/**
 * A file's path, from the conversation's folder on: its folder dim, its name plain, the whole in the title. A click opens it in the reader's editor, once
 * they have said which one that is. Beside it: edit it here, where it is a file of the workspace, and copy its path.
 */
import { inFolder } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { COPY, insidePath } from "../actions/editors.ts";
import { copyPath, linkOf } from "../actions/open-path.ts";
import { workspaceRoot } from "../state/capabilities.ts";
import { useCell, useCellPart } from "../state/cell.ts";
import { overlay } from "../state/page-state.ts";
import { preferences } from "../state/preferences.ts";
import { go, linkToFile } from "../state/route.ts";
import { useIsViewer } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { useFolder } from "./folder.ts";

interface FilePathProps {
  readonly path: string;
  readonly line?: number | undefined;
  /** A shorter way to write it. */
  readonly label?: string;
  /** What can be done with it stands elsewhere. */
  readonly isBare?: boolean;
}

export function FilePath({ path, line = 1, label, isBare = false }: FilePathProps): ReactNode {
  const folder = useFolder();
  const short = inFolder(label ?? path, folder);
  const root = useCell(workspaceRoot);
  const editor = useCellPart(preferences, (chosen) => chosen.editor);
  const link = useCellPart(preferences, (chosen) => linkOf(chosen, path, line, root));
  const isAsked = editor === "";
  return (
    <span className="file-path">
      {link === undefined ? (
        <button
          type="button"
          className="file-open"
          title={isAsked ? `${path}: open in an editor` : `${path}: copy`}
          onClick={() => (isAsked ? overlay.set({ type: "editor", path, line }) : void copyPath(path, root))}
        >
          <Parts path={short} />
          {editor === COPY && <span className="sr-only">, copy the path</span>}
        </button>
      ) : (
        <a className="file-open" href={link} rel="noreferrer" title={`${path}: open in the editor`}>
          <Parts path={short} />
        </a>
      )}
      {!isBare && <PathTools path={path} />}
    </span>
  );
}

/** Edit it here, where it is a file of the workspace, and copy its path. */
export function PathTools({ path }: { path: string }): ReactNode {
  const root = useCell(workspaceRoot);
  const isViewer = useIsViewer();
  const editor = useCellPart(preferences, (chosen) => chosen.editor);
  const inside = insidePath(path, root);
  return (
    <span className="path-tools">
      {inside !== undefined && !isViewer && (
        <a
          className="icon-button"
          href={linkToFile(inside)}
          title="Edit this file here"
          aria-label={`Edit ${path} here`}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            go(linkToFile(inside));
          }}
        >
          <Icon name="edit" />
        </a>
      )}
      {editor !== COPY && (
        <button
          type="button"
          className="icon-button"
          title="Copy the path"
          aria-label={`Copy the path ${path}`}
          onClick={() => void copyPath(path, root)}
        >
          <Icon name="copy" />
        </button>
      )}
    </span>
  );
}

function Parts({ path }: { path: string }): ReactNode {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return (
    <>
      <span className="folder">{breakable(path.slice(0, cut))}</span>
      <span className="name">{breakable(path.slice(cut))}</span>
    </>
  );
}
