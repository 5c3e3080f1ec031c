/**
 * What the server or the page says in a sentence: words between backticks are code, as in the commands that mend something.
 */
import { Fragment, type ReactNode } from "react";
import { breakable } from "./long-words.tsx";

export function Message({ text }: { text: string }): ReactNode {
  return text
    .split(/`([^`\n]+)`/)
    .map((part, i) =>
      i % 2 === 1 ? <code key={i}>{breakable(part)}</code> : <Fragment key={i}>{breakable(part)}</Fragment>,
    );
}
