/**
 * The question whether the files of a folder that act by themselves are trusted: asked before the first turn there, and again
 * where one is new or has changed. Nothing has been started when it is asked.
 */
import { exactName } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { overlay, type TrustQuestion } from "../state/page-state.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useSettled } from "../ui/wait.ts";

interface TrustChoiceProps {
  readonly question: TrustQuestion;
  readonly answer: (isTrusted: boolean) => void;
}

export function TrustChoice({ question: { folder, files, digest }, answer }: TrustChoiceProps): ReactNode {
  const isReady = useSettled(digest);
  const choose = (isTrusted: boolean) => {
    answer(isTrusted);
    overlay.set(undefined);
  };
  return (
    <Dialog label="Trust this folder?" className="wide ask">
      <h2>Trust this folder?</h2>
      <p>
        Agents that work in <code>{exactName(folder)}</code> run or follow these files. Review them first if
        you did not write them.
      </p>
      <ul className="trust-files">
        {files.map(({ path, reason, state }) => (
          <li key={path}>
            <code>{exactName(path)}</code> <span className="dim">{reason}</span>
            {state === "changed" && <span className="warn"> changed</span>}
          </li>
        ))}
      </ul>
      <div className="ask-buttons">
        <button type="button" className="primary" disabled={!isReady} onClick={() => choose(true)}>
          Trust and send
        </button>
        <button type="button" onClick={() => choose(false)}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
