/** What a hostile agent asks in a terminal, and what `run` does if nobody can answer it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ask, type BlockSnapshot, isProblem, type Json, Kernel, MemoryStore } from "@blockyard/kernel";
import { expect, it, vi } from "vitest";
import { Auth } from "../access/auth.ts";
import { Tools } from "../app/tool-table.ts";
import { makeConfig } from "../config/config.ts";
import { nodeEnv } from "../system/env.ts";
import { checkAnswer, type Given } from "../turns/write-answer.ts";
import type { BlockSource } from "./block-source.ts";
import { followTurn } from "./follow-turn.ts";
import { questionText } from "./terminal-answer.ts";
import { answerAsk, askText, form, formHeading } from "./terminal-ask.ts";

function asking(more: object): { readonly ask: Ask; readonly block: BlockSnapshot } {
  const ask = { id: "a", kind: "permission", state: "asked", input: {}, ...more } as Ask;
  const block = { block_id: "c/evil/1", kind: "tool_call", role: "model", status: "running", content: "{}" };
  return {
    ask,
    block: { ...block, version: 1, metadata: { toolName: "Bash", ask } } as unknown as BlockSnapshot,
  };
}

it.each([
  ["hides the line", "ls\u001b[8m; rm -rf ~", "ls⟨U+001B⟩[8m; rm -rf ~"],
  ["names a link", "\u001b]8;;http://evil/\u001b\\ls", "⟨U+001B⟩]8;;http://evil/⟨U+001B⟩\\ls"],
  ["turns around", "ls \u202efr- mr", "ls ⟨U+202E⟩fr- mr"],
  ["has no width", "r\u200bm \u{e0041}x", "r⟨U+200B⟩m ⟨U+E0041⟩x"],
  ["looks Latin", "\u0441url", "⟨U+0441⟩url"],
  ["has several lines", "ls\n  1  Deny", "ls 1 Deny"],
  ["is plain", "Run the tests · 2×", "Run the tests · 2×"],
])("[AC330] a title that %s is spelt out in the terminal", (_, title, shown) => {
  expect(askText(asking({ title }).block).split("\n")[0]).toBe(`Needs approval: ${shown}`);
});

it.each<[string, object, string]>([
  ["a title", { title: `${"word ".repeat(60)}and rm -rf hidden` }, "rm -rf hidden"],
  [
    "a path",
    { subject: { type: "diff", diff: "", paths: [`/w/${"deep/".repeat(60)}hidden.ts`] } },
    "hidden.ts",
  ],
])("[AC360] %s that is longer than a line is there as a whole", (_, more, end) => {
  const [line = "", ...rest] = askText(asking(more).block).split("\n");
  expect(line).not.toContain(end);
  expect(rest.join("\n")).toContain(end);
});

it("[AC360] labels are cut, and say so; what is left out is counted", () => {
  const options = [{ label: "x".repeat(200_000) }];
  const text = questionText({ id: "1", question: "Which?", multiple: false, options });
  expect(text.length).toBeLessThan(3_000);
  expect(text).toContain("… (198,000 more characters)");
});

it.each([
  [
    "no answer that allows once",
    [{ id: "x", label: "Deny", scope: "once", deny: true, native: { kind: "reject_once" } }],
  ],
  [
    "only one that allows for ever",
    [{ id: "x", label: "Go", scope: "always", native: { kind: "allow_always" } }],
  ],
  ["an answer of no known kind", [{ id: "x", label: "Deny", scope: "once", native: { kind: "REJECT" } }]],
])(
  "[U13] with --yes, and nobody there, a request that has %s is denied without waiting",
  async (_, suggestions) => {
    const { ask, block } = asking({ suggestions });
    const given: Given[] = [];
    const client = {
      call: async (_tool: string, input: Given) => {
        given.push(input);
        return checkAnswer(ask, input) ?? { state: input.allow ? "allowed" : "denied" };
      },
    } as unknown as BlockSource;
    await answerAsk(client, block, true);
    expect(given.map(({ allow }) => allow)).toEqual([true, false]);
  },
);

it("[U94] a request that a rule has answered meanwhile is not put to the terminal", async () => {
  const { ask, block } = asking({ title: "ls" });
  const read = { ...block, metadata: { ...block.metadata, ask: { ...ask, state: "allowed" } } };
  const called: string[] = [];
  const call = async (tool: string) => {
    called.push(tool);
    return read;
  };
  const { isTTY } = process.stdin;
  process.stdin.isTTY = true;
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await answerAsk({ call } as unknown as BlockSource, block, false);
  const shown = written.mock.calls.map(([text]) => text).join("");
  process.stdin.isTTY = isTTY;
  written.mockRestore();
  expect(called).toEqual(["block.read"]);
  expect(shown).toBe("Allowed\n");
});

it.each([
  [["1", "n"], { allow: false, message: "" }],
  [["0"], { allow: false, message: "" }],
  [["not now"], { allow: false, message: "not now" }],
  [["7", "", "3"], { allow: true, answer: { content: { hours: 3 } } }],
] as const)(
  "[U97] a form that is asked with %j in the terminal is answered once, and by no number",
  async (typed, answer) => {
    const schema = { type: "object", properties: { hours: { type: "integer" } }, required: ["hours"] };
    const { ask, block } = asking({
      kind: "elicitation",
      title: "desk",
      form: { message: "How long?", schema },
    });
    const lines = [...typed];
    expect(await form(ask, block, async () => lines.shift())).toEqual(answer);
    expect(lines).toEqual([]);
  },
);

it.each([
  ["desk", { message: "How long?" }, "Needs an answer: desk\nHow long?"],
  ["How long?", { message: "How long?" }, "Needs an answer: How long?"],
  ["Log in", { message: "Log in", url: "https://x/" }, "Needs an answer: Log in\nhttps://x/"],
  ["One\nTwo", { message: "One\nTwo" }, "Needs an answer:\nOne\nTwo"],
  ["One\nTwo", { message: "One" }, "Needs an answer: One Two\nOne"],
])("[U97] a form called %j with %j says its message once", (title, form, text) => {
  expect(formHeading(asking({ kind: "elicitation", title, form }).block)).toBe(text);
});

it.each([
  [{}, "Needs approval: grep -c export"],
  [{ command: "grep -c export" }, 'Needs approval: grep -c export\n{\n  "command": "grep -c export"\n}'],
])("[U13] an agent's input %j is shown where the agent has told it", (input, text) => {
  const { block } = asking({ title: "grep -c export", input, subject: { type: "tool", tool: "Bash" } });
  expect(askText(block)).toBe(text);
});

it("[U13] a turn behind which its agent has begun many others is seen to end", async () => {
  const home = mkdtempSync(join(tmpdir(), "blockyard-follow-"));
  const kernel = new Kernel(nodeEnv, new MemoryStore("here"));
  const tools = new Tools(
    kernel,
    makeConfig({ env: {}, home, root: home }),
    () => undefined,
    new Auth(home, "ann", Date.now),
  );
  const owner = { role: "owner", agent: "ann", by: "token" } as const;
  const call = async (tool: string, input: Json) => tools.call(owner, tool, input);
  const conversation = await kernel.createConversation("ann", "many");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const turns: string[] = [];
  for (let i = 0; i < 60; i++) {
    const { turn } = (await call("turn.begin", { conversation })) as { turn: string };
    await call("turn.end", { conversation, turn });
    turns.push(turn);
  }
  const options = { isJson: true, isFull: false, allowsAll: false };
  const followed = { conversation, since: 0, turn: turns[0] as string };
  expect(await followTurn({ call } as unknown as BlockSource, followed, options)).toBe(0);
  await tools.close();
  await tools.files.close();
  await kernel.close();
  rmSync(home, { recursive: true });
});
