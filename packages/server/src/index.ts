/**
 * The server's public surface, for whoever embeds it: benches, tests, programs of one's own.
 */

export { Auth, type Caller } from "./access/auth.ts";
export { type Running, serve } from "./app/serve.ts";
export { type Config, makeConfig } from "./config/config.ts";
export { StreamIngest } from "./ingest/ingest-stream.ts";
export { openSqliteStore } from "./stores/sqlite/sqlite.ts";
export { nodeEnv } from "./system/env.ts";
export { jsonLog } from "./system/log.ts";
