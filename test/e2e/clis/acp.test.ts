/**
 * Two real agents over ACP as turns of our server, against the scripted model: Qwen Code, which speaks Chat Completions, and Kimi
 * Code, which speaks Messages. Both are started by one line of the settings.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, say } from "../../model/script.ts";
import { fetchCli } from "./fetch.ts";
import { Lab, type LabBlock } from "./lab.ts";

interface Tools {
  readonly shell: string;
  readonly write: (path: string, content: string) => { name: string; input: object };
}

const AGENTS: readonly (readonly ["qwen" | "kimi", Tools])[] = [
  [
    "qwen",
    {
      shell: "run_shell_command",
      write: (path, content) => ({ name: "write_file", input: { file_path: path, content } }),
    },
  ],
  ["kimi", { shell: "Bash", write: (path, content) => ({ name: "Write", input: { path, content } }) }],
];

const fetched = new Map(await Promise.all(AGENTS.map(async ([cli]) => [cli, await fetchCli(cli)] as const)));

describe.each(AGENTS)("%s", (cli, tools) => {
  const found = fetched.get(cli) ?? { missing: "not fetched" };
  const why = "missing" in found ? ` (not run: ${found.missing})` : "";
  let lab: Lab;
  beforeAll(async () => {
    if ("program" in found) lab = await Lab.open(cli, found.program, { "a.txt": "one\n" });
  }, 120_000);
  afterAll(() => lab?.close());

  const run = (command: string) =>
    call(tools.shell, {
      command,
      description: "Run it",
      ...(cli === "qwen" ? { is_background: false } : {}),
    });

  const of = async (conversation: string, kind: string): Promise<LabBlock[]> =>
    (await lab.blocks(conversation)).filter((block) => block.kind === kind);

  describe.skipIf(why !== "")(`as a turn${why}`, () => {
    it("[Y22] thinks, runs what it is allowed to, writes a file, and goes on in its session", async () => {
      const conversation = await lab.conversation();
      const path = join(lab.work, "new.txt");
      const write = tools.write(path, "new\n");
      const turn = await lab.turn(conversation, "Work", [
        { parts: [{ text: "I look." }, run("cat a.txt")] },
        { parts: [run("echo out; exit 3")] },
        { parts: [call(write.name, write.input)] },
        say("Done."),
      ]);
      expect(turn).toMatchObject({ status: "done" });
      const commands = await of(conversation, "command");
      expect(commands.map(({ status, metadata }) => [status, metadata.exitCode ?? 0])).toEqual([
        ["done", 0],
        ["error", 3],
      ]);
      expect(commands[0]?.content.trim()).toBe("one");
      expect(readFileSync(path, "utf8")).toBe("new\n");
      expect((await of(conversation, "file_change"))[0]?.content).toContain("+new");
      const asks = (await of(conversation, "tool_call")).flatMap(({ metadata }) => metadata.ask ?? []);
      expect(asks[0]).toMatchObject({ kind: "permission", state: "allowed", answeredBy: "root" });

      const again = await lab.turn(conversation, "And now?", [say("Still here.")]);
      expect(again).toMatchObject({ status: "done", session_id: turn.session_id });
      expect(JSON.stringify(lab.model.asked.at(-1)?.body)).toContain("I look.");
      // Nothing but the turns asks the model: a request of the agent's own would take a step of the next script.
      expect(lab.model.asked).toHaveLength(5);
      const texts = (await of(conversation, "text")).map(({ content }) => content);
      expect(texts.filter((text) => text === "I look.")).toHaveLength(1);
    });

    it("[Y23] a call that is denied does not run", async () => {
      const conversation = await lab.conversation();
      const path = join(lab.work, "denied.txt");
      const script = [{ parts: [run(`touch ${path}`)] }, say("As you like.")];
      await lab.turn(conversation, "Touch it", script, false);
      expect(existsSync(path)).toBe(false);
      expect((await of(conversation, "tool_call"))[0]).toMatchObject({
        status: "error",
        metadata: { reason: "denied", ask: { state: "denied" } },
      });
    });

    it("[Y24] stops, and the next turn works", async () => {
      const conversation = await lab.conversation();
      const held = new Promise<void>(() => undefined);
      const { turn } = await lab.start(conversation, "Talk", [
        {
          parts: [{ text: "I begin, and I go on and on and on, and on." }],
          ...{ deltaChars: 6, hold: { after: 6, until: held } },
        },
      ]);
      await lab.wait("the agent to begin", async () => (await of(conversation, "text"))[1]);
      await lab.server.do("turn.stop", { conversation });
      expect(await lab.over(conversation, turn)).toMatchObject({ status: "error", reason: "cancelled" });
      expect(await lab.turn(conversation, "Again", [say("Fine.")])).toMatchObject({ status: "done" });
    });
  });
});
