/**
 * Changes: every file that the conversation, or its last turn, has changed, with its diffs and the way to where it happened.
 */

import type { ToolAnswer } from "@blockyard/client";
import { type BlockId, isProblem, plural, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { DiffView } from "../diff/diff-view.tsx";
import { useOpen } from "../state/disclosure.ts";
import { type Session, useOrder, useRecord, useSession, useViewState } from "../state/session.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { type ChangeBlock, type ChangedFile, changeBlockOf, changedFiles, pathParts } from "./change-list.ts";
import { jumpTo } from "./jump.ts";
import { EARLIER_BLOCKS, OPEN_FILES } from "./limits.ts";

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
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const deleted = files.reduce((sum, file) => sum + file.deleted, 0);
  return (
    <div className="changes">
      <div className="changes-head">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would stand out of the row */}
        <div className="segments" role="group" aria-label="Changes of">
          {(["turn", "all"] as const).map((each) => (
            <button key={each} type="button" aria-pressed={scope === each} onClick={() => setScope(each)}>
              {each === "turn" ? "Last turn" : "Conversation"}
            </button>
          ))}
        </div>
        {files.length > 0 && (
          <span className="changes-sum">
            {plural(files.length, "file")} <Counts added={added} deleted={deleted} />
          </span>
        )}
      </div>
      {files.length === 0 && (
        <p className="pane-note">
          {isReading
            ? "Loading…"
            : scope === "turn"
              ? "The last turn changed no files."
              : "No files changed yet."}
        </p>
      )}
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

interface FileProps {
  readonly file: ChangedFile;
  readonly folder: string | undefined;
  readonly isOpenFirst: boolean;
  readonly conversation: string;
}

const WORDS = { add: "new", modify: "", delete: "deleted" } as const;

function File({ file, folder, isOpenFirst, conversation }: FileProps): ReactNode {
  const { name, path, kind, added, deleted, edits } = file;
  const [isOpen, toggle] = useOpen(`changes:${conversation}:${name}`, isOpenFirst);
  const parts = pathParts(path, folder);
  return (
    <section className="changed-file" aria-label={path}>
      <button type="button" className="changed-line" aria-expanded={isOpen} title={path} onClick={toggle}>
        <Icon name="chevron" className={isOpen ? "turned" : ""} />
        <span className="changed-path">
          <span className="dim">{parts.before}</span>
          {parts.name}
        </span>
        {WORDS[kind] !== "" && <span className={`changed-kind ${kind}`}>{WORDS[kind]}</span>}
        <Counts added={added} deleted={deleted} />
      </button>
      {isOpen && edits.length > 1 && <Net file={file} conversation={conversation} />}
      {isOpen && edits.length === 1 && <Edits file={file} />}
    </section>
  );
}

/** What several edits come to, with a way to see each; each at once where they cannot be put together. */
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
            label={`net change of ${path}`}
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
      <div className="changed-edit-head">
        <span>{edits.length > 1 ? `Edit ${i + 1} of ${edits.length}` : "Edit"}</span>
        <span className="spread" />
        {edit.diff !== "" && <CopyButton text={() => edit.diff} label="Copy the diff" />}
        <button type="button" className="quiet-button" onClick={() => jumpTo(edit.block)}>
          Jump to it
        </button>
      </div>
      {edit.rows.length > 0 && (
        <DiffView
          rows={edit.rows}
          label={`changes of ${path}, edit ${i + 1} of ${edits.length}`}
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

/** All blocks that changed files: those that are here, live, and those of earlier, asked for once. */
function useChangeBlocks(view: View): { blocks: readonly ChangeBlock[]; isReading: boolean } {
  const session = useSession();
  const order = useOrder(view);
  const record = useRecord(view);
  const [earlier, setEarlier] = useState<ReadonlyMap<BlockId, ChangeBlock>>(new Map());
  const { isOpen, more } = useViewState(view);
  const [isRead, setRead] = useState(false);
  const isReading = !isOpen || (more && !isRead);
  const isAsked = isOpen && more && !isRead;
  useEffect(() => {
    if (!isAsked) return;
    let isOver = false;
    void readEarlier(session, view, () => isOver).then((found) => {
      if (isOver) return;
      setEarlier(found);
      setRead(true);
    });
    return () => {
      isOver = true;
    };
  }, [session, view, isAsked]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: order and the record's seq say that blocks have changed
  const blocks = useMemo(() => {
    const here = new Map(earlier);
    for (const block of view.blocks.values()) {
      if (block.kind !== "file_change") continue;
      const found = changeBlockOf(block, view.texts.get(block.id)?.toString() ?? "");
      if (found) here.set(found.id, found);
      else here.delete(block.id);
    }
    return [...here.values()];
  }, [view, order, earlier, record?.seq]);
  return { blocks, isReading };
}

async function readEarlier(
  session: Session,
  view: View,
  isOver: () => boolean,
): Promise<ReadonlyMap<BlockId, ChangeBlock>> {
  const found = new Map<BlockId, ChangeBlock>();
  const listed = await session.ask("block.list", {
    ...{ conversation: view.conversation, kind: "file_change", limit: EARLIER_BLOCKS },
  });
  if (isProblem(listed)) return found;
  for (const { block_id: id } of listed.blocks) {
    if (isOver()) break;
    if (view.blocks.has(id)) continue;
    const answer = await session.ask("block.read", { block_id: id, line_numbers: false });
    const block = isProblem(answer) ? undefined : readBlock(answer);
    if (block) found.set(id, block);
  }
  return found;
}

function readBlock(answer: ToolAnswer<"block.read">): ChangeBlock | undefined {
  const { block_id: id, seq: born, kind, status, metadata, content } = answer;
  return changeBlockOf({ id, born, kind, status, metadata }, content);
}
