/** Every command, tried as a process of its own, with a server and without one. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClient } from "../../packages/server/src/cli/command-client.ts";
import {
  ended,
  fixtures,
  jsonLines,
  newPlace,
  ownerCalls,
  type Place,
  placeSessions,
  printed,
  removePlace,
  run,
  runIn,
  serve,
  start,
} from "./command.ts";

const LIMIT_MS = 90_000;
const stream = readFileSync(join(fixtures, "claude/subagent.jsonl"));
const places: Place[] = [];

/** The block with the sub-agent's prompt in the conversation that most of these read. */
async function promptBelow(where: Place, conversation: string): Promise<string> {
  const { stdout } = await run(where, ["show", conversation, "--json"]);
  const found = jsonLines(stdout).find(({ content }) => String(content).startsWith("SUBAGENT-ONE: count"));
  return String(found?.["block_id"]);
}

function place(): Place {
  const made = newPlace();
  places.push(made);
  return made;
}

afterAll(() => places.forEach(removePlace));

describe("help and mistakes", () => {
  const here = place();
  const names =
    "serve run ingest import ls show search export costs rename archive unarchive delete mcp token grant link session audit backup restore doctor bench demo completion".split(
      " ",
    );

  it(
    "[U5] every command has a page with examples",
    async () => {
      const overview = await run(here, ["help"]);
      expect(overview.code).toBe(0);
      const pages = await Promise.all(names.map((name) => run(here, ["help", name])));
      for (const [i, name] of names.entries()) {
        expect(overview.stdout).toContain(`  ${name} `);
        expect(pages[i]?.code, name).toBe(0);
        expect(pages[i]?.stdout).toMatch(/Examples\n {2}\S/);
        for (const [, option] of pages[i]?.stdout.split("\n", 1)[0]?.matchAll(/\[(--[a-z-]+)/g) ?? [])
          expect(pages[i]?.stdout, name).toMatch(new RegExp(`^ .*${option}\\b.*  \\S`, "m"));
      }
      expect(await run(here, ["ls", "--help"])).toEqual(pages[names.indexOf("ls")]);
      expect(await run(here, ["--port", "4600", "-h"])).toEqual(pages[names.indexOf("serve")]);
      expect(pages[names.indexOf("run")]?.stdout).toContain("; one of plan, ask, edits, full\n");
      expect((await run(here, ["help", "exprot"])).stderr).toContain("Did you mean: blockyard help export?");
    },
    LIMIT_MS,
  );

  it(
    "[U63] says which option was meant, and nothing where none is like it",
    async () => {
      const here = place();
      const limit = await run(here, ["ls", "--limt", "3"]);
      expect(limit).toMatchObject({ code: 2, stdout: "" });
      expect(limit.stderr).toBe(
        "blockyard: Unknown option '--limt'. Did you mean: --limit?\nTry: blockyard help ls\n",
      );
      const unlike = await run(here, ["ls", "--nothing-like-it"]);
      expect(unlike.stderr).toBe("blockyard: Unknown option '--nothing-like-it'\nTry: blockyard help ls\n");
    },
    LIMIT_MS,
  );

  it.each<[string[], number, RegExp]>([
    [["lss"], 2, /no command or folder is called lss\. Did you mean: blockyard ls\?/],
    [["exprot", "x"], 2, /Did you mean: blockyard export\?/],
    [["hlep"], 2, /Did you mean: blockyard help\?/],
    [["version"], 2, /Did you mean: blockyard --version\?/],
    [["ls", "--limit", "-1"], 2, /--limit needs a value\. One that begins with a dash: --limit=-VALUE\nTry/],
    [["run", "claude", "x", "-c", "--now"], 2, /: -c needs a value\nTry/],
    [["ls", "--limit"], 2, /--limit needs a value\nTry/],
    [["run", "claude", "fix", "it"], 2, /unexpected argument it\. Words that belong together need quotes/],
    [["ls", "--nope"], 2, /Unknown option '--nope'\nTry: blockyard help ls/],
    [["show"], 2, /show needs the id of a conversation or a block/],
    [["delete"], 2, /delete needs a conversation's id/],
    [["archive"], 2, /archive needs a conversation's id/],
    [["unarchiv", "x"], 2, /Did you mean: blockyard unarchive\?/],
    [["rename", "x"], 2, /rename needs a conversation's id and a title/],
    [["rename", "x", " "], 2, /the title is empty/],
    [["export", "x", "-f", "pdf"], 2, /--format must be one of html, markdown, jsonl, raw, not pdf/],
    [["ls"], 3, /there are no conversations in .* yet\. Start the server \(blockyard\)/],
    [["--home", "nowhere", "ls"], 3, /there are no conversations in .*nowhere yet/],
    [["--port", "4600", "exprot"], 3, /the workspace .*exprot does not exist/],
    [["import", "."], 3, /this is a directory: pass the files in it/],
    [["import", "--dry-run"], 3, /No sessions found in .*\.claude or .*\.codex/],
    [["import", "--dry-run", "--provider", "codex"], 3, /No sessions found in (?!.*\.claude).*\.codex\./],
    [["import", "--provider", "claude"], 3, /No sessions found in (?!.*\.codex).*\.claude\./],
    [["import", "--watch", "a.jsonl"], 2, /--watch imports the sessions found .* takes no files/],
    [["run", "claude", " "], 2, /the prompt is empty/],
    [
      ["run", "codex", "x", "--allow", "bash"],
      2,
      /--allow is for anthropic and openai\. For codex, use --mode/,
    ],
    [["run", "anthropic", "x", "--mode", "edits"], 2, /anthropic has no mode edits\. Use ask/],
    [["run", "claude", "x", "--mode", "wild"], 2, /--mode must be one of plan, ask, edits, full, not wild/],
    [
      ["run", "llama", "hi"],
      2,
      /unknown agent llama\. Choose one of claude, codex, opencode, .*anthropic, openai/,
    ],
    [["restore", "nowhere.db"], 3, /there is no file .*nowhere\.db/],
    [["completion", "tcsh"], 2, /one of bash, zsh, fish/],
    [["serve", "--nope"], 2, /Unknown option '--nope'\nTry: blockyard help serve/],
    [["serve", "--port", "abc"], 2, /--port takes a number up to 65535, not abc/],
    [["serve", ".", "other"], 2, /unexpected argument other/],
    [["search", ""], 2, /the pattern is empty\n/],
    [["search", "-F", ""], 2, /the pattern is empty\n/],
    [["rules", "remove"], 2, /rules remove needs a rule's id\. List them: blockyard rules/],
    [["rules", "add"], 2, /rules cannot add\. Use list or remove/],
    [["token"], 2, /token needs create, list or revoke/],
    [["token", "make"], 2, /token cannot make\. Use create, list, revoke/],
    [
      ["token", "revoke"],
      2,
      /token revoke needs an agent's name, for example: blockyard token revoke --agent codex-mcp/,
    ],
    [
      ["token", "revoke", "--agent", "nobody"],
      3,
      /there is no token for nobody\. To list them: blockyard token list/,
    ],
    [["token", "create", "--agent", "No Name"], 2, /"No Name" is not a valid agent name: use lower-case/],
    [["token", "create", "--agent", "codex"], 2, /"codex" is reserved for that provider's agents/],
    [["mcp", "--nope"], 2, /Unknown option '--nope'\nTry: blockyard help mcp/],
    [["link", "--nope"], 2, /Unknown option '--nope'\nTry: blockyard help link/],
    [["doctor", "--nope"], 2, /Unknown option '--nope'\nTry: blockyard help doctor/],
  ])(
    "[U1] [U4] [U6] %j ends with %d",
    async (args, code, message) => {
      const { stdout, stderr, code: given } = await run(here, args);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n\s+at /);
      expect({ given, stdout }).toEqual({ given: code, stdout: "" });
    },
    LIMIT_MS,
  );

  it(
    "[U5] the completion scripts can be read by their shells and know every command",
    async () => {
      const [bash, zsh, fish] = await Promise.all(
        ["bash", "zsh", "fish"].map((shell) => run(here, ["completion", shell])),
      );
      for (const name of names)
        for (const script of [bash, zsh, fish]) expect(script?.stdout).toContain(name);
      const ask = `${bash?.stdout}\nCOMP_WORDS=(blockyard export --form); COMP_CWORD=2; _blockyard; echo "\${COMPREPLY[@]}"`;
      expect(execFileSync("bash", ["-c", ask]).toString().trim()).toBe("--format");
      const choose = `${bash?.stdout}\nCOMP_WORDS=(blockyard export --format m); COMP_CWORD=3; _blockyard; echo "\${COMPREPLY[0]}"`;
      expect(execFileSync("bash", ["-c", choose]).toString().trim()).toBe("markdown");
    },
    LIMIT_MS,
  );
});

describe("ingest", () => {
  it(
    "[U7] [U8] passes everything on and keeps it, with a server and without one",
    async () => {
      const here = place();
      const alone = await run(here, ["ingest", "--title", "Alone"], { input: stream });
      expect(alone).toMatchObject({ code: 0, stdout: stream.toString() });
      expect(alone.stderr).toMatch(/claude stream stored\. Show it: blockyard show \w+/);
      const server = await serve(here);
      const through = await run(here, ["ingest", "--new", "--title", "Through"], { input: stream });
      expect(through).toMatchObject({ code: 0, stdout: stream.toString() });
      const listed = jsonLines((await run(here, ["ls", "--json"])).stdout);
      expect(listed.map(({ title, blocks }) => [title, blocks])).toEqual([
        ["Through", 9],
        ["Alone", 9],
      ]);
      expect((await server.stop()).code).toBe(0);
      expect(readdirSync(join(here.home, "unfinished"))).toEqual([]);
    },
    LIMIT_MS,
  );

  it.each([
    ["plain words\n", "ingest --provider NAME <"],
    ['{"type":"conversation","epoch":"x"}\n', "import"],
  ])(
    "[U98] %j is refused with a command that would take it",
    async (input, retry) => {
      const here = place();
      const refused = await run(here, ["ingest"], { input: Buffer.from(input) });
      const file = join(here.home, "unfinished", readdirSync(join(here.home, "unfinished"))[0] ?? "");
      expect(refused).toMatchObject({ code: 1, stdout: input });
      expect(refused.stderr).toContain(
        `The whole stream is in ${file}. Try again: blockyard ${retry} ${file}\n`,
      );
    },
    LIMIT_MS,
  );

  it(
    "[U21] a run without a title is called by the first text of its agent",
    async () => {
      const here = place();
      for (const [fixture, title] of [
        ["claude/subagent.jsonl", "Delegating"],
        ["claude/bash.jsonl", /^One passed, one exited with 3, .*…$/],
      ] as const) {
        const input = readFileSync(join(fixtures, fixture));
        const [made] = jsonLines((await run(here, ["ingest", "--json"], { input })).stdout);
        const listed = jsonLines((await run(here, ["ls", "--json"])).stdout);
        const named = listed.find(({ conversation }) => conversation === made?.["conversation"])?.["title"];
        expect(named).toEqual(typeof title === "string" ? title : expect.stringMatching(title));
      }
    },
    LIMIT_MS,
  );

  it(
    "[U10] continues where the session was",
    async () => {
      const here = place();
      const first = readFileSync(join(fixtures, "codex/resume.run1.jsonl"));
      const second = readFileSync(join(fixtures, "codex/resume.run2.jsonl"));
      const [one] = jsonLines((await run(here, ["ingest", "--json"], { input: first })).stdout);
      const [two] = jsonLines((await run(here, ["ingest", "--json"], { input: second })).stdout);
      expect(two).toMatchObject({ conversation: one?.["conversation"], provider: "codex" });
      const [fresh] = jsonLines((await run(here, ["ingest", "--json", "--new"], { input: second })).stdout);
      expect(fresh?.["conversation"]).not.toBe(one?.["conversation"]);
    },
    LIMIT_MS,
  );

  it.each([
    "codex/resume.run1.jsonl",
    "codex-app-server/approval-command-accept.jsonl",
    "claude-control/t2-permissions/ask-rule.jsonl",
  ])(
    "[U10] %s, sent again or exported in its own lines, is refused by name and adds nothing",
    async (file) => {
      const here = place();
      const first = readFileSync(join(fixtures, file));
      const [one] = jsonLines((await run(here, ["ingest", "--json"], { input: first })).stdout);
      const conversation = String(one?.["conversation"]);
      const shown = async () => [
        jsonLines((await run(here, ["show", conversation, "--json"])).stdout).length,
        jsonLines((await run(here, ["ls", "--json"])).stdout).length,
        (await run(here, ["costs", "--csv"])).stdout,
      ];
      const before = await shown();
      const raw = (await run(here, ["export", conversation, "-f", "raw", "-o", "-"])).stdout;
      for (const input of [first, Buffer.from(raw)]) {
        const again = await run(here, ["ingest"], { input });
        expect([again.code, again.stderr]).toEqual([
          1,
          expect.stringContaining(`blockyard show ${conversation}`),
        ]);
      }
      expect(await shown()).toEqual(before);
    },
    LIMIT_MS,
  );

  it(
    "[U8] two at once take turns",
    async () => {
      const here = place();
      const both = await Promise.all(
        [1, 2].map((n) => run(here, ["ingest", "--new", "--title", `${n}`], { input: stream })),
      );
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
      expect(jsonLines((await run(here, ["ls", "--json"])).stdout)).toHaveLength(2);
    },
    LIMIT_MS,
  );

  it.each<[string, Uint8Array, RegExp]>([
    [
      "what nobody knows",
      Buffer.from([0xff, 0xfe, 0x0a, 0x41, 0x0a, 0x0a, 0x80, 0x0a]),
      /plain text, not an agent's stream\. Start the agent with: claude -p --output-format stream-json --verbose, or: codex exec --json\. .*: one of claude, claude-control, codex/,
    ],
    [
      "the result of a run without events",
      Buffer.from('{"type":"result","subtype":"success","result":"ok","session_id":"s"}\n'),
      /Claude Code's --output-format json, which has no events\. Start it with: claude -p --output-format stream-json --verbose/,
    ],
    [
      "a session log",
      readFileSync(join(fixtures, "claude-sessions/text/48c3c8db-9075-4d16-8c26-df8edefdf5fa.jsonl")),
      /a session log of claude, not a stream: use blockyard import/,
    ],
  ])(
    "[U9] %s is passed on and left in a file",
    async (_, input, message) => {
      const here = place();
      const child = start(here, ["ingest"]);
      const out: Buffer[] = [];
      child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
      const end = ended(child);
      child.stdin?.end(input);
      const { code, stderr } = await end;
      expect(Buffer.concat(out).equals(Buffer.from(input))).toBe(true);
      expect(code).toBe(1);
      expect(stderr).toMatch(message);
      const file = /The whole stream is in (\S+)\./.exec(stderr)?.[1] ?? "";
      expect(readFileSync(file).equals(Buffer.from(input))).toBe(true);
    },
    LIMIT_MS,
  );

  it(
    "[U7] continues when nobody reads its output any more",
    async () => {
      const here = place();
      const child = start(here, ["ingest"]);
      child.stdout?.destroy();
      const end = ended(child);
      child.stdin?.end(stream);
      expect((await end).code).toBe(0);
      expect(jsonLines((await run(here, ["ls", "--json"])).stdout)).toMatchObject([{ blocks: 9 }]);
    },
    LIMIT_MS,
  );
});

describe("reading", () => {
  const here = place();
  let id = "";

  beforeAll(async () => {
    const [made] = jsonLines((await run(here, ["ingest", "--json"], { input: stream })).stdout);
    id = String(made?.["conversation"]);
  }, LIMIT_MS);

  it(
    "[U2] [U8] the same answers with a server and without one",
    async () => {
      const prompt = await promptBelow(here, id);
      const commands = [
        ["ls", "--json"],
        ["ls"],
        ["show", id],
        ["show", id, "--json"],
        ["show", prompt],
        ["search", "count the", "-i", "--json"],
        ["search", "exports"],
        ["export", id, "-o", "-"],
        ["export", id, "-f", "markdown", "-o", "-"],
        ["export", id, "-f", "jsonl", "-o", "-"],
        ["export", id, "-f", "raw", "-o", "-"],
      ];
      const alone = [];
      for (const args of commands) alone.push(await run(here, args));
      const server = await serve(here);
      for (const [i, args] of commands.entries()) {
        const { stdout, code } = await run(here, args);
        const age = /\d+ min/g; // time goes by
        expect({ args, code, stdout: stdout.replace(age, "") }).toEqual({
          args,
          code: 0,
          stdout: alone[i]?.stdout.replace(age, ""),
        });
        expect(stdout).not.toBe("");
        if (args.includes("--json")) expect(jsonLines(stdout).length).toBeGreaterThan(0);
      }
      await server.stop();
      expect(alone[2]?.stdout).toContain("The helper counted two exports.");
      expect(alone[4]?.stdout).toBe("SUBAGENT-ONE: count the exports in src/math.js");
      expect(alone.at(-1)?.stdout).toBe(stream.toString());
    },
    LIMIT_MS,
  );

  it(
    "[U22] every id may be cut where no other begins like it; where several do, they are listed",
    async () => {
      const there = place();
      const ids: string[] = [];
      // So many that two begin with the same letter.
      while (new Set(ids.map((each) => each[0])).size === ids.length) {
        const made = jsonLines((await run(there, ["ingest", "--json", "--new"], { input: stream })).stdout);
        ids.push(String(made[0]?.["conversation"]));
      }
      const letter = ids.at(-1)?.[0] ?? "";
      const many = await run(there, ["show", letter]);
      expect(many.code).toBe(2);
      const same = ids.filter((each) => each.startsWith(letter));
      for (const each of same) expect(many.stderr).toContain(`  ${each}  Delegating`);
      const short = (ids[0] ?? "").slice(0, -1);
      const whole = await run(there, ["show", ids[0] ?? ""]);
      expect(await run(there, ["show", short])).toEqual(whole);
      for (const args of [
        ["show", (await promptBelow(there, ids[0] ?? "")).replace(ids[0] ?? "", short)],
        ["search", "exports", "-c", short],
        ["export", short, "-f", "markdown", "-o", "-"],
      ])
        expect((await run(there, args)).code).toBe(0);
      const [again] = jsonLines(
        (await run(there, ["ingest", "--json", "-c", short], { input: stream })).stdout,
      );
      expect(again?.["conversation"]).toBe(ids[0]);
      expect(await run(there, ["show", "zzzzzzzzz"])).toMatchObject({
        code: 3,
        stderr: "blockyard: conversation zzzzzzzzz does not exist. List them: blockyard ls\n",
      });
    },
    LIMIT_MS,
  );

  it(
    "[Q32] a search says that there is more; --all waits for the index and goes on",
    async () => {
      const there = place();
      const lines = Array.from({ length: 450 }, (_, i) => ({
        type: "assistant",
        session_id: "s",
        message: {
          id: `m${i}`,
          role: "assistant",
          content: [{ type: "text", text: `needle ${i}, a needle` }],
        },
      }));
      await run(there, ["ingest"], { input: lines.map((line) => `${JSON.stringify(line)}\n`).join("") });
      const first = await run(there, ["search", "needle", "--json"]);
      expect([first.code, jsonLines(first.stdout).length]).toEqual([0, 200]);
      expect(first.stderr).toContain("--all");
      // A line is shown once, however often it has the words.
      const shown = await run(there, ["search", "needle"]);
      expect(shown.stdout.trimEnd().split("\n")).toHaveLength(200);
      const all = await run(there, ["search", "needle", "--json", "--all"]);
      const ids = jsonLines(all.stdout).map(({ block_id }) => block_id);
      expect([all.code, all.stderr, ids.length, new Set(ids).size]).toEqual([0, "", 450, 450]);
    },
    LIMIT_MS,
  );

  it.each<[string[], number]>([
    [["show", "nowhere"], 3],
    [["export", "nowhere"], 3],
    [["search", "no such words"], 3],
    [["ls", "no such title"], 3],
    [["search", "("], 2],
  ])(
    "[U1] [U4] %j ends with %d, and says why",
    async (args, code) => {
      const ended = await run(here, args);
      expect([ended.code, ended.stdout]).toEqual([code, ""]);
      expect(ended.stderr).toMatch(/[a-z]/);
    },
    LIMIT_MS,
  );

  it(
    "[U20] [U13] a list leaves out archived ones, as the page does; a turn that cannot start leaves no conversation",
    async () => {
      const there = place();
      await run(there, ["ingest"], { input: stream });
      const nobody = { BLOCKYARD_CLAUDE: "/nowhere/claude" };
      for (const prompt of ["one", "two"])
        expect((await run(there, ["run", "claude", prompt], { env: nobody })).code).toBe(1);
      expect((await run(there, ["ls", "--limit", "1"])).stdout).toContain("Delegating");
      expect((await run(there, ["ls", "--limit", "1"])).stderr).toBe("");
      const all = await run(there, ["ls", "--archived", "--json"]);
      expect(jsonLines(all.stdout)).toHaveLength(1);
      const client = await openClient({ home: there.home });
      const [only] = jsonLines(all.stdout);
      await client.call("conversation.update", {
        conversation: String(only?.["conversation"]),
        archived: true,
      });
      await client.close();
      expect((await run(there, ["ls"])).code).toBe(3);
      expect((await run(there, ["ls", "--archived"])).stdout).toMatch(/ \(archived\)\n$/);
    },
    LIMIT_MS,
  );

  it(
    "[U3] no colours in a pipe, nor against NO_COLOR",
    async () => {
      for (const args of [["ls"], ["show", id], ["search", "exports"], ["help"]])
        expect((await run(here, args)).stdout).not.toContain("\u001b");
    },
    LIMIT_MS,
  );

  it(
    "[U15] text in a block cannot move the cursor or set the title",
    async () => {
      const there = place();
      const evil = "\u001b]0;owned\u0007\u001b[2J\u001b[1;31mred\u009b5A \u202egnp.exe\r";
      const event = { type: "item.completed", item: { id: "item_0", type: "agent_message", text: evil } };
      const lines = [
        { type: "thread.started", thread_id: "t" },
        { type: "turn.started" },
        event,
        { type: "turn.completed" },
      ];
      const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      const [made] = jsonLines((await run(there, ["ingest", "--json", "--title", evil], { input })).stdout);
      for (const args of [["ls"], ["show", String(made?.["conversation"]), "--full"], ["search", "red"]]) {
        const { stdout } = await run(there, args);
        expect(stdout).toContain("red");
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
      }
    },
    LIMIT_MS,
  );

  it(
    "export writes a file, previews secrets, takes them out; import reads it again",
    async () => {
      const work = join(here.folder, "work");
      expect(await run(here, ["export", id])).toMatchObject({ code: 0, stdout: `${id}.html\n` });
      expect(readFileSync(join(work, `${id}.html`), "utf8")).toContain("<!doctype html>");
      const secret = `ghp_${"a1B2".repeat(9)}`;
      const event = {
        type: "item.completed",
        item: { id: "i", type: "agent_message", text: `use ${secret}` },
      };
      const input = `${JSON.stringify({ type: "thread.started", thread_id: "s" })}\n${JSON.stringify(event)}\n`;
      const [made] = jsonLines((await run(here, ["ingest", "--json"], { input })).stdout);
      const conversation = String(made?.["conversation"]);
      const shown = await run(here, ["export", conversation, "--preview"]);
      expect(shown.stdout).toMatch(
        /^GitHub token +conversation {2}ghp_… \(40 characters\)\nGitHub token +\S+\/codex\/\d+ {2}ghp_… \(40 characters\)\n$/,
      );
      const out = await run(here, ["export", conversation, "-f", "jsonl", "--redact", "-o", "clean.jsonl"]);
      expect(out).toMatchObject({ code: 0, stdout: "clean.jsonl\n" });
      expect(out.stderr).toMatch(/^2 secrets removed\. .*read the export before you share it\.\n$/);
      expect(readFileSync(join(work, "clean.jsonl"), "utf8")).not.toContain(secret);
      const there = place();
      cpSync(join(work, "clean.jsonl"), join(there.folder, "work", "clean.jsonl"));
      const [first] = jsonLines((await run(there, ["import", "clean.jsonl", "--json"])).stdout);
      const [again] = jsonLines((await run(there, ["import", "clean.jsonl", "--json"])).stdout);
      expect([first?.["added"], again?.["added"]]).toEqual([1, 0]);
    },
    LIMIT_MS,
  );

  it(
    "[P32] show --session says what the agent worked with, for people and for programs, with a server and without one",
    async () => {
      const there = place();
      const mcp = readFileSync(join(fixtures, "claude/mcp.jsonl"));
      const [made] = jsonLines((await run(there, ["ingest", "--json"], { input: mcp })).stdout);
      const conversation = String(made?.["conversation"]);
      const ask = ["show", conversation, "--session"];
      const alone = await run(there, ask);
      expect(alone.code).toBe(0);
      expect(alone.stdout).toMatch(/^claude\n {2}Model +claude-opus-5-5\n {2}Permission mode +Full access\n/);
      expect(alone.stdout).toMatch(/\n {2}MCP servers +lab \(connected\), broken \(failed\)\n/);
      expect(alone.stdout).toMatch(/\n {2}Tools +Task, Bash, .*mcp__lab__slow/);
      const [told] = jsonLines((await run(there, [...ask, "--json"])).stdout) as unknown as [
        { provider: string; facts: { label: string; value: string }[] }[],
      ];
      expect(told).toMatchObject([{ provider: "claude" }]);
      expect(told[0]?.facts).toContainEqual({ label: "Folder", value: "/workspace/demo" });
      const server = await serve(there);
      expect(await run(there, ask)).toEqual(alone);
      await server.stop();
    },
    LIMIT_MS,
  );
});

describe("import", () => {
  it(
    "[U23] shows prompts under the name of whoever brought them, and what a sub-agent was asked under its agent's",
    async () => {
      const here = place();
      placeSessions(here, ["subagent"], []);
      await run(here, ["import"]);
      const [made] = jsonLines((await run(here, ["ls", "--json"])).stdout);
      const id = String(made?.["conversation"]);
      const shown = (await run(here, ["show", id])).stdout;
      expect(shown).toContain(`\n❯ ${made?.["created_by"]}\nLet a helper count the exports.\n`);
      expect(shown).toContain("\n  ❯ Claude Code\n  SUBAGENT-ONE");
      const exported = await run(here, ["export", id, "-f", "markdown", "-o", "-"]);
      expect(exported.stdout).toContain(`### ${made?.["created_by"]}\n`);
    },
    LIMIT_MS,
  );

  it(
    "[U3] [U11] finds sessions, nests threads, adds nothing the second time, and what is new the third",
    async () => {
      const here = place();
      placeSessions(here, ["subagent", "text", "bash"], ["subagent", "text"]);
      const files = jsonLines((await run(here, ["import", "--dry-run", "--json"])).stdout);
      expect(files.map(({ provider }) => provider).toSorted()).toEqual([
        "claude",
        "claude",
        "claude",
        "codex",
        "codex",
      ]);
      for (const { path } of files) utimesSync(String(path), 1_790_000_000, 1_790_000_000);
      const first = await run(here, ["import"]);
      expect(first).toMatchObject({ code: 0, stdout: "" });
      expect(first.stderr).toMatch(/^5 sessions found: 5 new, 0 updated, \d+ blocks added\.\n$/);
      const listed = (await run(here, ["ls", "--json"])).stdout;
      const second = await run(here, ["import"]);
      expect(second.stderr).toBe("5 sessions found: 0 new, 0 updated, 0 blocks added.\n");
      expect((await run(here, ["ls", "--json"])).stdout).toBe(listed);
      const codex = jsonLines(listed).filter(({ provider }) => provider === "codex");
      expect(codex).toHaveLength(2);
      // The same text again, as a further prompt of the same session.
      const log = String(files.find(({ path }) => String(path).includes("-text"))?.["path"]);
      const line =
        readFileSync(log, "utf8")
          .split("\n")
          .find((each) => each.includes('"type":"user"')) ?? "";
      const more = JSON.parse(line) as Record<string, unknown>;
      appendFileSync(log, `${JSON.stringify({ ...more, uuid: "11111111-2222-4333-8444-555555555555" })}\n`);
      const server = await serve(here);
      const third = await run(here, ["import", "--json", "--provider", "claude"]);
      const outcomes = jsonLines(third.stdout);
      expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
        "imported",
        "unchanged",
        "unchanged",
      ]);
      expect(outcomes.find(({ outcome }) => outcome === "imported")).toMatchObject({
        added: 1,
        is_new: false,
      });
      await server.stop();
      const id = String(outcomes.find(({ outcome }) => outcome === "imported")?.["conversation"]);
      const raw = await run(here, ["export", id, "-f", "raw", "-o", "-"]);
      expect(raw.stdout).toBe(readFileSync(log, "utf8"));
    },
    LIMIT_MS,
  );

  it(
    "[U11] a session that a stream has brought is not imported again",
    async () => {
      const here = place();
      await run(here, ["ingest"], { input: readFileSync(join(fixtures, "claude/text.jsonl")) });
      placeSessions(here, ["text"], []);
      const { stderr } = await run(here, ["import"]);
      expect(stderr).toMatch(/0 new, 0 updated, 0 blocks added; 1 already here from a turn or a stream\.\n$/);
    },
    LIMIT_MS,
  );

  it(
    "[U1] nothing to import, no such file, no such format",
    async () => {
      const here = place();
      expect(await run(here, ["import"])).toMatchObject({ code: 3, stdout: "" });
      expect(await run(here, ["import", "nowhere.jsonl"])).toMatchObject({ code: 3 });
      writeFileSync(join(here.folder, "work", "notes.txt"), "hello\n");
      const { code, stderr } = await run(here, ["import", "notes.txt"]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr:
          "blockyard: notes.txt: neither an export (blockyard export -f jsonl) nor a known session log\n",
      });
      const stream = join(fixtures, "claude/text.jsonl");
      expect((await run(here, ["import", stream])).stderr).toContain(`Use: blockyard ingest < ${stream}`);
    },
    LIMIT_MS,
  );

  it(
    "[U12] [E7] follows a session while it is written",
    async () => {
      const here = place();
      placeSessions(here, ["bash"], []);
      const folder = join(here.folder, ".claude/projects/-bash");
      const [name = ""] = readdirSync(folder).filter((file) => file.endsWith(".jsonl"));
      const log = join(folder, name);
      const lines = readFileSync(log, "utf8").trimEnd().split("\n");
      const called = lines.findIndex((line) => line.includes('"tool_use"')) + 1;
      writeFileSync(log, `${lines.slice(0, called).join("\n")}\n`);
      const child = start(here, ["import", "--watch", "--json"]);
      const end = ended(child);
      const id = await printed(child, /"outcome":"imported".*"conversation":"(\w+)"/);
      appendFileSync(log, `${lines.slice(called).join("\n")}\n`);
      await printed(child, /"outcome":"imported"[^\n]*"is_new":false/);
      child.kill("SIGINT");
      expect((await end).code).toBe(0);
      const whole = jsonLines((await run(here, ["show", id, "--json"])).stdout).filter(
        ({ type }) => type === "block",
      );
      const there = place();
      mkdirSync(join(there.folder, ".claude/projects/-bash"), { recursive: true });
      cpSync(log, join(there.folder, ".claude/projects/-bash", name));
      utimesSync(join(there.folder, ".claude/projects/-bash", name), 1_790_000_000, 1_790_000_000);
      await run(there, ["import"]);
      const once = jsonLines((await run(there, ["show", id, "--json"])).stdout).filter(
        ({ type }) => type === "block",
      );
      const told = (blocks: readonly Record<string, unknown>[]) =>
        blocks.map(({ kind, status, content }) => [kind, status, content]);
      expect(told(whole)).toEqual(told(once));
      expect(whole.length).toBeGreaterThan(4);
    },
    LIMIT_MS,
  );
});

describe("run", () => {
  function agent(here: Place, fixture: string): Record<string, string> {
    const file = join(here.folder, "agent.sh");
    writeFileSync(file, `#!/bin/sh\ncat "${join(fixtures, fixture)}"\n`);
    chmodSync(file, 0o755);
    return { BLOCKYARD_CLAUDE: file };
  }

  it(
    "[U13] shows the turn and keeps it",
    async () => {
      const here = place();
      const env = agent(here, "claude/bash.jsonl");
      const { code, stdout, stderr } = await run(here, ["run", "claude", "List the files"], { env });
      expect({ code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(
          /^claude is working in \S+ \(conversation \w+\)\n\nblockyard show \w+\n$/,
        ),
      });
      expect(stdout).toMatch(/❯ \w+\nList the files\n/);
      expect(stdout).toMatch(/● \$ node test\.js\n(?: {2}.*\n)* {2}ok 1 - adds\n/);
      expect(stdout).toMatch(/── claude-\S+ · [\d,]+ in, [\d,]+ out · \$\d/);
      const id = stderr.trim().split(" ").at(-1) as string;
      const lines = jsonLines(
        (await run(here, ["run", "claude", "Again", "-c", id, "--json"], { env })).stdout,
      );
      expect(lines.at(-1)).toMatchObject({ type: "turn", conversation: id, status: "done" });
      expect(lines.filter(({ type }) => type === "block").length).toBeGreaterThan(3);
      expect(jsonLines((await run(here, ["ls", "--json"])).stdout)).toMatchObject([
        { title: "List the files", turns: 2 },
      ]);
    },
    LIMIT_MS,
  );

  it(
    "[D14] [U13] works in the caller's folder, then in the conversation's, and says where; another one is asked for",
    async () => {
      const here = place();
      const work = realpathSync(join(here.folder, "work"));
      const sub = join(work, "packages");
      const other = realpathSync(mkdtempSync(join(here.folder, "other-")));
      mkdirSync(sub);
      const file = join(here.folder, "where.sh");
      const text = '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"\'"$PWD"\'"}}';
      const lines = ['{"type":"thread.started","thread_id":"t"}', '{"type":"turn.started"}', text];
      const end = '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}';
      const echo = [...lines, end].map((line) => `echo '${line}'`).join("\n");
      // A version that speaks nothing but `exec`.
      const old = `[ "$1" = exec ] || { echo "error: unrecognized subcommand '$1'" >&2; exit 2; }`;
      writeFileSync(file, `#!/bin/sh\n${old}\ncat > /dev/null\n${echo}\n`);
      chmodSync(file, 0o755);
      const server = start(here, ["serve", "--port", "0"], { BLOCKYARD_CODEX: file });
      const served = ended(server);
      await printed(server, /Open\s+(http\S+)/);
      const codex = (cwd: string, ...args: string[]) => runIn(here, cwd, ["run", "codex", "Where?", ...args]);
      const first = await codex(sub);
      expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n${sub}\n`) });
      const id = /^codex is working in (\S+) \(conversation (\w+)\)/.exec(first.stderr);
      expect(id?.[1]).toBe(sub);
      const again = await codex(work, "-c", id?.[2] ?? "");
      expect(again.stdout).toContain(`\n${sub}\n`);
      const outside = await codex(other);
      expect(outside).toMatchObject({ code: 1, stdout: "" });
      expect(outside.stderr).toContain(`--cwd ${other}, or --cwd ${work}`);
      const named = await codex(other, "--cwd", ".");
      expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n${other}\n`) });
      server.kill("SIGTERM");
      await served;
    },
    LIMIT_MS,
  );

  it(
    "[U13] a turn in which something was denied ends with 1, and says so",
    async () => {
      const here = place();
      const env = { BLOCKYARD_CLAUDE: join(fixtures, "../../../test/e2e/agents/fake-claude.mjs") };
      const recording = join(fixtures, "claude/permission-control.jsonl");
      const answers = join(here.folder, "answers");
      const plan = JSON.stringify({ recording, lines: 0, act: "ask", answers });
      const { code, stderr } = await run(here, ["run", "claude", plan], { env });
      // What was asked for, not only what the agent calls it; and how to allow it.
      expect(stderr).toMatch(/^Denied: \$ touch a\.txt .*\(nobody can answer here\)$/m);
      expect(stderr).toMatch(/\d requests? (was|were) denied: the agent's work may be incomplete\./);
      expect(stderr).toMatch(/run it in a terminal\. .*--yes .*--mode/);
      expect(code).toBe(1);
    },
    LIMIT_MS,
  );

  it(
    "[U13] a turn that fails ends with 1, an agent that is not there too, with what to do",
    async () => {
      const here = place();
      const failed = await run(here, ["run", "claude", "Go"], { env: agent(here, "claude/api-401.jsonl") });
      expect(failed.code).toBe(1);
      const missing = await run(here, ["run", "codex", "Go"], {
        env: { BLOCKYARD_CODEX: join(here.folder, "none") },
      });
      expect(missing).toMatchObject({ code: 1, stdout: "" });
      expect(missing.stderr).toMatch(/npm install -g @openai\/codex/);
    },
    LIMIT_MS,
  );
});

