/**
 * The details of one block, in the side pane: its facts, who wrote which part of it, and its history, with a slider through its
 * versions and undo.
 */

import { type Block, type BlockId, isProblem, type Json, type Problem, type View } from "@blockyard/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { undo } from "../actions/actions.ts";
import { JsonView } from "../blocks/json-view.tsx";
import { type History, historyOf } from "../state/history.ts";
import { useBlock, useSession, ViewProvider } from "../state/session.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { Message } from "../ui/message.tsx";
import { Authors } from "./authors.tsx";
import { HISTORY_MS, HISTORY_ROWS } from "./limits.ts";
import { Versions } from "./versions.tsx";

export default function Inspector({ id }: { id: BlockId }): ReactNode {
  const session = useSession();
  const view = [...session.replica.views.values()].find((known) => known.blocks.has(id));
  return (
    <div className="inspector">
      {view ? (
        <ViewProvider value={view}>
          <Body id={id} view={view} />
        </ViewProvider>
      ) : (
        <p className="pane-note">This block is not in the open conversation.</p>
      )}
    </div>
  );
}

function Body({ id }: { id: BlockId; view: View }): ReactNode {
  const session = useSession();
  const block = useBlock(id);
  const [history, setHistory] = useState<History | Problem | undefined>(undefined);
  const version = block?.version ?? 0;
  const read = useCallback(async () => {
    setHistory(
      historyOf(await session.ask("block.history", { block_id: id, authors: true, limit: HISTORY_ROWS })),
    );
  }, [session, id]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version has a new history
  useEffect(() => {
    const timer = setTimeout(() => void read(), HISTORY_MS);
    return () => clearTimeout(timer);
  }, [read, version]);
  if (!block) return null;
  return (
    <div className="inspector-body">
      <Facts block={block} />
      <section>
        <h2>History</h2>
        {history === undefined && <p className="dim">Loading…</p>}
        {isProblem(history) && (
          <p className="dim">
            <Message text={history.message} />
          </p>
        )}
        {history !== undefined && !isProblem(history) && (
          <>
            {!session.isViewer && (
              <div className="inspector-buttons">
                <button
                  type="button"
                  disabled={history.nextUndo === undefined}
                  onClick={() => void undo(session, id, "undo")}
                >
                  <Icon name="undo" /> Undo my edit
                </button>
                <button
                  type="button"
                  disabled={history.nextRedo === undefined}
                  onClick={() => void undo(session, id, "redo")}
                >
                  <Icon name="redo" /> Redo my edit
                </button>
              </div>
            )}
            <Versions block={block} history={history} />
            <Authors block={block} history={history} />
          </>
        )}
      </section>
      {Object.keys(block.metadata).length > 0 && (
        <section>
          <h2>Metadata</h2>
          <JsonView value={block.metadata as Json} name={`${id}:metadata`} />
        </section>
      )}
    </div>
  );
}

function Facts({ block }: { block: Block }): ReactNode {
  const facts: readonly (readonly [string, string])[] = [
    ["Kind", block.kind.replace("_", " ")],
    ["Role", block.role],
    ["Status", block.status],
    ["Written by", block.agent],
    ["Version", String(block.version)],
    ["Characters", block.chars.toLocaleString("en-US")],
    ["Created", new Date(block.createdAt).toLocaleString()],
    ["Changed", new Date(block.updatedAt).toLocaleString()],
    ["Edited by others", block.promoted ? "yes" : "no"],
  ];
  return (
    <dl className="facts">
      <div>
        <dt>Id</dt>
        <dd>
          <code>{block.id}</code> <CopyButton text={() => block.id} label="Copy id" />
        </dd>
      </div>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
