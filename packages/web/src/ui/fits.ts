/**
 * Finding by a few letters: a name fits if it has the letters of a query in their order; upper and lower case are the
 * same. The closer they stand together, and the nearer to the last part of a path, the further up.
 */

/** Those that fit, the best first; among equals as they were given. */
export function best<T>(items: readonly T[], nameOf: (item: T) => string, query: string): readonly T[] {
  const letters = query.toLowerCase().replaceAll(" ", "");
  if (letters === "") return items;
  const words = query.toLowerCase().trim();
  const ranked = items.flatMap((item) => {
    const rank = rankOf(nameOf(item).toLowerCase(), words, letters);
    return rank === undefined ? [] : [{ item, rank }];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

function rankOf(name: string, words: string, letters: string): number | undefined {
  const last = name.slice(name.lastIndexOf("/") + 1);
  if (last === words) return 0;
  if (last.startsWith(words)) return 1;
  if (last.includes(words)) return isWordStart(last, words) ? 2 : 3;
  if (name.includes(words)) return 4;
  if (hasInOrder(last, letters)) return 5;
  return hasInOrder(name, letters) ? 6 : undefined;
}

function isWordStart(name: string, words: string): boolean {
  for (let at = name.indexOf(words); at !== -1; at = name.indexOf(words, at + 1))
    if (!/[\p{L}\p{N}]/u.test(name.charAt(at - 1))) return true;
  return false;
}

function hasInOrder(name: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
