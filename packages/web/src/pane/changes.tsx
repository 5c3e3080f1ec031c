/**
 * Changes: every file that the conversation, or its last turn, has changed, with its diffs and the way to where it happened. What has
 * been reviewed can be marked so. Arrow keys, or j and k, go from file to file, v marks one.
 */

import { exactText, inFolder, plural, type View } from "@blockyard/kernel";
import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import { DiffView } from "../diff/diff-view.tsx";
import { setOpen, useOpen } from "../state/disclosure.ts";
import { hidePane, showPane } from "../state/pane.ts";
import { useRecord } from "../state/session.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { useChangeBlocks } from "./change-blocks.ts";
import { type ChangedFile, changedFiles, lastEdit, pathParts } from "./change-list.ts";
import { jumpTo } from "./jump.ts";
import { OPEN_FILES } from "./limits.ts";
import { setViewed, useIsViewed, useViewedCount } from "./viewed.ts";

type Scope = "turn" | "all";

export function Changes({ view }: { view: View }): ReactNode {
  const [scope, setScope] = useState<Scope>("all");
  const { blocks, isReading } = useChangeBlocks(view);
  const record = useRecord(view);
  const folder = record?.metadata.cwd;
  const last = lastTurn(view);
  const files = useMemo(
    () => changedFiles(scope === "all" ? blocks : blocks.filter(({ turn }) => turn === last), folder),
    [blocks, scope, last, folder],
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the buttons in it
    <div className="changes" onKeyDown={walk}>
      <div className="changes-head">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would stand out of the row */}
        <div className="segments" role="group" aria-label="Changes in">
          {(["turn", "all"] as const).map((each) => (
            <button key={each} type="button" aria-pressed={scope === each} onClick={() => setScope(each)}>
              {each === "turn" ? "Last turn" : "Conversation"}
            </button>
          ))}
        </div>
        {files.length > 0 && <Sum files={files} conversation={view.conversation} />}
      </div>
      {files.length === 0 && <Nothing isReading={isReading} scope={scope} />}
      {files.map((file, i) => (
        <File
          key={file.name}
          file={file}
          folder={folder}
          isOpenFirst={i < OPEN_FILES}
          conversation={view.conversation}
        />
      ))}
    </div>
  );
}

function Nothing({ isReading, scope }: { isReading: boolean; scope: Scope }): ReactNode {
  if (isReading) return <p className="pane-note">Loading…</p>;
  if (scope === "turn") return <p className="pane-note">The last turn changed no files.</p>;
  return (
    <div className="pane-note">
      <p>No files changed yet. Each file that an agent edits is listed here, with its diff.</p>
      <div className="pane-ways">
        <button type="button" onClick={() => showPane("outline")}>
          Show the outline
        </button>
        <button type="button" onClick={hidePane}>
          Close the side pane
        </button>
      </div>
    </div>
  );
}

interface FileProps {
  readonly file: ChangedFile;
  readonly folder: string | undefined;
  readonly isOpenFirst: boolean;
  readonly conversation: string;
}

const WORDS = { add: "new", modify: "", delete: "deleted" } as const;

function Sum({ files, conversation }: { files: readonly ChangedFile[]; conversation: string }): ReactNode {
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const deleted = files.reduce((sum, file) => sum + file.deleted, 0);
  const viewed = useViewedCount(
    conversation,
    files.map((file) => ({ name: file.name, upTo: lastEdit(file) })),
  );
  return (
    <span className="changes-sum">
      {viewed === 0 ? plural(files.length, "file") : `${viewed} of ${files.length} viewed`}{" "}
      <Counts added={added} deleted={deleted} />
    </span>
  );
}

