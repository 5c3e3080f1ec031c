/** What lists and tables print of names, titles, folders and models that others chose: every row is one row, and nothing in it is executed. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newPlace, ownerCalls, removePlace, run, serve } from "./command.ts";

const HOSTILE = "a\u001b[2J\u001b]0;title\u0007\u009b31m\u202eb\u2066\rFORGED\nFORGED row\u0008\u2028z";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get out
const EXECUTED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
const LIMIT_MS = 60_000;

const place = newPlace();
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  server = await serve(place);
  const call = ownerCalls(place);
  const { conversation } = await call("conversation.create", { title: HOSTILE });
  const text = { conversation, kind: "text", role: "user", content: HOSTILE };
  await call("block.create", text);
  const folder = join(place.folder, HOSTILE);
  mkdirSync(folder);
  const command = { type: "command", words: ["echo", HOSTILE] };
  await call("rule.set", { effect: "allow", workspace: folder, pattern: command });
  await call("rule.set", { effect: "deny", conversation, pattern: { type: "tool", tool: HOSTILE } });
  const { turn } = await call("turn.begin", { conversation, provider: "claude", model: HOSTILE });
  await call("turn.end", { turn, status: "error", error: HOSTILE });
}, LIMIT_MS);
afterAll(async () => {
  await server.stop();
  removePlace(place);
});

it.each(["ls", "search FORGED", "rules", "audit", "costs", "costs --by model"])(
  "[U15] %s prints no row that somebody else has made up, and nothing that a terminal executes",
  async (words) => {
    const { code, stdout, stderr } = await run(place, words.split(" "));
    expect([code, EXECUTED.exec(stdout), EXECUTED.exec(stderr)]).toEqual([0, null, null]);
    expect(stdout.split("\n").filter((line) => line.startsWith("FORGED"))).toEqual([]);
    expect(stdout).toMatch(words.startsWith("costs") ? /./ : /FORGED/);
  },
  LIMIT_MS,
);
