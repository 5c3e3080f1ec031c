/** Search over everything: hits with their line, the words marked, the newest first; choosing one opens its block. */

import type { ToolAnswer } from "@blockyard/client";
import { type HitText, hitText, isProblem, type Problem } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Conversations } from "../sidebar/conversations.ts";
import { useCell } from "../state/cell.ts";
import { overlay } from "../state/page-state.ts";
import { go, linkTo, linkToFile } from "../state/route.ts";
import { useSession } from "../state/session.tsx";
import { Chooser } from "../ui/chooser.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { together } from "./hit-groups.ts";
import { FOUND_BLOCKS, INDEXING_MS, SEARCH_PAUSE_MS } from "./limits.ts";

/** On a phone a row ends before this many: the match has to be in it. */
const SHOWN_BEFORE = innerWidth < 600 ? 12 : 40;

interface Hit extends HitText {
  readonly key: string;
  readonly block: string;
  readonly conversation: string;
  readonly kind: string;
  readonly path: string | undefined;
}

function isFile(hit: Hit): hit is Hit & { readonly path: string } {
  return hit.kind === "file" && hit.path !== undefined;
}

/** The container of a hit. */
const KINDS: Readonly<Record<string, { readonly name: string; readonly icon: IconName }>> = {
  text: { name: "Message", icon: "turns" },
  thinking: { name: "Thinking", icon: "spark" },
  tool_call: { name: "Tool call", icon: "tool" },
  tool_result: { name: "Result", icon: "tool" },
  command: { name: "Output", icon: "terminal" },
  code: { name: "Code", icon: "file" },
  file: { name: "File", icon: "file" },
  file_change: { name: "Change", icon: "edit" },
  todo: { name: "To-do", icon: "todo" },
  error: { name: "Error", icon: "alert" },
};
/** Text by people and models, which is read and not looked up. */
const SAID: ReadonlySet<string> = new Set(["text", "thinking", "error", "todo"]);

type Answer = ToolAnswer<"kernel.search">;

interface Page {
  readonly state: "found";
  readonly words: string;
  readonly hits: readonly Hit[];
  /** Other pages were added to the first. */
  readonly isLonger?: true;
  readonly more: boolean;
  /** The start of the next page. */
  readonly next: string | undefined;
  readonly indexing: Answer["indexing"];
}

type Found =
  | { readonly state: "none" | "searching" }
  | Page
  | { readonly state: "failed"; readonly problem: Problem };

export function Search({ conversations }: { conversations: Conversations }): ReactNode {
  const [query, setQuery] = useState("");
  const { found, goOn } = useSearch(query);
  const listing = useCell(conversations.listing);
  const titles = new Map(
    listing.state === "here" ? listing.conversations.map(({ id, title }) => [id, title] as const) : [],
  );
  const hits = found.state === "found" ? found.hits : [];
  return (
    <Dialog label="Search everything" className="wide">
      <Chooser
        label="Search everything"
        placeholder="Search every block"
        query={query}
        onQuery={setQuery}
        items={hits}
        keyOf={(hit) => hit.key}
        onChoose={(hit) => {
          overlay.set(undefined);
          go(isFile(hit) ? linkToFile(hit.path) : linkTo(hit.conversation, hit.block));
        }}
        groupOf={(hit) => (isFile(hit) ? "Files" : titles.get(hit.conversation) || "Untitled")}
        render={(hit) => (
          <>
            <Icon name={KINDS[hit.kind]?.icon ?? "turns"} />
            <span className={SAID.has(hit.kind) ? "hit said-hit" : "hit"}>
              {hit.before}
              <mark>{hit.words}</mark>
              {hit.after}
            </span>
            <span className={hit.path === undefined ? "dim hit-kind" : "dim"}>
              {hit.path ?? KINDS[hit.kind]?.name ?? hit.kind.replace("_", " ")}
            </span>
          </>
        )}
        empty={emptyText(found)}
      />
      {found.state === "found" && found.indexing && (
        <p className="dim" role="status">
          Still indexing: {found.indexing.indexed} of {found.indexing.total} conversations. Matches in the
          others may be missing.
        </p>
      )}
      {found.state === "found" && found.next !== undefined && (
        <button type="button" className="quiet-button" onClick={goOn}>
          More results
        </button>
      )}
      {found.state === "found" && found.more && found.next === undefined && !found.indexing && (
        <p className="dim">There are more. Add a word to narrow the search.</p>
      )}
    </Dialog>
  );
}

function emptyText(found: Found): string {
  if (found.state === "failed")
    return found.problem.problem === "unavailable"
      ? "The server isn't responding. Try again when it's back."
      : found.problem.message;
  if (found.state === "searching") return "Searching…";
  if (found.state !== "found") return "Type at least two letters";
  return found.more || found.indexing ? "No matches so far" : "No matches";
}

/** The matches of the words, and how to add the next page. */
function useSearch(query: string): { readonly found: Found; readonly goOn: () => void } {
  const session = useSession();
  const words = query.trim();
  const [found, setFound] = useState<Found>({ state: "none" });
  const asked = useRef(words);
  asked.current = words;
  const ask = async (after: string | undefined): Promise<Page | Problem> => {
    const answer = await session.ask("kernel.search", {
      query: words,
      literal: true,
      ignore_case: true,
      kinds: "all",
      context_lines: 0,
      max_matches_per_block: 3,
      max_blocks: FOUND_BLOCKS,
      ...(after === undefined ? {} : { after }),
    });
    return isProblem(answer) ? answer : { ...readAnswer(answer, after), words };
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `ask` is of the same words and session
  useEffect(() => {
    if (words.length < 2) return setFound({ state: "none" });
    let isOld = false;
    let timer = setTimeout(() => {
      setFound((now) => (now.state === "found" ? now : { state: "searching" }));
      void first();
    }, SEARCH_PAUSE_MS);
    const first = async () => {
      const page = await ask(undefined);
      if (isOld) return;
      // Further pages that were requested meanwhile stay.
      setFound((now) => {
        if (isProblem(page)) return { state: "failed", problem: page };
        return now.state === "found" && now.words === words && now.isLonger ? now : page;
      });
      if (!isProblem(page) && page.indexing) timer = setTimeout(() => void first(), INDEXING_MS);
    };
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [session, words]);
  const goOn = async () => {
    if (found.state !== "found" || found.next === undefined) return;
    const page = await ask(found.next);
    if (asked.current !== words) return;
    setFound((now) => {
      // Two clicks request the same page.
      if (now !== found) return now;
      return isProblem(page)
        ? { state: "failed", problem: page }
        : { ...page, hits: [...found.hits, ...page.hits], isLonger: true };
    });
  };
  return { found, goOn: () => void goOn() };
}

function readAnswer(answer: Answer, after: string | undefined): Omit<Page, "words"> {
  const { blocks, more, next, indexing } = answer;
  const hits = blocks.flatMap(({ block_id, conversation, kind, path, matches }) =>
    matches.map((match, i) => ({
      key: `${block_id}:${i}`,
      block: block_id,
      conversation,
      kind,
      path,
      ...hitText(match, kind, SHOWN_BEFORE),
    })),
  );
  // A page that ends where it began would be the same again.
  return { state: "found", hits: together(hits), more, next: next === after ? undefined : next, indexing };
}
