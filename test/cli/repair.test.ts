/** Sessions that an earlier version has imported twice: the doctor finds them, and imports them anew. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type BlockEvent, Ingest, type JsonObject, Kernel } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { afterAll, expect, it } from "vitest";
import { readLog } from "../../packages/server/src/import/log-body.ts";
import { findSessions } from "../../packages/server/src/import/session-logs.ts";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { putSessions, type Stored, storedIn } from "../sessions.ts";
import { jsonLines, newPlace, removePlace, run } from "./command.ts";

const here = newPlace();
afterAll(() => removePlace(here));
const database = join(here.home, "blockyard.db");

async function stored(): Promise<Stored> {
  const store = await openSqliteStore(database);
  const found = await storedIn(store);
  await store.close();
  return found;
}

/** As two imports at the same time did it: all events become blocks once more, with the same keys. */
async function double(count: number): Promise<string[]> {
  const store = await openSqliteStore(database);
  const kernel = new Kernel(nodeEnv, store);
  const doubled: string[] = [];
  for (const log of findSessions({ env: here.env }).slice(0, count)) {
    const isOf = ({ metadata }: { metadata: JsonObject }) =>
      (metadata["imported"] as JsonObject | undefined)?.["name"] === log.name;
    const conversation = (await store.conversations({ limit: 100 })).find(isOf)?.id ?? "";
    const { events, from } = readLog(log, "close");
    const ingest = new Ingest(kernel, { conversation, agent: "claude", from });
    await ingest.open();
    await ingest.push(events.map(withKey));
    await ingest.finish();
    doubled.push(conversation);
  }
  await kernel.write(doubled[0] as string, {
    agent: "ann",
    plan: (draft) => {
      draft.create({ kind: "text", role: "user", text: "a remark", status: "done" });
      return null;
    },
  });
  await kernel.close();
  await store.close();
  return doubled;
}

function withKey(event: BlockEvent): BlockEvent {
  if (event.type !== "block-start") return event;
  const extra = event.metadata["extra"] as JsonObject | undefined;
  return { ...event, metadata: { ...event.metadata, extra: { ...extra, key: event.key } } };
}

async function importsFound(): Promise<unknown> {
  const [findings] = jsonLines((await run(here, ["doctor", "--json"])).stdout) as unknown as [
    { check: string; message: string }[],
  ];
  return findings.find(({ check }) => check === "imports")?.message;
}

it("[U32] [E21] sessions that are there twice are found, and imported anew; what somebody has written in stays", async () => {
  putSessions(join(here.folder, ".claude"), 4);
  expect((await run(here, ["import"])).code).toBe(0);
  const before = await stored();
  expect(await importsFound()).toBeUndefined();
  const [own, ...others] = await double(3);
  expect(await stored()).toMatchObject({ doubled: 3 });
  expect(await importsFound()).toMatch(/^3 sessions imported twice: \d+ duplicate blocks$/);

  const repaired = await run(here, ["doctor", "--repair", "--json"]);
  expect(repaired.code, repaired.stderr).toBe(0);
  const [answer] = jsonLines(repaired.stdout) as unknown as [{ repaired: JsonObject[]; kept: string }];
  expect(answer.repaired).toHaveLength(3);
  expect(Object.keys(answer.repaired[0] ?? {})).not.toContain("log");
  const done = answer.repaired.filter(({ left }) => left === undefined);
  expect(done.map(({ conversation }) => conversation).sort()).toEqual([...others].sort());
  expect(answer.repaired.filter(({ left }) => left !== undefined)).toMatchObject([
    { conversation: own, left: "it contains blocks that were not imported" },
  ]);
  expect(existsSync(answer.kept)).toBe(true);
  const after = await stored();
  expect(after).toMatchObject({ conversations: before.conversations, doubled: 1 });
  expect(await importsFound()).toMatch(/^1 sessions? /);

  // Once more there is nothing to do, and nothing is done.
  const again = await run(here, ["doctor", "--repair"]);
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("Nothing was changed") });
  expect(await stored()).toEqual(after);
  // The next import finds everything here.
  expect((await run(here, ["import"])).stderr).toContain("0 new, 0 updated, 0 blocks added");
}, 120_000);