describe("run behind another turn", () => {
  it(
    "[U13] Ctrl-C takes back the message that waits, and leaves alone what it waits for",
    async () => {
      const here = place();
      const file = join(here.folder, "agent.sh");
      writeFileSync(file, "#!/bin/sh\nexec sleep 60\n");
      chmodSync(file, 0o755);
      const server = start(here, ["serve", "--port", "0"], { BLOCKYARD_CLAUDE: file });
      const served = ended(server);
      await printed(server, /Open\s+(http\S+)/);
      const first = start(here, ["run", "claude", "First", "--json"]);
      const firstEnd = ended(first);
      const id = await printed(first, /"block_id":"(\w+)\//);
      const second = start(here, ["run", "claude", "Second", "-c", id]);
      const secondEnd = ended(second);
      await printed(second, /This one is queued/, "stderr");
      second.kill("SIGINT");
      expect(await secondEnd).toMatchObject({
        code: 130,
        stderr: expect.stringContaining("The message was not sent."),
      });
      expect(first.exitCode).toBe(null);
      first.kill("SIGINT");
      const { code, stdout } = await firstEnd;
      expect({ code, last: jsonLines(stdout).at(-1) }).toMatchObject({
        code: 130,
        last: { type: "turn", reason: "cancelled" },
      });
      server.kill("SIGTERM");
      await served;
    },
    LIMIT_MS,
  );
});

describe("run beside another turn", () => {
  it(
    "[U94] [U93] answers nothing that another turn asks; a message that the agent has not read is taken back by Ctrl-C",
    async () => {
      const here = place();
      const agent = join(fixtures, "../../../test/e2e/agents/fake-claude.mjs");
      const server = start(here, ["serve", "--port", "0"], { BLOCKYARD_CLAUDE: agent });
      const served = ended(server);
      await printed(server, /Open\s+(http\S+)/);
      const call = ownerCalls(here);
      const recording = join(fixtures, "claude/permission-control.jsonl");
      const plan = { recording, lines: 0, act: "ask", answers: join(here.folder, "answers") };
      const prompt = JSON.stringify(plan);
      const { conversation } = await call("turn.start", { provider: "claude", prompt, title: "Asks" });
      const asking = async (known?: string) => {
        for (;;) {
          const { blocks } = await call("conversation.read", { conversation });
          for (const { block_id } of blocks) {
            const { metadata } = await call("block.read", { block_id });
            if (metadata.ask?.state === "asked" && block_id !== known) return { block_id, ask: metadata.ask };
          }
        }
      };
      const first = await asking();
      for (const options of [[], ["--now"]]) {
        const waiting = start(here, ["run", "claude", "Next", "-c", conversation, ...options]);
        const waitingEnd = ended(waiting);
        await printed(waiting, options.length === 0 ? /is queued/ : /at its next step/, "stderr");
        if (options.length === 0)
          await call("turn.answer", { block_id: first.block_id, ask_id: first.ask.id, allow: true });
        const second = await asking(first.block_id);
        waiting.kill("SIGINT");
        // Finally it learns that its message is not sent: it knows of the second request by then.
        const { code, stderr } = await waitingEnd;
        expect({ code, stderr }).toMatchObject({ code: 130, stderr: expect.stringMatching(/was not sent/) });
        expect(stderr).not.toContain("Denied");
        expect(await asking(first.block_id)).toMatchObject({ ask: { id: second.ask.id } });
      }
      server.kill("SIGTERM");
      await served;
    },
    LIMIT_MS,
  );
});

describe("backup and restore", () => {
  it(
    "[U14] a backup of a running server holds everything; what it replaces is kept",
    async () => {
      const here = place();
      const server = await serve(here);
      await run(here, ["ingest", "--title", "Kept"], { input: stream });
      const work = join(here.folder, "work");
      expect(await run(here, ["backup", "yard.db"])).toMatchObject({ code: 0 });
      expect(statSync(join(work, "yard.db")).mode & 0o777).toBe(0o600);
      expect(await run(here, ["backup", "yard.db"])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("already exists"),
      });
      const refused = await run(here, ["restore", "yard.db", "--replace"]);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("Stop the server") });
      await run(here, ["ingest", "--new", "--title", "Later"], { input: stream });
      await server.stop();
      expect(await run(here, ["restore", "yard.db"])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("--replace"),
      });
      writeFileSync(join(work, "no.db"), "this is no database".repeat(1_000));
      const bad = await run(here, ["restore", "no.db", "--replace"]);
      expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining("Nothing was changed") });
      const titles = async () =>
        jsonLines((await run(here, ["ls", "--json"])).stdout).map(({ title }) => title);
      const all = await titles();
      expect(all).toContain("Later");
      const [done] = jsonLines((await run(here, ["restore", "yard.db", "--replace", "--json"])).stdout);
      expect(existsSync(String(done?.["kept"]))).toBe(true);
      const restored = await titles();
      expect(restored).toContain("Kept");
      expect(restored).not.toContain("Later");
    },
    LIMIT_MS,
  );
});

