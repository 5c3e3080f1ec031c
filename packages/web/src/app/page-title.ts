/**
 * What the browser's tab says: how many conversations wait for an answer, and which one or which file this is.
 */
import { useEffect } from "react";
import type { Conversations, Listing } from "../sidebar/conversations.ts";
import { useCell } from "../state/cell.ts";
import type { Route } from "../state/route.ts";

export function usePageTitle(conversations: Conversations, route: Route): void {
  const listing = useCell(conversations.listing);
  const title = titleOf(listing, route);
  useEffect(() => {
    document.title = title;
  }, [title]);
}

export function titleOf(listing: Listing, { conversation, file }: Route): string {
  const known = listing.state === "here" ? listing.conversations : [];
  const asking = known.filter(({ isAsking }) => isAsking).length;
  const open = known.find(({ id }) => id === conversation)?.title || undefined;
  const name = file?.split("/").at(-1) ?? open;
  return `${asking > 0 ? `(${asking}) ` : ""}${name === undefined ? "" : `${name} · `}Blockyard`;
}
