/** `blockyard attach`: a turn that somebody else started, shown, changed and stopped from a second command. */

import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import {
  ended,
  fixtures,
  newPlace,
  ownerCalls,
  type Place,
  printed,
  removePlace,
  run,
  start,
} from "./command.ts";

const LIMIT_MS = 180_000;
const places: Place[] = [];
afterEach(() => {
  for (const place of places.splice(0)) removePlace(place);
});

it(
  "[U96] attach shows a running turn, denies nothing without a terminal, leaves on Ctrl-C, changes and stops the agent",
  async () => {
    const here = newPlace();
    places.push(here);
    const agent = join(fixtures, "../../../test/e2e/agents/fake-claude.mjs");
    const server = start(here, ["serve", "--port", "0"], { BLOCKYARD_CLAUDE: agent });
    const served = ended(server);
    await printed(server, /Open\s+(http\S+)/);
    const call = ownerCalls(here);
    const { conversation: idle } = await call("conversation.create", { title: "Idle" });
    const nothing = await run(here, ["attach", idle]);
    expect(nothing).toMatchObject({ code: 3, stderr: expect.stringContaining("Nothing is running") });
    expect(await run(here, ["attach", idle, "--stop"])).toMatchObject({ code: 3 });
    expect(await run(here, ["attach", idle, "--mode", "free"])).toMatchObject({ code: 2 });

    const recording = join(fixtures, "claude/permission-control.jsonl");
    const plan = { recording, lines: 0, act: "ask", answers: join(here.folder, "answers") };
    const prompt = JSON.stringify(plan);
    const { conversation } = await call("turn.start", { provider: "claude", prompt, title: "Asks" });
    const asking = async () => {
      for (;;) {
        const read = await call("conversation.read", { conversation, blocks: 0 });
        if (read.conversation.asking?.length > 0) return read.conversation.asking as string[];
      }
    };
    const [asked] = await asking();
    const second = start(here, ["attach", conversation.slice(0, 6)]);
    const secondEnd = ended(second);
    const hasShown = printed(second, /recording/);
    expect(await printed(second, /claude is working.*\n/, "stderr")).toContain("cannot be answered here");
    // What was said before it came.
    await hasShown;
    second.kill("SIGINT");
    expect(await secondEnd).toMatchObject({ code: 130, stderr: expect.stringContaining("keeps working") });
    expect(await asking()).toEqual([asked]);

    const changed = await run(here, ["attach", conversation, "--mode", "edits"]);
    expect(changed).toMatchObject({ code: 0, stdout: "Mode: edits\n" });
    const read = await call("conversation.read", { conversation, blocks: 0 });
    expect(read.conversation.metadata.mode).toBe("edits");
    expect((await run(here, ["attach", conversation, "--tasks"])).stdout).toContain(
      "Nothing is running in the background",
    );
    expect((await run(here, ["attach", conversation, "--stop-task", "nine"])).code).toBe(3);
    expect(await run(here, ["attach", conversation, "--stop"])).toMatchObject({
      code: 0,
      stdout: "Stopped.\n",
    });
    for (;;) {
      const { turns } = await call("conversation.read", { conversation, blocks: 0 });
      if (turns.at(-1).status !== "running") break;
    }
    server.kill("SIGTERM");
    await served;
  },
  LIMIT_MS,
);

it(
  "[U96] show says that a request from before a restart can still be answered, and how",
  async () => {
    const here = newPlace();
    places.push(here);
    const agent = join(fixtures, "../../../test/e2e/agents/fake-claude.mjs");
    const server = start(here, ["serve", "--port", "0"], { BLOCKYARD_CLAUDE: agent });
    const served = ended(server);
    await printed(server, /Open\s+(http\S+)/);
    const call = ownerCalls(here);
    const recording = join(fixtures, "claude/permission-control.jsonl");
    const plan = { recording, lines: 0, act: "ask", answers: join(here.folder, "answers") };
    const { conversation } = await call("turn.start", { provider: "claude", prompt: JSON.stringify(plan) });
    for (;;) {
      const read = await call("conversation.read", { conversation, blocks: 0 });
      if (read.conversation.asking?.length > 0) break;
    }
    expect((await run(here, ["show", conversation])).stdout).not.toContain("can still be answered");
    server.kill("SIGTERM");
    await served;
    expect((await run(here, ["show", conversation])).stdout).toMatch(
      new RegExp(`\nThe agent's request can still be answered: .*blockyard attach ${conversation}\n$`),
    );
  },
  LIMIT_MS,
);

it(
  "[U96] attach without a server, after one was killed: its turn has ended, the request still waits, nothing hangs",
  async () => {
    const here = newPlace();
    places.push(here);
    const agent = join(fixtures, "../../../test/e2e/agents/fake-claude.mjs");
    const server = start(here, ["serve", "--port", "0"], { BLOCKYARD_CLAUDE: agent });
    const served = ended(server);
    await printed(server, /Open\s+(http\S+)/);
    const call = ownerCalls(here);
    const recording = join(fixtures, "claude/permission-control.jsonl");
    const plan = { recording, lines: 0, act: "ask", answers: join(here.folder, "answers") };
    const { conversation } = await call("turn.start", { provider: "claude", prompt: JSON.stringify(plan) });
    for (;;) {
      const read = await call("conversation.read", { conversation, blocks: 0 });
      if (read.conversation.asking?.length > 0) break;
    }
    server.kill("SIGKILL");
    await served;
    expect(await run(here, ["attach", conversation])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^A request from before a restart needs an answer/),
    });
  },
  LIMIT_MS,
);
