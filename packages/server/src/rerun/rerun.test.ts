/** Running a command again: what was confirmed runs, byte for byte, once; nothing else does. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Block,
  type Call,
  callIn,
  isEnded,
  isProblem,
  Kernel,
  MemoryStore,
  makeTable,
  type Tool,
  VirtualEnv,
} from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ProcessTracker } from "../processes/process-tracker.ts";
import { visible } from "../processes/visible.ts";
import { nodeEnv } from "../system/env.ts";
import { Confirmations } from "./confirmation.ts";
import { CONFIRM_MS } from "./limits.ts";
import { Reruns } from "./rerun.ts";
import { rerunTools } from "./tools.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "blockyard-rerun-")));
const root = join(folder, "root");
const tracker = new ProcessTracker(join(folder, "home"));
const kernel = new Kernel(nodeEnv, new MemoryStore("epoch"));
/** A hostile environment: every start-up file that bash could be made to read leaves a trace. */
const env = {
  PATH: "/usr/bin:/bin",
  HOME: folder,
  LANG: "C.UTF-8",
  BASH_ENV: join(folder, "trap.sh"),
  ENV: join(folder, "trap.sh"),
  SHELLOPTS: "xtrace",
  CDPATH: "/",
  "BASH_FUNC_echo%%": "() { printf trapped; }",
  BLOCKYARD_TOKEN: "secret",
};
const reruns = new Reruns({ kernel, root, env, tracker });
const table = makeTable(rerunTools(reruns) as unknown as readonly Tool[]);
let conversation = "";

beforeAll(async () => {
  mkdirSync(root);
  for (const name of ["trap.sh", ".bashrc", ".bash_profile", ".profile"])
    writeFileSync(join(folder, name), `printf trapped; touch ${join(folder, "trapped")}\n`);
  conversation = (await kernel.createConversation("ann", "t")) as string;
});
afterAll(async () => {
  await reruns.close();
  await tracker.close();
  rmSync(folder, { recursive: true });
});

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is looked at field by field
async function call(name: string, input: object, role: Call["caller"]["role"] = "owner"): Promise<any> {
  const caller = { agent: role === "owner" ? "ann" : "bob", role };
  return callIn(table, { kernel, caller } as Call, name, input);
}

async function command(text: string, metadata: object = {}): Promise<string> {
  const block = await kernel.write(conversation, {
    agent: "claude",
    plan: (draft) =>
      draft.create({
        kind: "command",
        role: "tool",
        status: "done",
        metadata: { command: text, ...metadata },
      }),
  });
  if (isProblem(block)) throw new Error(block.message);
  return block.id;
}

async function ended(id: string): Promise<Block & { readonly text: string }> {
  for (;;) {
    const whole = await kernel.whole(id);
    if (isProblem(whole)) throw new Error(whole.message);
    if (isEnded(whole.status)) return whole;
    await new Promise<void>((resolve) => {
      const stop = kernel.listen(() => {
        stop();
        resolve();
      });
    });
  }
}

async function rerun(id: string, more: object = {}): Promise<Block & { readonly text: string }> {
  const { confirmation } = await call("command.confirm", { block_id: id });
  const started = await call("command.run", { block_id: id, confirmation, ...more });
  if (isProblem(started)) throw new Error(started.message);
  return ended(started.block_id);
}

