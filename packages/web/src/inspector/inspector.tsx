/**
 * The inspector: what is known about one block beside its text: its facts, who wrote which part of it, and its history,
 * with a slider through its versions and undo.
 */
import { type Block, type BlockId, isProblem, type Json, type Problem, type View } from "@blockyard/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { undo } from "../actions/actions.ts";
import { JsonView } from "../blocks/json-view.tsx";
import { type History, historyOf } from "../state/history.ts";
import { inspected } from "../state/page-state.ts";
import { useBlock, useSession, ViewProvider } from "../state/session.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { Message } from "../ui/message.tsx";
import { Authors } from "./authors.tsx";
import { Versions } from "./versions.tsx";

export default function Inspector({ id }: { id: BlockId }): ReactNode {
  const session = useSession();
  const view = [...session.replica.views.values()].find((known) => known.blocks.has(id));
  return (
    <aside className="inspector" aria-label="Block details">
      <div className="inspector-head">
        <h2>Block</h2>
        <button
          type="button"
          className="icon-button"
          aria-label="Close the details"
          onClick={() => inspected.set(undefined)}
        >
          <Icon name="cross" />
        </button>
      </div>
      {view ? (
        <ViewProvider value={view}>
          <Body id={id} view={view} />
        </ViewProvider>
      ) : (
        <p className="dim">This block is not in the open conversation.</p>
      )}
    </aside>
  );
}

function Body({ id }: { id: BlockId; view: View }): ReactNode {
  const session = useSession();
  const block = useBlock(id);
  const [history, setHistory] = useState<History | Problem | undefined>(undefined);
  const version = block?.version ?? 0;
  const read = useCallback(async () => {
    setHistory(historyOf(await session.ask("block.history", { block_id: id, authors: true, limit: 200 })));
  }, [session, id]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version has a new history
  useEffect(() => {
    const timer = setTimeout(() => void read(), 250);
    return () => clearTimeout(timer);
  }, [read, version]);
  if (!block) return null;
  return (
    <div className="inspector-body">
      <Facts block={block} />
      <section>
        <h3>History</h3>
        {history === undefined && <p className="dim">Reading…</p>}
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
                  <Icon name="undo" /> Undo mine
                </button>
                <button
                  type="button"
                  disabled={history.nextRedo === undefined}
                  onClick={() => void undo(session, id, "redo")}
                >
                  <Icon name="redo" /> Redo mine
                </button>
              </div>
            )}
            <Versions block={block} history={history} />
            <Authors block={block} history={history} />
          </>
        )}
      </section>
      <section>
        <h3>Metadata</h3>
        <JsonView value={block.metadata as Json} name={`${id}:metadata`} />
      </section>
    </div>
  );
}

function Facts({ block }: { block: Block }): ReactNode {
  const facts: readonly (readonly [string, string])[] = [
    ["kind", block.kind.replace("_", " ")],
    ["role", block.role],
    ["status", block.status],
    ["written by", block.agent],
    ["version", String(block.version)],
    ["characters", block.chars.toLocaleString("en-US")],
    ["created", new Date(block.createdAt).toLocaleString()],
    ["changed", new Date(block.updatedAt).toLocaleString()],
    ["merging", block.promoted ? "yes: others have edited it" : "not needed so far"],
  ];
  return (
    <dl className="facts">
      <div>
        <dt>id</dt>
        <dd>
          <code>{block.id}</code> <CopyButton text={() => block.id} label="Copy the id" />
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
