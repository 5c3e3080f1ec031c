/**
 * Permission of our own loop, as a table: every tool that a model is offered × class of path × what the turn allows, on a
 * real server with real files. The tools are those of the request that the model gets, so a new one without a row fails.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@blockyard/kernel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Body, call, say } from "../model/script.ts";
import { Rig } from "./rig.ts";

const SECRET = "planted-secret-4711";
const TEXTS = { ordinary: "planted-words", guarded: SECRET } as const;
const FILES = { ordinary: "notes.txt", guarded: ".env" } as const;
type PathClass = keyof typeof FILES;

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.stop());
beforeEach(() => {
  rig.model.asked.length = 0;
  rig.clear();
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(rig.faults).toEqual([]);
});

interface Target {
  readonly path: string;
  /** The block of that file. */
  readonly block: string;
  readonly text: string;
}

interface Row {
  readonly input: (target: Target) => JsonObject;
  /** For each class: what a turn must allow for it not to ask. `free`: nothing; `ask`: it asks whatever is allowed. */
  readonly leave: Readonly<Record<PathClass, "free" | "write" | "bash" | "ask">>;
  /** It changes the file where it may. */
  readonly writes?: true;
  /** The file must not be there before. */
  readonly makes?: true;
}

const FREE = { ordinary: "free", guarded: "free" } as const;
const READS = { ordinary: "free", guarded: "ask" } as const;
const WRITES = { ordinary: "write", guarded: "ask" } as const;
const replace = [{ op: "replace", start_line: 0, end_line: 1, content: "changed" }];

const ROWS: Readonly<Record<string, Row>> = {
  read: { input: ({ path }) => ({ path }), leave: READS },
  write: { input: ({ path }) => ({ path, content: "changed" }), leave: WRITES, writes: true },
  edit: {
    input: ({ path, text }) => ({ path, old_text: text, new_text: "changed" }),
    leave: WRITES,
    writes: true,
  },
  bash: { input: () => ({ command: "true" }), leave: { ordinary: "bash", guarded: "bash" } },
  glob: { input: () => ({ pattern: "*" }), leave: FREE },
  grep: { input: () => ({ pattern: "planted" }), leave: FREE },
  todo: { input: () => ({ items: [{ content: "a", status: "pending", activeForm: "a" }] }), leave: FREE },
  block_append: {
    input: ({ block }) => ({ block_id: block, text: "changed", wait: true }),
    leave: WRITES,
    writes: true,
  },
  block_apply_patch: {
    input: ({ block, text }) => ({ block_id: block, patch: `@@ -1 +1 @@\n-${text}\n+changed\n` }),
    leave: WRITES,
    writes: true,
  },
  block_create: {
    input: ({ path }) => ({ kind: "file", role: "tool", content: "changed", metadata: { path } }),
    leave: WRITES,
    writes: true,
    makes: true,
  },
  block_edit: {
    input: ({ block }) => ({ block_id: block, operations: replace }),
    leave: WRITES,
    writes: true,
  },
  block_history: { input: ({ block }) => ({ block_id: block, version: 1 }), leave: READS },
  block_list: { input: ({ block }) => ({ parent_id: block }), leave: READS },
  block_read: { input: ({ block }) => ({ block_id: block }), leave: READS },
  block_redo: { input: ({ block }) => ({ block_id: block }), leave: WRITES },
  block_search: { input: ({ block }) => ({ block_id: block, query: "planted" }), leave: READS },
  block_splice: {
    input: ({ block }) => ({ block_id: block, offset: 0, insert: "changed" }),
    leave: WRITES,
    writes: true,
  },
  block_status: { input: ({ block }) => ({ block_id: block, status: "done" }), leave: WRITES },
  block_sync: { input: ({ block }) => ({ versions: [{ block_id: block, version: 0 }] }), leave: READS },
  block_undo: { input: ({ block }) => ({ block_id: block }), leave: WRITES },
  kernel_search: { input: () => ({ query: "planted" }), leave: FREE },
};

const MODES = [[], ["write"], ["bash"], ["read", "write", "bash"]] as const;
const CLASSES = ["ordinary", "guarded"] as const;

const isMade = (row: Row) => row.makes === true;
const bodyOf = (nth: number) => rig.model.asked.at(nth)?.body as Body;

let folders = 0;

/** In a folder of its own: what an earlier attempt has changed may still be on its way to the disk. */
async function target(pathClass: PathClass, row: Row): Promise<Target> {
  const folder = `attempt-${++folders}`;
  mkdirSync(join(rig.root, folder));
  const path = `${folder}/${FILES[pathClass]}`;
  const text = TEXTS[pathClass];
  if (isMade(row)) return { path, block: "", text };
  writeFileSync(join(rig.root, path), `${text}\n`);
  const { block_id } = await rig.tool<{ block_id: string }>("file.open", { path });
  return { path, block: block_id, text };
}

