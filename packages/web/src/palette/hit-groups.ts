/** In which order the hits of a search are shown. Pure. */

/** Those of one conversation together, at its first one; files apart from conversations. */
export function together<H extends { readonly conversation: string; readonly kind: string }>(
  hits: readonly H[],
): readonly H[] {
  const groups = Map.groupBy(hits, ({ conversation, kind }) => (kind === "file" ? "" : conversation));
  return [...groups.values()].flat();
}