function File({ file, folder, isOpenFirst, conversation }: FileProps): ReactNode {
  const { name, path, from, kind, added, deleted, edits } = file;
  const isViewed = useIsViewed(conversation, name, lastEdit(file));
  const open = `changes:${conversation}:${name}`;
  const [isOpen, toggle] = useOpen(open, isOpenFirst && !isViewed);
  const parts = pathParts(path, folder);
  const [only, ...others] = edits;
  return (
    <section className={isViewed ? "changed-file viewed" : "changed-file"} aria-label={path}>
      <div className="changed-head">
        <button type="button" className="changed-line" aria-expanded={isOpen} title={path} onClick={toggle}>
          <Icon name="chevron" className={isOpen ? "turned" : ""} />
          <span className="changed-path">
            <span className="dim">{parts.before}</span>
            <span className="changed-name">{parts.name}</span>
          </span>
          {WORDS[kind] !== "" && <span className={`changed-kind ${kind}`}>{WORDS[kind]}</span>}
          <Counts added={added} deleted={deleted} />
        </button>
        {only && others.length === 0 && <JumpButton block={only.block} />}
        <label className="changed-viewed">
          <input
            type="checkbox"
            checked={isViewed}
            onChange={({ target }) => {
              setViewed(conversation, name, target.checked ? lastEdit(file) : undefined);
              setOpen(open, !target.checked);
            }}
          />
          Viewed
        </label>
      </div>
      {from !== undefined && (
        <p className="changed-from dim" title={from}>
          moved from {breakable(exactText(inFolder(from, folder)))}
        </p>
      )}
      {isOpen && others.length > 0 && <Net file={file} conversation={conversation} />}
      {isOpen && others.length === 0 && <Edits file={file} />}
    </section>
  );
}

function JumpButton({ block }: { block: string }): ReactNode {
  return (
    <button
      type="button"
      className="icon-button"
      title="Jump to where it changed"
      aria-label="Jump to it"
      onClick={() => jumpTo(block)}
    >
      <Icon name="goTo" />
    </button>
  );
}

/** The net change of several edits, with a way to see each; all of them if there is none. */
function Net({ file, conversation }: { file: ChangedFile; conversation: string }): ReactNode {
  const { name, path, net, edits } = file;
  const [isEach, toggle] = useOpen(`edits:${conversation}:${name}`, false);
  return (
    <>
      <div className="changed-edit-head">
        <span>{net ? `Net change of ${edits.length} edits` : `${edits.length} edits, one by one`}</span>
        <span className="spread" />
        {net && (
          <button type="button" className="quiet-button" aria-expanded={isEach} onClick={toggle}>
            {isEach ? "Hide edits" : "Show edits"}
          </button>
        )}
      </div>
      {net?.length === 0 && <p className="pane-note">The edits cancel each other out.</p>}
      {net && net.length > 0 && (
        <div className="changed-edit">
          <DiffView
            rows={net}
            label={`net change to ${path}`}
            name={`${conversation}/${name}:net`}
            path={path}
          />
        </div>
      )}
      {(isEach || !net) && <Edits file={file} />}
    </>
  );
}

function Edits({ file: { path, edits } }: { file: ChangedFile }): ReactNode {
  return edits.map((edit, i) => (
    <div key={`${edit.block}:${i}`} className="changed-edit">
      {edits.length > 1 && (
        <div className="changed-edit-head">
          <span>
            Edit {i + 1} of {edits.length}
          </span>
          <span className="spread" />
          <JumpButton block={edit.block} />
        </div>
      )}
      {edit.diff !== "" && <CopyButton text={() => edit.diff} label="Copy the diff" />}
      {edit.rows.length > 0 && (
        <DiffView
          rows={edit.rows}
          label={`changes to ${path}, edit ${i + 1} of ${edits.length}`}
          name={`${edit.block}:${i}:pane`}
          path={path}
        />
      )}
    </div>
  ));
}

function Counts({ added, deleted }: { added: number; deleted: number }): ReactNode {
  return (
    <span className="counts">
      {added > 0 && <span className="added">+{added}</span>}
      {deleted > 0 && <span className="deleted">−{deleted}</span>}
    </span>
  );
}

function lastTurn({ turns }: View): string | undefined {
  return [...turns.values()].reduce<{ id: string; startedAt: number } | undefined>(
    (last, turn) => (last === undefined || turn.startedAt >= last.startedAt ? turn : last),
    undefined,
  )?.id;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** From file to file; v marks the current one and goes to the next. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const line = (event.target as Element).closest(".changed-line");
  if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(".changed-line")];
  const at = all.indexOf(line as HTMLElement);
  const step = event.key === "v" ? 1 : STEPS[event.key];
  if (step === undefined) return;
  event.preventDefault();
  if (event.key === "v") line.parentElement?.querySelector("input")?.click();
  all[Math.max(0, Math.min(all.length - 1, at + step))]?.focus();
}
