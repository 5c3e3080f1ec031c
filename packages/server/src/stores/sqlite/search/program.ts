/** The program of the search thread. Without a database's path it matches texts only. */
export const SEARCH_PROGRAM = new URL("./search.worker.ts", import.meta.url);
