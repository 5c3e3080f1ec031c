/**
 * A file of the workspace, open to be edited by everybody at once: its path, whether it is saved, what is the matter with
 * it, and the text with others' cursors in it.
 */

import { isProblem, metadataOf, type Problem, type View } from "@blockyard/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { FilePath } from "../blocks/file-path.tsx";
import { inspected } from "../state/page-state.ts";
import { useBlock, useSession, ViewProvider } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { PaneToggle } from "../ui/pane-toggle.tsx";
import { SidebarToggle } from "../ui/sidebar-toggle.tsx";
import { Conflict } from "./conflict.tsx";
import { FileEditor } from "./file-editor.tsx";
import { Guarded } from "./grants.tsx";
import { FILE_LOOK_MS } from "./limits.ts";
import { followFile, isDirty } from "./workspace.ts";

type State =
  | { readonly state: "opening" }
  | { readonly state: "open"; readonly id: string; readonly view: View; readonly guarded?: string }
  | { readonly state: "refused"; readonly problem: Problem };

export default function FilePane({ path }: { path: string }): ReactNode {
  const session = useSession();
  const [now, setNow] = useState<State>({ state: "opening" });
  const open = useCallback(
    async (create: boolean) => {
      const answer = await session.write("file.open", { path, create });
      if (isProblem(answer)) return setNow({ state: "refused", problem: answer });
      const { block_id: id, conversation, guarded } = answer;
      const view = await followFile(session, conversation, id);
      setNow({ state: "open", id, view, ...(guarded === undefined ? {} : { guarded }) });
    },
    [session, path],
  );
  useEffect(() => void open(false), [open]);
  return (
    <main className="conversation file-pane" aria-label={`File ${path}`}>
      {now.state === "open" ? (
        <ViewProvider value={now.view}>
          <OpenFile id={now.id} view={now.view} guarded={now.guarded} />
        </ViewProvider>
      ) : (
        <>
          <Bar path={path} />
          <div className="blank">
            {now.state === "opening" && "Opening…"}
            {now.state === "refused" &&
              (now.problem.problem === "not_found"
                ? "No such file in this workspace."
                : `Couldn't open it: ${now.problem.message}`)}
            {now.state === "refused" && now.problem.problem === "not_found" && (
              <p>
                <button type="button" className="primary" onClick={() => void open(true)}>
                  Create this file
                </button>
              </p>
            )}
          </div>
        </>
      )}
    </main>
  );
}

function Bar({ path, children }: { path: string; children?: ReactNode }): ReactNode {
  return (
    <header className="head">
      <SidebarToggle />
      <div className="head-main">
        <h1 className="title">
          <FilePath path={path} />
        </h1>
      </div>
      {children}
      <PaneToggle label="Files" />
    </header>
  );
}

/** Why a file that has not been saved for a while cannot be; asked for, because the disk's troubles are in no block. */
function useFailure(id: string, isWaiting: boolean): string | undefined {
  const session = useSession();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    setFailure(undefined);
    if (!isWaiting) return;
    const timer = setInterval(async () => {
      const answer = await session.ask("file.status", { block_id: id });
      if (isProblem(answer)) return;
      setFailure(answer.files[0]?.error ?? undefined);
    }, FILE_LOOK_MS);
    return () => clearInterval(timer);
  }, [session, id, isWaiting]);
  return failure;
}

interface OpenFileProps {
  readonly id: string;
  readonly view: View;
  /** Why agents and viewers need the owner's grant. */
  readonly guarded: string | undefined;
}

function OpenFile({ id, view, guarded }: OpenFileProps): ReactNode {
  const { isOwner } = useSession();
  const block = useBlock(id);
  const failure = useFailure(id, block !== undefined && isDirty(block));
  if (!block) return <div className="blank">This file no longer exists.</div>;
  const { path, conflict, missing } = metadataOf(block, "file");
  return (
    <>
      <Bar path={path}>
        <span className="file-state" role="status">
          {conflict === undefined && isDirty(block) ? (
            <>
              <span className="mark" aria-hidden="true" />{" "}
              {failure === undefined ? "Not saved yet" : `Couldn't save, retrying: ${failure}`}
            </>
          ) : (
            conflict === undefined && (missing ? "Deleted from disk" : "Saved")
          )}
        </span>
        {guarded !== undefined && isOwner && <Guarded path={path} reason={guarded} />}
        <button
          type="button"
          className="icon-button"
          title="History and details"
          aria-label="History and details of this file"
          onClick={() => inspected.change((shown) => (shown === id ? undefined : id))}
        >
          <Icon name="history" />
        </button>
      </Bar>
      {conflict !== undefined && <Conflict block={id} conflict={conflict} />}
      <FileEditor key={id} id={id} path={path} view={view} />
    </>
  );
}
