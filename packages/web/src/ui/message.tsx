/**
 * What the server or the page says in a sentence: words between backticks are code, as in the commands that mend something.
 */
import type { ReactNode } from "react";

export function Message({ text }: { text: string }): ReactNode {
  return text.split(/`([^`\n]+)`/).map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part));
}