/** One call by the model; with `answer`, the owner answers what it asks. */
async function attempt(
  name: string,
  input: JsonObject,
  allow: readonly string[],
  answer: boolean | undefined,
): Promise<{ readonly asked: string | undefined; readonly told: string }> {
  rig.model.asked.length = 0;
  rig.model.play([{ parts: [call(name, input)] }, say("Done.")]);
  const { conversation, turn } = await rig.start("anthropic", "Go", { allow });
  const seen = await rig.until(conversation, async () => {
    const turns = await rig.server.kernel.turns(conversation);
    const isOver = "problem" in turns ? false : turns.some(({ status }) => status !== "running");
    const asking = (await rig.blocks(conversation)).find(({ metadata }) => "ask" in metadata);
    return asking ?? (isOver ? "over" : undefined);
  });
  if (seen === "over") return { asked: undefined, told: JSON.stringify(bodyOf(-1)) };
  const { id, title } = seen.metadata["ask"] as JsonObject;
  if (answer === undefined) await rig.tool("turn.stop", { conversation });
  else await rig.tool("turn.answer", { block_id: seen.id, ask_id: id, allow: answer });
  await rig.ended(conversation, turn);
  return { asked: String(title), told: JSON.stringify(bodyOf(-1)) };
}

it("[AC200] every tool that a model is offered has a row here", async () => {
  rig.model.play([say("Hello.")]);
  await rig.run("anthropic", "Hi");
  const offered = (bodyOf(-1)["tools"] as unknown as readonly { readonly name: string }[]).map(
    ({ name }) => name,
  );
  expect(Object.keys(ROWS).sort()).toEqual([...offered].sort());
});

describe.each(Object.entries(ROWS))("[AC200] [L64] %s", (name, row) => {
  it.each(CLASSES)("on a file that is %s asks exactly where it must, in every mode", async (pathClass) => {
    for (const allow of MODES) {
      rig.clear();
      const at = await target(pathClass, row);
      const file = join(rig.root, at.path);
      const leave = row.leave[pathClass];
      const asks = leave === "ask" || (leave !== "free" && !(allow as readonly string[]).includes(leave));
      const { asked, told } = await attempt(name, row.input(at), allow, false);
      expect([allow, asked !== undefined]).toEqual([allow, asks]);
      if (!asks) continue;
      // Denied: nothing has happened, nothing was sent, and the model reads a sentence.
      expect(told).toContain("The user denied this tool call");
      if (pathClass === "guarded" && name !== "bash") {
        expect(asked).toContain(".env is guarded: ");
        expect(told.replace(JSON.stringify(row.input(at)).slice(1, -1), "")).not.toContain(`${SECRET}\\n`);
      }
      expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(isMade(row) ? "" : `${at.text}\n`);
    }
  });

  it("does what the owner has allowed, on a guarded file too", async () => {
    const at = await target("guarded", row);
    const { asked, told } = await attempt(name, row.input(at), ["bash"], true);
    expect(told).not.toContain("The user denied");
    if (asked === undefined) return expect(told).not.toContain(SECRET);
    expect(told).not.toContain("forbidden");
    expect(told).not.toContain("is guarded");
    await rig.tool("file.flush", {});
    if (row.writes) expect(readFileSync(join(rig.root, at.path), "utf8")).toContain("changed");
    else if (row.leave === READS && name !== "block_list") expect(told).toContain(SECRET);
  });
});

it("[D61] a deny rule overrides the turn's allowances, whichever tool does it", async () => {
  const workspace = rig.root;
  const rules = [
    { type: "command", words: ["git", "push"] },
    { type: "path", folder: join(realpathSync(rig.root), "src") },
  ];
  const made: string[] = [];
  for (const pattern of rules)
    made.push((await rig.tool<{ id: string }>("rule.set", { effect: "deny", workspace, pattern })).id);
  mkdirSync(join(rig.root, "src"));
  writeFileSync(join(rig.root, "src/a.txt"), "old\n");
  const { block_id } = await rig.tool<{ block_id: string }>("file.open", { path: "src/a.txt" });
  const splice = { block_id, offset: 0, insert: "changed" };
  for (const [name, input] of [
    ["bash", { command: "touch ran; git -C . push" }],
    ["write", { path: "src/a.txt", content: "changed" }],
    ["write", { path: "src/new.txt", content: "changed" }],
    ["block_splice", splice],
  ] as const) {
    const { asked, told } = await attempt(name, input, ["bash", "write"], undefined);
    expect([name, asked]).toEqual([name, undefined]);
    expect(told).toContain("A rule of the user denies");
  }
  await rig.tool("file.flush", {});
  expect([existsSync(join(rig.root, "ran")), readFileSync(join(rig.root, "src/a.txt"), "utf8")]).toEqual([
    false,
    "old\n",
  ]);
  for (const id of made) await rig.tool("rule.remove", { id });
  expect((await attempt("block_splice", splice, ["write"], undefined)).told).not.toContain("A rule");
});

