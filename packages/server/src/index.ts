/**
 * The server's public surface, for whoever embeds it: benches, tests, programs of one's own.
 */

export { Auth, type Caller, type CallerRole } from "./auth.ts";
export { type Config, makeConfig } from "./config.ts";
export { nodeEnv } from "./env.ts";
export { StreamIngest } from "./ingest-stream.ts";
export { jsonLog, type Log } from "./log.ts";
export { type Running, serve } from "./serve.ts";
export { openSqliteStore, type SqliteStore } from "./store/sqlite.ts";
