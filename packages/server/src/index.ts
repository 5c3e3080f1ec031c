/**
 * The server's public surface, for whoever embeds it: benches, tests, programs of one's own.
 */

export { Auth, type Caller, type CallerRole } from "./access/auth.ts";
export { type Running, serve } from "./app/serve.ts";
export { type Config, makeConfig } from "./config/config.ts";
export { StreamIngest } from "./ingest/ingest-stream.ts";
export { openSqliteStore, type SqliteStore } from "./stores/sqlite/sqlite.ts";
export { nodeEnv } from "./system/env.ts";
export { jsonLog, type Log } from "./system/log.ts";