describe("the rest", () => {
  it(
    "[U101] rules lists what answers agents and removes one, with a server and without one",
    async () => {
      const here = place();
      expect(await run(here, ["rules"])).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^No rules\./),
      });
      const server = await serve(here);
      const made = async (words: string[]) => {
        const workspace = join(here.folder, "work");
        const pattern = { type: "command", words };
        const answer = await ownerCalls(here)("rule.set", { effect: "allow", workspace, pattern });
        return answer.id as string;
      };
      const [first, second] = [await made(["npm", "test"]), await made(["make"])];
      const { stdout } = await run(here, ["rules"]);
      expect(stdout).toMatch(
        new RegExp(`^${first}  allow  \`npm test …\`  in /.*work  by \\w+ \\d{4}-`, "m"),
      );
      const removed = await run(here, ["rules", "remove", first]);
      expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining(`Rule ${first} removed`) });
      expect(await run(here, ["rules", "remove", first])).toMatchObject({ code: 3, stdout: "" });
      expect(await server.stop()).toMatchObject({ code: 0 });
      const left = JSON.parse((await run(here, ["rules", "list", "--json"])).stdout) as {
        rules: { id: string }[];
      };
      expect(left.rules.map(({ id }) => id)).toEqual([second]);
      const last = await run(here, ["rules", "remove", second, "--json"]);
      expect(JSON.parse(last.stdout)).toEqual({ id: second, removed: true });
    },
    LIMIT_MS,
  );

  it(
    "[AC247] audit shows what was done, with a server and without one, and exports every entry",
    async () => {
      const here = place();
      expect((await run(here, ["token", "create", "--agent", "codex-mcp"])).code).toBe(0);
      const server = await serve(here);
      const made = await run(here, ["token", "create", "--agent", "wall", "--viewer"]);
      const browser = await fetch(String(/http\S+/.exec(made.stderr)?.[0]), { redirect: "manual" });
      expect(browser.status).toBe(303);
      const listed = JSON.parse((await run(here, ["session", "list", "--json"])).stdout) as {
        sessions: { id: string; agent: string }[];
      };
      const id = listed.sessions.find(({ agent }) => agent === "wall")?.id ?? "";
      expect((await run(here, ["session", "revoke", id])).stdout).toBe(`Session ${id} revoked\n`);
      expect((await run(here, ["session", "revoke", id])).code).toBe(3);
      expect(await server.stop()).toMatchObject({ code: 0 });
      expect((await run(here, ["token", "revoke", "--agent", "wall"])).code).toBe(0);
      const lines = (await run(here, ["audit", "--export"])).stdout.trim().split("\n");
      const all = lines.map((line) => JSON.parse(line) as { action: string; details: object });
      expect(all.map(({ action }) => action)).toEqual([
        "token.create",
        "token.create",
        "session.open",
        "session.revoke",
        "session.revoke", // it was revoked already:
        "session.revoke", // that it was refused is an entry of its own
        "token.revoke",
      ]);
      expect(lines.join()).not.toContain(made.stdout.trim());
      const few = await run(here, ["audit", "--action", "token.create", "--limit", "1"]);
      expect(few.stdout).toMatch(/^\S+ \S+ {2}token\.create {2}\S+ \(token\) {2}agent=wall role=viewer\n$/);
      expect((await run(here, ["audit", "--since", "tomorrow"])).code).toBe(2);
      expect((await run(here, ["audit", "--since", "2999-01-01"])).stdout).toBe("No entries.\n");
    },
    LIMIT_MS,
  );

  it(
    "[U1] [U64] [U102] token, link, doctor, mcp and serve as processes",
    async () => {
      const here = place();
      expect((await run(here, ["link"])).stderr).toContain("no server is running. Start one: blockyard");
      const token = (await run(here, ["token", "create", "--agent", "codex-mcp"])).stdout.trim();
      expect(token).toMatch(/^[\w-]{43}$/);
      const listed = await run(here, ["token", "list"]);
      expect(listed.stdout).toMatch(/^codex-mcp {2}agent {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/);
      expect(listed.stderr).toBe(
        "Each agent: 6000 requests per minute, 50000 blocks and 512 Mi characters per hour\n",
      );
      const asJson = await run(here, ["token", "list", "--json"]);
      expect(JSON.parse(asJson.stdout)).toEqual({
        tokens: [{ agent: "codex-mcp", role: "agent", created_at: expect.any(Number) }],
      });
      expect(asJson.stderr).toBe("");
      const other = ["--agent", "wall", "--json"];
      const shown = jsonLines((await run(here, ["token", "create", ...other])).stdout);
      expect(shown).toEqual([{ agent: "wall", role: "agent", token: expect.stringMatching(/^[\w-]{43}$/) }]);
      const named = async (...words: string[]) => (await run(here, ["token", "list", ...words])).stdout;
      expect(JSON.parse(await named(...other)).tokens).toMatchObject([{ agent: "wall" }]);
      expect(await named("--viewer")).toBe("No such tokens.\n");
      const taken = jsonLines((await run(here, ["token", "revoke", ...other])).stdout);
      expect(taken).toEqual([{ agent: "wall", revoked: 1 }]);
      const server = await serve(here);
      expect((await run(here, ["link"])).stdout).toContain(`${new URL(server.link).origin}/?link=`);
      for (const its of [token, "x".repeat(43)]) {
        const agents = await run(here, ["link"], { env: { BLOCKYARD_TOKEN: its } });
        expect(agents).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/unset/i) });
      }
      const input = ["initialize", "notifications/initialized", "tools/list"].map((method, id) => {
        const params =
          method === "initialize"
            ? { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } }
            : {};
        return `${JSON.stringify({ jsonrpc: "2.0", method, params, ...(method.startsWith("n") ? {} : { id }) })}\n`;
      });
      const child = start(here, ["mcp"], { BLOCKYARD_TOKEN: token });
      const end = ended(child);
      const tools = printed(child, /"block_edit"/);
      child.stdin?.write(input.join(""));
      expect(await tools).toBe('"block_edit"');
      child.stdin?.end();
      expect((await end).code).toBe(0);
      const seen = await run(here, ["ls", "--json"], { env: { BLOCKYARD_TOKEN: "x".repeat(43) } });
      expect(seen).toMatchObject({ code: 1, stderr: expect.stringContaining("refused the token") });
      writeFileSync(join(here.home, "credentials"), "BLOCKYARD_ACP_GOOSE=no-such-agent acp\n", {
        mode: 0o600,
      });
      const examined = (await run(here, ["doctor", "--json"])).stdout;
      expect(examined).toContain("node");
      expect(examined).toContain('{"check":"goose","state":"warn","message":"no-such-agent was not found"');
      expect(await server.stop()).toMatchObject({ code: 0 });
    },
    LIMIT_MS,
  );
});
