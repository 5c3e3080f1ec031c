/**
 * A file that was changed here and on the disk in the same lines: what happened, and the three ways out. Nothing is
 * written to either side until one of them is taken, and what this side loses by it can be undone.
 */
import { type BlockId, type FileConflict, isProblem, type Problem, problem } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { refused } from "../actions/actions.ts";
import { notify, overlay } from "../state/page-state.ts";
import { type Session, useSession } from "../state/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { hasMarks, proposeMerge } from "./merge-text.ts";

interface ConflictProps {
  readonly block: BlockId;
  readonly conflict: FileConflict;
}

export function Conflict({ block, conflict }: ConflictProps): ReactNode {
  const session = useSession();
  const { kind, message, diskHash } = conflict;
  const take = (side: "mine" | "disk") => void resolve(session, block, diskHash, { take: side });
  return (
    <section className="conflict" aria-label="Conflict with the file on disk" role="alert">
      <p>
        <Icon name="warn" /> {message}. Nothing is written until you choose.
      </p>
      <div className="ask-buttons">
        <button type="button" onClick={() => take("mine")}>
          Keep this version
        </button>
        {kind !== "unreadable" && (
          <button type="button" onClick={() => take("disk")}>
            {kind === "deleted" ? "Accept deletion" : "Use the version on disk"}
          </button>
        )}
        {kind === "overlap" && (
          <button type="button" className="primary" onClick={() => overlay.set({ type: "merge", block })}>
            Merge by hand…
          </button>
        )}
      </div>
    </section>
  );
}

async function resolve(
  session: Session,
  block: string,
  diskHash: string | null,
  how: { readonly take: "mine" | "disk" } | { readonly take: "text"; readonly content: string },
): Promise<boolean> {
  const answer = await session.post("file.resolve", { block_id: block, disk_hash: diskHash, ...how });
  if (isProblem(answer)) {
    refused("Couldn't resolve the conflict", answer);
    return false;
  }
  notify("Conflict resolved");
  return true;
}

interface Sides {
  readonly hash: string | null;
  readonly proposal: string;
}

export function Merge({ block }: { block: string }): ReactNode {
  const session = useSession();
  const [sides, setSides] = useState<Sides | Problem | undefined>(undefined);
  const [text, setText] = useState("");
  useEffect(() => {
    void readSides(session, block).then((read) => {
      setSides(read);
      if (!isProblem(read)) setText(read.proposal);
    });
  }, [session, block]);
  if (sides === undefined || isProblem(sides))
    return (
      <Dialog label="A merged text" className="wide ask">
        <h2>Merge</h2>
        <p className={sides ? "bad" : "dim"}>{sides ? sides.message : "Loading both versions…"}</p>
      </Dialog>
    );
  const isOpen = hasMarks(text);
  return (
    <Dialog label="A merged text" className="wide ask">
      <h2>Merge</h2>
      <p className="dim">
        Changes made on only one side are already merged. Where both sides changed, both versions are between
        markers: keep what you want and delete the markers.
      </p>
      <textarea
        className="merge-text"
        aria-label="Merged text"
        spellCheck={false}
        rows={20}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="ask-buttons">
        <button
          type="button"
          className="primary"
          disabled={isOpen}
          onClick={async () => {
            const isDone = await resolve(session, block, sides.hash, { take: "text", content: text });
            if (isDone) overlay.set(undefined);
          }}
        >
          Use this text
        </button>
        <button type="button" onClick={() => overlay.set(undefined)}>
          Cancel
        </button>
        {isOpen && <span className="dim">Delete the remaining conflict markers</span>}
      </div>
    </Dialog>
  );
}

/** The block's text, the disk's text, and their common base. */
async function readSides(session: Session, block: string): Promise<Sides | Problem> {
  const status = await session.ask("file.status", { block_id: block, disk_content: true });
  if (isProblem(status)) return status;
  const {
    files: [file],
    disk,
  } = status;
  if (!file || !disk || disk.content === null || disk.more)
    return problem("too_large", "The file on disk is too long to show here: choose one of the two versions");
  const mine = await textAt(session, block, file.version);
  if (isProblem(mine)) return mine;
  const base = await textAt(session, block, file.persisted_version);
  const before = isProblem(base) ? undefined : base;
  return { hash: disk.hash, proposal: proposeMerge(before, mine, disk.content) };
}

async function textAt(session: Session, block: string, version: number): Promise<string | Problem> {
  const answer = await session.ask("block.history", { block_id: block, version, limit: 1 });
  return isProblem(answer) ? answer : (answer.content ?? "");
}
