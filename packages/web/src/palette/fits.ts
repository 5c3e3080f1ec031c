/** Whether a name has the letters of a query, in their order; upper and lower case are the same. */
export function fits(name: string, query: string): boolean {
  let at = 0;
  const low = name.toLowerCase();
  for (const letter of query.toLowerCase().replaceAll(" ", "")) {
    at = low.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
