/**
 * The real Claude Code in a pipe: `claude -p … | blockyard ingest`, against the scripted model. What it said is kept, what it
 * printed is passed on, a resumed run goes on in the same conversation, and its log is known to be here.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, jsonLines, newPlace, type Place, removePlace, run, start } from "../cli/command.ts";
import { call, type Script, say } from "../model/script.ts";
import { ModelServer } from "../model/server.ts";
import { fetchCli } from "./clis/fetch.ts";

const claude = await fetchCli("claude");
const why = "missing" in claude ? ` (not run: ${claude.missing})` : "";

let place: Place;
let model: ModelServer;

beforeAll(async () => {
  place = newPlace();
  mkdirSync(place.env["CLAUDE_CONFIG_DIR"] as string);
  model = await ModelServer.start();
});

afterAll(async () => {
  await model?.stop();
  if (place) removePlace(place);
});

/** Runs the pipe; what came out of its end, and what was kept. */
async function pipe(script: Script, prompt: string, more: readonly string[] = []) {
  model.play(script);
  const env = {
    ...place.env,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "no-real-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
  };
  const format = [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--allowedTools=Bash",
  ];
  const program = "program" in claude ? claude.program : "";
  const agent = spawn(program, [...format, ...more, prompt], {
    env,
    cwd: join(place.folder, "work"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ingest = start(place, ["ingest"]);
  agent.stdout.pipe(ingest.stdin as NodeJS.WritableStream);
  const [said, kept] = await Promise.all([ended(agent), ended(ingest)]);
  expect({ code: said.code, kept: kept.code }, `${said.stderr}${kept.stderr}`).toEqual({ code: 0, kept: 0 });
  expect(kept.stdout).toBe(said.stdout);
  const conversation = /blockyard show (\w+)/.exec(kept.stderr)?.[1] ?? "";
  return { conversation, lines: jsonLines(said.stdout) };
}

async function rows(conversation: string): Promise<string[]> {
  const lines = jsonLines((await run(place, ["show", conversation, "--json"])).stdout);
  return lines
    .filter(({ type }) => type === "block")
    .map(({ kind, status, content }) => `${kind} ${status} ${String(content).trim()}`);
}

describe.skipIf(why !== "")(`Claude Code in a pipe${why}`, () => {
  it("[U7] [U10] [U11] is kept and passed on; resumed, it goes on; its log is not imported beside it", async () => {
    const first = await pipe(
      [
        { parts: [{ text: "I look." }, call("Bash", { command: "echo hello", description: "Look" })] },
        say("Done."),
      ],
      "Look around",
    );
    expect(await rows(first.conversation)).toEqual(
      expect.arrayContaining(["text done I look.", "command done hello", "text done Done."]),
    );
    const session = String(first.lines.find(({ session_id }) => session_id !== undefined)?.["session_id"]);
    const second = await pipe([say("Again.")], "And again", ["--resume", session]);
    expect(second.conversation).toBe(first.conversation);
    expect((await rows(first.conversation)).at(-1)).toBe("text done Again.");
    const { stderr } = await run(place, ["import"]);
    expect(stderr).toMatch(/0 new, 0 updated, 0 blocks added; \d already here from a turn or a stream/);
  });
});
