/** Several `blockyard import` at the same time, through one server: every session is there once. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { putSessions, type Stored, storedIn } from "../sessions.ts";
import { newPlace, removePlace, run, serve } from "./command.ts";

const COMMANDS = 3;
const SESSIONS = Number(process.env["SESSIONS"] ?? 20);

/** What is stored after so many commands have imported everything, at the same time. */
async function imported(commands: number): Promise<Stored> {
  const place = newPlace();
  try {
    putSessions(join(place.folder, ".claude"), SESSIONS);
    const server = await serve(place);
    const ended = await Promise.all(Array.from({ length: commands }, () => run(place, ["import"])));
    expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0));
    await server.stop();
    const store = await openSqliteStore(join(place.home, "blockyard.db"));
    const stored = await storedIn(store);
    await store.close();
    return stored;
  } finally {
    removePlace(place);
  }
}

it("[E21] [U31] sessions that three commands import at the same time are there once", async () => {
  const one = await imported(1);
  expect(one).toMatchObject({ doubled: 0 });
  expect(one.conversations).toBeGreaterThanOrEqual(SESSIONS);
  expect(await imported(COMMANDS)).toEqual(one);
}, 300_000);
