/**
 * The question in which folder something shall work: asked where a conversation's or a command's own folder is gone, or is
 * not inside the folder that the server serves. Nothing has been started when it is asked, and nothing is without an answer.
 */
import type { ReactNode } from "react";
import { type FolderQuestion, overlay } from "../state/page-state.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";

interface FolderChoiceProps {
  readonly question: FolderQuestion;
  readonly answer: (folder: string | undefined) => void;
}

export function FolderChoice({ question, answer }: FolderChoiceProps): ReactNode {
  const choose = (folder: string | undefined) => {
    answer(folder);
    overlay.set(undefined);
  };
  return (
    <Dialog label="Choose a folder" className="ask">
      <h2>Choose a folder</h2>
      <FolderButtons question={question} onChoose={choose} />
    </Dialog>
  );
}

export function FolderButtons({
  question,
  onChoose,
}: {
  question: FolderQuestion;
  onChoose: (folder: string | undefined) => void;
}): ReactNode {
  return (
    <>
      <p role="alert">{question.why}</p>
      <div className="ask-buttons">
        {question.folders.map((folder) => (
          <button key={folder} type="button" onClick={() => onChoose(folder)}>
            <Icon name="folder" /> Work in <code>{folder}</code>
          </button>
        ))}
        <button type="button" onClick={() => onChoose(undefined)}>
          Cancel
        </button>
      </div>
    </>
  );
}
