/**
 * Running a command again: exactly what would run and where, as the server spells it out, and a button that works after
 * half a second. What is confirmed is good once, for a minute, and only for what is shown: whenever it does not hold any
 * more, the dialog says why and lets one look again.
 */
import type { ToolAnswer } from "@blockyard/client";
import { type BlockId, isProblem, type Problem } from "@blockyard/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { type FolderQuestion, overlay } from "../state/page-state.ts";
import { useSession } from "../state/session.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Message } from "../ui/message.tsx";
import { useSettled } from "../ui/wait.ts";
import { FolderButtons } from "./folder-choice.tsx";
import { folderQuestion } from "./folder-question.ts";

type Confirmed = ToolAnswer<"command.confirm">;

type State =
  | { readonly state: "asking" }
  | { readonly state: "shown"; readonly confirmed: Confirmed; readonly cwd: string | undefined }
  | { readonly state: "where"; readonly question: FolderQuestion }
  | { readonly state: "running" }
  | { readonly state: "refused"; readonly problem: Problem };

export function Rerun({ block }: { block: BlockId }): ReactNode {
  const session = useSession();
  const [now, setNow] = useState<State>({ state: "asking" });
  const confirm = useCallback(
    async (cwd?: string, network?: true) => {
      setNow({ state: "asking" });
      const chosen = { ...(cwd === undefined ? {} : { cwd }), ...(network ? { network } : {}) };
      const answer = await session.once("command.confirm", { block_id: block, ...chosen });
      if (!isProblem(answer)) return setNow({ state: "shown", confirmed: answer, cwd });
      const question = folderQuestion(answer);
      setNow(question ? { state: "where", question } : { state: "refused", problem: answer });
    },
    [session, block],
  );
  useEffect(() => void confirm(), [confirm]);
  const run = async ({ confirmation }: Confirmed) => {
    setNow({ state: "running" });
    const answer = await session.once("command.run", { block_id: block, confirmation });
    if (isProblem(answer)) setNow({ state: "refused", problem: answer });
    else overlay.set(undefined);
  };
  return (
    <Dialog label="Run this command again" className="wide ask">
      <h2>Run this command again</h2>
      {now.state === "shown" ? (
        <Question
          confirmed={now.confirmed}
          onRun={() => void run(now.confirmed)}
          onNetwork={() => void confirm(now.cwd, true)}
        />
      ) : now.state === "where" ? (
        <FolderButtons
          question={now.question}
          onChoose={(folder) => (folder === undefined ? overlay.set(undefined) : void confirm(folder))}
        />
      ) : (
        <>
          {now.state === "refused" ? (
            <p className="bad" role="alert">
              Couldn't run it: <Message text={now.problem.message} />
            </p>
          ) : (
            <p className="dim">{now.state === "running" ? "Starting…" : "Checking what would run…"}</p>
          )}
          <div className="ask-buttons">
            {now.state === "refused" && (
              <button type="button" className="primary" onClick={() => void confirm()}>
                Check again
              </button>
            )}
            <button type="button" onClick={() => overlay.set(undefined)}>
              Cancel
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** In the server's words. */
const NO_NETWORK = "sandboxed, no network";

function Question({
  confirmed,
  onRun,
  onNetwork,
}: {
  confirmed: Confirmed;
  onRun: () => void;
  onNetwork: () => void;
}): ReactNode {
  const isReady = useSettled(confirmed.confirmation);
  return (
    <>
      <p className="dim">Runs this in bash on this machine. Confirm within 1 minute.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long command is scrolled by keyboard */}
      <pre className="exact" tabIndex={0}>
        {confirmed.command_visible}
      </pre>
      <p className="ask-place">
        <Icon name="folder" /> <span className="sr-only">in the folder </span>
        <code>{confirmed.cwd_visible}</code>
      </p>
      <p className={`ask-sandbox ${confirmed.sandbox.startsWith("sandboxed") ? "dim" : "bad"}`}>
        {confirmed.sandbox.charAt(0).toUpperCase() + confirmed.sandbox.slice(1)}
      </p>
      <div className="ask-buttons">
        <button type="button" className="primary" disabled={!isReady} onClick={onRun}>
          <Icon name="terminal" /> Run it
        </button>
        {confirmed.sandbox === NO_NETWORK && (
          <button type="button" disabled={!isReady} onClick={onNetwork}>
            Allow network
          </button>
        )}
        <button type="button" onClick={() => overlay.set(undefined)}>
          Cancel
        </button>
      </div>
    </>
  );
}
