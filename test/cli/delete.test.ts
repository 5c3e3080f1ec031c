/** `blockyard delete`, `archive` and `rename` as a process of its own, with a server and without one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fixtures, newPlace, removePlace, run, serve } from "./command.ts";

const LIMIT_MS = 90_000;
const stream = readFileSync(join(fixtures, "claude/subagent.jsonl"));
const here = newPlace();
afterAll(() => removePlace(here));

it(
  "[U90] asks, or needs --yes; --undo brings it back",
  async () => {
    const { stdout } = await run(here, ["ingest", "--json"], { input: stream });
    const { conversation } = JSON.parse(stdout.trim().split("\n").at(-1) as string);
    const unsure = await run(here, ["delete", conversation]);
    expect([unsure.code, unsure.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const server = await serve(here);
    try {
      const gone = await run(here, ["delete", conversation.slice(0, 6), "--yes"]);
      expect([gone.code, gone.stdout]).toEqual([0, `${conversation} deleted.\n`]);
      expect((await run(here, ["ls", "--json"])).stdout).not.toContain(conversation);
      const shown = await run(here, ["show", conversation]);
      expect([shown.code, shown.stderr]).toEqual([
        1,
        expect.stringMatching(`was deleted. To restore it: .* delete ${conversation} --undo`),
      ]);
      const back = await run(here, ["delete", conversation.slice(0, 6), "--undo"]);
      expect([back.code, back.stdout]).toEqual([0, `${conversation} restored.\n`]);
    } finally {
      await server.stop();
    }
    expect((await run(here, ["ls", "--json"])).stdout).toContain(conversation);
    const { stdout: audited } = await run(here, ["audit", "--json"]);
    expect(audited).toContain("conversation.delete");
  },
  LIMIT_MS,
);

it(
  "[U100] archives, unarchives and renames, with a server and without one",
  async () => {
    const { stdout } = await run(here, ["ingest", "--json", "--new"], { input: stream });
    const { conversation } = JSON.parse(stdout.trim().split("\n").at(-1) as string);
    const away = await run(here, ["archive", conversation.slice(0, 6)]);
    expect([away.code, away.stdout]).toEqual([0, `${conversation} archived.\n`]);
    expect((await run(here, ["ls"])).stdout).not.toContain(conversation);
    const server = await serve(here);
    try {
      const back = await run(here, ["unarchive", conversation, "--json"]);
      expect(JSON.parse(back.stdout)).toMatchObject({ conversation, archived: false });
      const named = await run(here, ["rename", conversation, "Another title"]);
      expect([named.code, named.stdout]).toEqual([0, `${conversation} is now called Another title\n`]);
      expect((await run(here, ["ls", "Another"])).stdout).toContain(conversation);
      expect(await run(here, ["archive", "nowhere"])).toMatchObject({ code: 3, stdout: "" });
    } finally {
      await server.stop();
    }
  },
  LIMIT_MS,
);
