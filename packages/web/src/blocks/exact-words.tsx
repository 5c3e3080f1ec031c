/**
 * Words of an agent within what it asks, exactly as they are. However long they are, the answers stay near: many lines scroll in a box
 * of their own, and a very long text is shown from its beginning until somebody asks for all of it.
 */
import { ASK_BOUNDS, exactName, exactText } from "@blockyard/kernel";
import { type ReactNode, useState } from "react";
import { breakable } from "../ui/long-words.tsx";
import { BOXED_CHARS, BOXED_LINES } from "./limits.ts";

interface ExactWordsProps {
  readonly text: string;
  /** A name has no lines. */
  readonly isName?: boolean;
}

export function ExactWords({ text, isName = false }: ExactWordsProps): ReactNode {
  const { shown, more } = useCut(text, ASK_BOUNDS.wordsChars);
  const words = isName ? exactName(shown) : exactText(shown);
  if (!isTall(words)) return breakable(words);
  return (
    <span className="long-words">
      {breakable(words)}
      {more}
    </span>
  );
}

/** What is to be allowed, in a box: as it will be used, with invisible characters made visible. */
export function Exact({ text }: { text: string }): ReactNode {
  const { shown, more } = useCut(text, ASK_BOUNDS.exactChars);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className="exact" tabIndex={0}>
        {breakable(exactText(shown))}
      </pre>
      {more}
    </>
  );
}

function isTall(words: string): boolean {
  return words.length > BOXED_CHARS || words.split("\n", BOXED_LINES + 1).length > BOXED_LINES;
}

/** The beginning of a text, and what shows the rest. */
function useCut(text: string, most: number): { readonly shown: string; readonly more: ReactNode } {
  const [isAll, setAll] = useState(false);
  if (isAll || text.length <= most) return { shown: text, more: null };
  const more = (
    <button
      type="button"
      className="quiet-button show-all"
      onClick={(event) => {
        // Within a label it would choose that.
        event.preventDefault();
        setAll(true);
      }}
    >
      Show all {text.length.toLocaleString("en-US")} characters
    </button>
  );
  // No half of a pair is left.
  return { shown: text.slice(0, most).replace(/[\ud800-\udbff]$/, ""), more };
}
