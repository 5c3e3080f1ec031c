/** A fenced piece of code in somebody's text: its language, a button to copy it, its lines. */
import { type ReactNode, useId } from "react";
import { CopyButton } from "../ui/copy.tsx";
import { CodeLines } from "./code-lines.tsx";
import { grammarOf } from "./language.ts";

interface CodeFenceProps {
  readonly text: string;
  readonly language: string | undefined;
  /** It is still being written. */
  readonly isOpen: boolean;
  /** Buttons beside the copy button. */
  readonly tools?: ReactNode;
  /** Shown in the place of the lines. */
  readonly instead?: ReactNode;
  /** A note above the lines, which may be long. */
  readonly note?: ReactNode;
}

export function CodeFence({ text, language, isOpen, tools, instead, note }: CodeFenceProps): ReactNode {
  const name = useId();
  return (
    <div className="fence">
      <div className="fence-head">
        <span className="fence-language">{language ?? ""}</span>
        {tools}
        <CopyButton text={() => text} />
      </div>
      {note}
      {instead ?? <CodeLines name={name} text={text} grammar={grammarOf(language)} isGrowing={isOpen} />}
    </div>
  );
}