describe("what runs", () => {
  it("[D8] [R46] the bytes that were shown, below their block, with code and time", async () => {
    const text = "printf '%s|' \"$PWD\" 'a  b' \"é🎉\"; printf err >&2; exit 3";
    const id = await command(text, { cwd: root });
    const shown = await call("command.confirm", { block_id: id });
    expect(shown).toMatchObject({ command: text, cwd: root, version: 1, command_visible: text });
    const { block_id } = await call("command.run", { block_id: id, confirmation: shown.confirmation });
    const block = await ended(block_id);
    expect(block).toMatchObject({ kind: "command", parent: id, side: true, agent: "ann", status: "error" });
    expect(block.metadata).toMatchObject({ command: text, cwd: root, exitCode: 3, reason: "failed" });
    expect(block.text.replace("err", "")).toBe(`${root}|a  b|é🎉|`);
    expect(block.text).toContain("err");
  });

  it("[D8] no start-up file, function, option or path of the environment has a say", async () => {
    const block = await rerun(await command("echo plain; shopt -q login_shell || echo no login; env"));
    expect(block.text).toMatch(/^plain\nno login\n/);
    expect(block.text).not.toMatch(/trapped|secret|BASH_ENV|CDPATH|BASH_FUNC/);
    expect(existsSync(join(folder, "trapped"))).toBe(false);
  });

  it.each([
    ["-x", /-x: command not found/],
    ["--version", /--version: command not found/],
    ["cat", /^$/],
    ["echo a\necho b", /^a\nb\n$/],
    ["echo '$(touch x)' \"`echo ticks`\"", /^\$\(touch x\) ticks\n$/],
    ["printf '\\033[2J\\007\\000x'", /^.\[2J..x$/s],
  ])("[D8] %j is one command and no option", async (text, expected) => {
    const id = await command(text);
    expect((await rerun(id)).text).toMatch(expected);
  });

  it("[D8] output streams while it runs, and stopping ends everything that was started", async () => {
    const id = await command("echo first; sleep 100 & setsid sleep 100 & wait");
    const { confirmation } = await call("command.confirm", { block_id: id });
    const { block_id } = await call("command.run", { block_id: id, confirmation });
    for (;;) {
      const whole = await kernel.whole(block_id);
      if (!isProblem(whole) && whole.text === "first\n") break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect((await kernel.block(block_id)) as Block).toMatchObject({ status: "running" });
    expect(await call("command.stop", { block_id })).toEqual({ stopped: true });
    expect(await ended(block_id)).toMatchObject({
      status: "error",
      metadata: { reason: "cancelled", interrupted: true },
    });
    expect(await tracker.living()).toEqual([]);
    expect(await call("command.stop", { block_id })).toEqual({ stopped: false });
  });

  it("[D8] a command that takes too long is stopped", async () => {
    const block = await rerun(await command("echo a; sleep 100"), { limit_ms: 300 });
    expect(block).toMatchObject({ text: "a\n", metadata: { reason: "interrupted", interrupted: true } });
  });

  it.each([
    ["with U+0000 in it", "echo a\u0000b", /null bytes/],
    ["longer than an argument may be", `: ${"y".repeat(2_000_000)}`, /E2BIG/],
  ])("[D8] a command %s cannot be started, which its block says", async (_, text, why) => {
    const block = await rerun(await command(text));
    expect(block).toMatchObject({ status: "error", metadata: { reason: "failed", exitCode: null } });
    expect(block.metadata["stderr"]).toMatch(why);
  });

  it("[D8] output over the limit is counted", async () => {
    const block = await rerun(await command("head -c 9000000 /dev/zero | tr '\\0' x"));
    expect(block.text.length).toBe(8 * 1024 * 1024);
    expect(block.metadata).toMatchObject({ truncatedChars: 9_000_000 - 8 * 1024 * 1024, exitCode: 0 });
  });
});

describe("[D14] where it runs", () => {
  const elsewhere = join(folder, "other-project");
  const inside = join(root, "packages");
  beforeAll(() => {
    for (const each of [elsewhere, inside]) mkdirSync(each);
  });
  const inConversation = async (cwd: string) => {
    const own = (await kernel.createConversation("ann", "own")) as string;
    await kernel.write(own, {
      agent: "ann",
      plan: (draft) => {
        draft.conversation({ metadata: { cwd } });
        return null;
      },
    });
    const block = await kernel.write(own, {
      agent: "claude",
      plan: (draft) =>
        draft.create({ kind: "command", role: "tool", status: "done", metadata: { command: "pwd" } }),
    });
    return (block as Block).id;
  };

  it("[D14] is where its conversation works, where the block does not say it", async () => {
    const id = await inConversation(inside);
    expect(await call("command.confirm", { block_id: id })).toMatchObject({ cwd: inside });
    expect((await rerun(id)).text).toBe(`${inside}\n`);
  });

  it("[D14] is asked for outside of the served folder, shown, and bound to what was shown", async () => {
    const id = await inConversation(elsewhere);
    const asked = await call("command.confirm", { block_id: id });
    expect(asked).toMatchObject({ problem: "conflict", details: { ask: "cwd", cwd: elsewhere, root } });
    for (const cwd of [elsewhere, root]) {
      const shown = await call("command.confirm", { block_id: id, cwd });
      expect(shown).toMatchObject({ cwd, cwd_visible: cwd });
      const { block_id } = await call("command.run", { block_id: id, confirmation: shown.confirmation });
      expect(await ended(block_id)).toMatchObject({ text: `${cwd}\n`, metadata: { cwd } });
    }
    const link = join(folder, "chosen");
    symlinkSync(elsewhere, link);
    const { confirmation } = await call("command.confirm", { block_id: id, cwd: link });
    rmSync(link);
    symlinkSync(inside, link);
    expect(await call("command.run", { block_id: id, confirmation })).toMatchObject({ problem: "conflict" });
  });

  it("[D14] nothing but shell commands runs again: the code of an interpreter does not", async () => {
    for (const toolName of ["code_interpreter", "code_execution", "PowerShell"]) {
      const id = await command("import os", { toolName });
      expect(await call("command.confirm", { block_id: id })).toMatchObject({ problem: "invalid" });
    }
    expect(await call("command.confirm", { block_id: await command("  ") })).toMatchObject({
      problem: "invalid",
    });
  });
});

describe("what is refused", () => {
  const marker = join(root, "ran");
  const run = async (id: string, confirmation: string, role?: Call["caller"]["role"]) =>
    call("command.run", { block_id: id, confirmation }, role);
  const untouched = async (answer: unknown, code: string) => {
    expect(answer).toMatchObject({ problem: code });
    expect(existsSync(marker)).toBe(false);
  };

  it("[D9] [R46] none, an invented one, one for another block", async () => {
    const id = await command(`touch ${marker}`, { cwd: root });
    const other = await command("true", { cwd: root });
    await untouched(await call("command.run", { block_id: id }), "invalid");
    await untouched(await run(id, "x".repeat(32)), "conflict");
    const { confirmation } = await call("command.confirm", { block_id: other });
    await untouched(await run(id, confirmation), "conflict");
  });

  it("[D9] [R46] a used one, also by two at once", async () => {
    const id = await command(`echo run >> ${marker}`, { cwd: root });
    const { confirmation } = await call("command.confirm", { block_id: id });
    const answers = await Promise.all([1, 2, 3].map(() => run(id, confirmation)));
    const started = answers.filter((answer) => !isProblem(answer));
    expect(started).toHaveLength(1);
    await ended(started[0].block_id);
    expect(await run(id, confirmation)).toMatchObject({ problem: "conflict" });
    expect(readFileSync(marker, "utf8")).toBe("run\n");
    rmSync(marker);
  });

  it("[D9] [R46] one whose block was edited since: its command, its folder, its text", async () => {
    const changes = [{ command: `touch ${marker}` }, { cwd: folder }, { description: "harmless" }];
    for (const metadata of changes) {
      const id = await command("true", { cwd: root });
      const { confirmation } = await call("command.confirm", { block_id: id });
      await kernel.writeBlock(id, { agent: "claude", plan: (draft) => draft.meta(id, metadata) });
      await untouched(await run(id, confirmation), "conflict");
    }
    const id = await command("true", { cwd: root });
    const { confirmation } = await call("command.confirm", { block_id: id });
    const splices = [{ at: 0, del: "", ins: "x" }];
    await kernel.writeBlock(id, { agent: "claude", plan: (draft) => draft.splice(id, splices) });
    await untouched(await run(id, confirmation), "conflict");
  });

  it("[D9] [R46] one whose folder is another by now", async () => {
    const link = join(folder, "link");
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(root, link);
    const id = await command(`touch ${marker}`, { cwd: link });
    const shown = await call("command.confirm", { block_id: id });
    expect(shown.cwd).toBe(root);
    rmSync(link);
    symlinkSync(join(folder, "elsewhere"), link);
    await untouched(await run(id, shown.confirmation), "conflict");
    const gone = await command("true", { cwd: join(folder, "gone") });
    await untouched(await call("command.confirm", { block_id: gone }), "not_found");
  });

  it("[D9] [R46] from an agent or a viewer, with or without a confirmation", async () => {
    const id = await command(`touch ${marker}`, { cwd: root });
    const { confirmation } = await call("command.confirm", { block_id: id });
    for (const role of ["agent", "viewer"] as const) {
      await untouched(await call("command.confirm", { block_id: id }, role), "forbidden");
      await untouched(await run(id, confirmation, role), "forbidden");
      await untouched(await call("command.stop", { block_id: id }, role), "forbidden");
    }
  });

  it("[D9] blocks that are no commands", async () => {
    const block = await kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => draft.create({ kind: "text", role: "model", text: "rm -rf /", status: "done" }),
    });
    await untouched(await call("command.confirm", { block_id: (block as Block).id }), "invalid");
    await untouched(await call("command.confirm", { block_id: `${conversation}/x/999` }), "not_found");
  });

  it("[D9] [R46] one older than a minute, whatever the wall clock says", async () => {
    const env = new VirtualEnv(1);
    const confirmations = new Confirmations(env);
    const subject = { by: "ann", block: "b", version: 1, command: "c", cwd: "", folder: "/", sandbox: "s" };
    const late = confirmations.make(subject).confirmation;
    const early = confirmations.make(subject).confirmation;
    await env.advance(CONFIRM_MS - 1);
    expect(confirmations.take(early, subject)).toBeUndefined();
    await env.advance(1);
    expect(confirmations.take(late, subject)).toMatchObject({ problem: "conflict" });
    const others = confirmations.make(subject).confirmation;
    expect(confirmations.take(others, { ...subject, by: "bob" })).toMatchObject({ problem: "conflict" });
    expect(confirmations.take(others, subject)).toMatchObject({ problem: "conflict" });
  });
});

