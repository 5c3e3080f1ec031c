/** The parts of the stores that copy a database and put it back, loaded when one of the two is done. */

export { dumpCommand, restoreCommand } from "../stores/postgres/named.ts";
export { copyDatabaseFile } from "../stores/sqlite/backup.ts";
export { restoreSqliteStore } from "../stores/sqlite/restore.ts";
export { hasDatabase, isRestored } from "../stores/sqlite/restored.ts";
