/**
 * Find in this conversation: over the texts that the view holds, not over what happens to be on the screen. Enter goes to
 * the next block that has it.
 */
import type { BlockId, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../icons.tsx";
import { focused, isFinding, isFollowing } from "../page-state.ts";
import type { Row } from "./rows.ts";
import { treeOf } from "./view-tree.ts";

export function Find({ view, rows }: { view: View; rows: readonly Row[] }): ReactNode {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const hits = useMemo(() => findIn(view, rows, query), [view, rows, query]);
  const close = () => isFinding.set(false);
  const step = (by: number) => {
    if (hits.length === 0) return;
    const next = (at + by + hits.length) % hits.length;
    setAt(next);
    isFollowing.set(false);
    focused.set(hits[next]);
    requestAnimationFrame(() => requestAnimationFrame(() => field.current?.focus({ preventScroll: true })));
  };
  return (
    <search className="find">
      <Icon name="search" />
      <input
        ref={field}
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(-1);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
        }}
      />
      <span className="dim" aria-live="polite">
        {query === "" ? "" : hits.length === 0 ? "nothing" : `${at + 1 || "–"} of ${hits.length}`}
        {view.more && query !== "" ? " (older blocks: search everything)" : ""}
      </span>
      <button type="button" className="icon-button" aria-label="Previous" onClick={() => step(-1)}>
        <Icon name="chevron" className="up" />
      </button>
      <button type="button" className="icon-button" aria-label="Next" onClick={() => step(1)}>
        <Icon name="chevron" className="turned" />
      </button>
      <button type="button" className="icon-button" aria-label="Close" onClick={close}>
        <Icon name="cross" />
      </button>
    </search>
  );
}

/** The rows whose block, or one of its results, has the words. */
function findIn(view: View, rows: readonly Row[], query: string): readonly BlockId[] {
  const words = query.trim().toLowerCase();
  if (words.length < 2) return [];
  const tree = treeOf(view);
  const has = (id: BlockId): boolean => view.texts.get(id)?.toString().toLowerCase().includes(words) ?? false;
  return rows.flatMap((row) => {
    if (row.type !== "block") return [];
    const params = view.blocks.get(row.id)?.metadata["compactParams"];
    const isHit =
      has(row.id) ||
      (typeof params === "string" && params.toLowerCase().includes(words)) ||
      tree.sides(row.id).some(has);
    return isHit ? [row.id] : [];
  });
}
