/** What happened to a file, in a word. */
export const CHANGE_WORDS = { add: "new", modify: "changed", delete: "deleted" } as const;
