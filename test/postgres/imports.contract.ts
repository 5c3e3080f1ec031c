/** Two `blockyard import` commands on one PostgreSQL database: processes of their own, with homes of their own. */
import { join } from "node:path";
import { DatabaseAddress } from "../../packages/server/src/config/database-address.ts";
import { openNamed } from "../../packages/server/src/stores/postgres/named.ts";
import { require } from "../checks.ts";
import { newPlace, removePlace, run } from "../cli/command.ts";
import { putSessions, type Stored, storedIn } from "../sessions.ts";
import type { StoreCheck } from "./check.ts";
import type { TestServer } from "./server.ts";

const SESSIONS = 60;

export const importChecks: readonly StoreCheck[] = [
  {
    title: "[E21] [U31] sessions that two and three commands import at the same time are there once",
    run: async (server) => {
      const [one, two, three] = [
        await imported(server, 1),
        await imported(server, 2),
        await imported(server, 3),
      ];
      for (const several of [two, three]) {
        require(several.doubled === 0, `${several.doubled} sessions are doubled`);
        require(several.conversations === one.conversations, `${several.conversations} conversations`);
        require(several.blocks === one.blocks, `${several.blocks} blocks instead of ${one.blocks}`);
      }
      return `${one.conversations} sessions, ${one.blocks} blocks`;
    },
  },
];

/** What is stored after so many commands have imported everything, at the same time. */
async function imported(server: TestServer, commands: number): Promise<Stored> {
  const url = await server.newDatabase();
  const places = Array.from({ length: commands }, newPlace);
  try {
    const ended = await Promise.all(
      places.map((place) => {
        putSessions(join(place.folder, ".claude"), SESSIONS);
        return run(place, ["import"], { env: { BLOCKYARD_DATABASE: url } });
      }),
    );
    for (const { code, stderr } of ended) require(code === 0, `ended with ${code}: ${stderr}`);
    const store = await openNamed(new DatabaseAddress(url));
    const stored = await storedIn(store);
    await store.close();
    return stored;
  } finally {
    for (const place of places) removePlace(place);
  }
}