it.each([
  ["ls -la | grep 'ü' > \"x\" && echo é", undefined],
  ["echo a\necho b", undefined],
  ["a\tb", "a⟨U+0009⟩b"],
  ["safe\rrm -rf ~", "safe⟨U+000D⟩rm -rf ~"],
  ["\u001b[8mhidden\u001b[0m", "⟨U+001B⟩[8mhidden⟨U+001B⟩[0m"],
  ["\u009b2J\u0007\u007f", "⟨U+009B⟩2J⟨U+0007⟩⟨U+007F⟩"],
  ["\u001b]52;c;aGk=\u0007", "⟨U+001B⟩]52;c;aGk=⟨U+0007⟩"],
  ["echo \u202Etxt.exe", "echo ⟨U+202E⟩txt.exe"],
  ["l\u200Bs \u2066x\u2069\uFEFF", "l⟨U+200B⟩s ⟨U+2066⟩x⟨U+2069⟩⟨U+FEFF⟩"],
  ["rm\u00A0-rf\u3000x\u2028y", "rm⟨U+00A0⟩-rf⟨U+3000⟩x⟨U+2028⟩y"],
  ["a\u3164b\u{E0041}", "a⟨U+3164⟩b⟨U+E0041⟩"],
  [`true${" ".repeat(5_000)}; rm x`, "true⟨U+0020 ×5000⟩; rm x"],
  [`true${"\n".repeat(200)}rm x`, "true⟨U+000A ×200⟩rm x"],
  ["echo ⟨U+202E⟩", "echo ⟨U+27E8⟩U+202E⟨U+27E9⟩"],
])("[D9] %j is shown as what it is", (text, expected) => {
  expect(visible(text)).toBe(expected ?? text);
});