it("[L65] grep says how many guarded files it has left out", async () => {
  mkdirSync(join(rig.root, "app"), { recursive: true });
  for (const path of Object.values(FILES)) writeFileSync(join(rig.root, "app", path), `${SECRET}\n`);
  const { asked, told } = await attempt("grep", { pattern: "planted" }, [], undefined);
  expect(asked).toBeUndefined();
  expect(told).toContain(`notes.txt:1:${SECRET}`);
  expect(told).not.toContain(`.env:1`);
  expect(told).toContain("1 guarded skipped");
});

it("[AC201] a grant of the owner is an answer; a link to a guarded file is that file", async () => {
  mkdirSync(join(rig.root, "app"), { recursive: true });
  writeFileSync(join(rig.root, "app/.env"), `${SECRET}\n`);
  symlinkSync("app/.env", join(rig.root, "plain.txt"));
  expect((await attempt("read", { path: "plain.txt" }, [], false)).asked).toContain(".env is guarded");
  await rig.tool("file.grant", { path: "app/.env", agent: "openai" });
  expect((await attempt("read", { path: "app/.env" }, [], false)).asked).toContain(".env is guarded");
  await rig.tool("file.grant", { path: "app/.env", agent: "anthropic" });
  const granted = await attempt("read", { path: "app/.env" }, [], undefined);
  expect([granted.asked, granted.told.includes(SECRET)]).toEqual([undefined, true]);
  await rig.tool("file.revoke", { path: "app/.env", agent: "anthropic" });
  expect((await attempt("read", { path: "app/.env" }, [], false)).asked).toContain(".env is guarded");
});

it("[AC201] a file that becomes a link to a guarded one while the owner thinks is not read", async () => {
  mkdirSync(join(rig.root, "src"));
  mkdirSync(join(rig.root, "app"), { recursive: true });
  writeFileSync(join(rig.root, "app/.env"), `${SECRET}\n`);
  writeFileSync(join(rig.root, "src/a.txt"), "old\n");
  rig.model.play([
    { parts: [call("edit", { path: "src/a.txt", old_text: SECRET, new_text: "changed" })] },
    say("Done."),
  ]);
  const { conversation, turn } = await rig.start("anthropic", "Go");
  const asking = await rig.block(conversation, ({ metadata }) => "ask" in metadata);
  rmSync(join(rig.root, "src/a.txt"));
  symlinkSync("../app/.env", join(rig.root, "src/a.txt"));
  const { id } = asking.metadata["ask"] as JsonObject;
  await rig.tool("turn.answer", { block_id: asking.id, ask_id: id, allow: true });
  await rig.ended(conversation, turn);
  expect(readFileSync(join(rig.root, "app/.env"), "utf8")).toBe(`${SECRET}\n`);
  expect(JSON.stringify(bodyOf(-1))).toContain(".env is guarded");
});

it("[AC264] a guarded file that is included is not sent before the owner has granted it to that agent", async () => {
  mkdirSync(join(rig.root, "app"), { recursive: true });
  writeFileSync(join(rig.root, "app/.env"), `${SECRET}\n`);
  const { block_id } = await rig.tool<{ block_id: string }>("file.open", { path: "app/.env" });
  const conversation = await rig.conversation();
  await rig.tool("conversation.include", { conversation, block_id });
  rig.model.play([say("Hello."), say("Hello.")]);
  const start = { conversation, provider: rig.speak("anthropic"), prompt: "Hi" };
  const turn = (input: object) => rig.ask("turn.start", input);
  for (const agent of ["openai", undefined]) {
    if (agent) await rig.tool("file.grant", { path: "app/.env", agent });
    expect(await turn(start)).toMatchObject({
      problem: "forbidden",
      details: { needs: "grant", path: "app/.env", agent: "anthropic" },
    });
  }
  expect(rig.model.asked).toEqual([]);
  expect(await rig.blocks(conversation)).toEqual([]);
  await rig.tool("file.grant", { path: "app/.env", agent: "anthropic" });
  await rig.run("anthropic", "Hi", { conversation });
  expect(JSON.stringify(bodyOf(-1))).toContain(SECRET);
  await rig.tool("file.revoke", { path: "app/.env", agent: "anthropic" });
  expect(await turn(start)).toMatchObject({ problem: "forbidden" });
  await rig.tool("conversation.include", { conversation, block_id, included: false });
  await rig.run("anthropic", "Hi again", { conversation });
});
