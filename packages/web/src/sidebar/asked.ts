/**
 * What a conversation that needs the reader asks, in a few words: read once for each request.
 */
import { askOf, exactName, isProblem, onOneLine } from "@blockyard/kernel";
import { useEffect, useState } from "react";
import { askHeading } from "../state/ask-heading.ts";
import { useSession } from "../state/session.tsx";
import { ASKED_CHARS, KEPT_ASKS } from "./limits.ts";

interface Asked {
  readonly words: string;
  /** It is text of a program. */
  readonly isCode: boolean;
}

const known = new Map<string, Asked>();

/** `call`: the call that asks. */
export function useAsked(call: string | undefined, folder: string | undefined): Asked | undefined {
  const session = useSession();
  const [told, setTold] = useState<{ readonly call: string; readonly asked: Asked } | undefined>(undefined);
  useEffect(() => {
    if (call === undefined || known.has(call)) return;
    let isOver = false;
    // Its facts alone: its text may be a whole file.
    const range = { start: 0, end: 0 };
    void session.ask("block.read", { block_id: call, line_numbers: false, range }).then((answer) => {
      const ask = isProblem(answer) ? undefined : askOf(answer.metadata);
      if (isOver || isProblem(answer) || ask === undefined) return;
      const { subject } = ask;
      const asked =
        subject?.type === "command"
          ? { words: shortWords(onOneLine(subject.command)), isCode: true }
          : { words: shortWords(askHeading(ask, answer, folder).replaceAll("`", "")), isCode: false };
      if (known.size >= KEPT_ASKS) known.clear();
      known.set(call, asked);
      setTold({ call, asked });
    });
    return () => {
      isOver = true;
    };
  }, [session, call, folder]);
  if (call === undefined) return undefined;
  return known.get(call) ?? (told?.call === call ? told.asked : undefined);
}

/** More is not shown of them anyway. */
function shortWords(words: string): string {
  return exactName(words.slice(0, ASKED_CHARS));
}
