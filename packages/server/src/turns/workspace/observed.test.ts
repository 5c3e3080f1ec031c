/** What commands change in a folder, with a real repository: seen once, without touching what git keeps. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem, Kernel, MemoryStore, metadataOf, VirtualEnv } from "@blockyard/kernel";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findCommand } from "../../processes/child.ts";
import type { TurnStart } from "../run.ts";
import { WorkspaceObserver } from "./observed.ts";

const hasGit = findCommand("git", process.env["PATH"]) !== undefined;
const missing = hasGit ? "" : " (not run: git is not installed)";

let folder: string;
let kernel: Kernel;
let start: TurnStart;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-observed-"));
  kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = await kernel.createConversation("ann", "");
  if (isProblem(conversation)) throw new Error(conversation.message);
  start = { id: "turn-1", request: { conversation, provider: "claude", prompt: "" }, by: "ann", prompt: "" };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: string[]): string {
  const who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
  return execFileSync("git", [...who, ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" });
}

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function repository(): void {
  git("init", "-q");
  write("kept.txt", "as it was\n");
  write("tracked.txt", "one\ntwo\nthree\n");
  write("gone.txt", "bye\n");
  write(".gitignore", "built/\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  // An older time than any write of the test: what changes within a tick of the clock is seen too.
  for (const path of ["kept.txt", "tracked.txt", "gone.txt"]) utimesSync(join(folder, path), 1, 1);
  git("update-index", "--refresh");
}

async function block(kind: "command" | "file_change", metadata: object): Promise<void> {
  const made = await kernel.write(start.request.conversation, {
    agent: "claude",
    plan: (draft) =>
      draft.create({
        kind,
        role: "tool",
        status: "done",
        text: "",
        metadata: { turn: start.id, ...metadata },
      }),
  });
  if (isProblem(made)) throw new Error(made.message);
}

/** What is shown after the turn: a line for each file, with the changed lines of its diff. */
async function seen(during: () => void, isCommand = true): Promise<readonly string[] | undefined> {
  const observer = new WorkspaceObserver(kernel, folder, process.env);
  const compare = await observer.watch(start);
  during();
  if (isCommand) await block("command", { command: "make" });
  await compare();
  const blocks = await kernel.blocks({
    ...{ conversation: start.request.conversation, kinds: ["file_change"], order: "last", limit: 10 },
  });
  if (isProblem(blocks)) throw new Error(blocks.message);
  const found = blocks.find(({ kind, metadata }) => kind === "file_change" && metadata.observed);
  if (!found) return undefined;
  return metadataOf(found, "file_change").changes.map(({ path, kind, diff = "" }) => {
    const lines = diff.split("\n").filter((line) => /^[+-](?![+-]{2} )/.test(line));
    return [kind, path, ...lines].join(" ");
  });
}

it.skipIf(!hasGit)(
  `[D95] shows what was added, changed and deleted, and nothing else${missing}`,
  async () => {
    repository();
    write("dirty.txt", "mine\n");
    const index = readFileSync(join(folder, ".git/index"));
    const found = await seen(() => {
      write("tracked.txt", "one\n2\nthree\n");
      write("dirty.txt", "mine\nand the command's\n");
      write("new/file.txt", "hello\n");
      write("built/output.txt", "not looked at\n");
      rmSync(join(folder, "gone.txt"));
    });
    expect(found).toEqual([
      "modify dirty.txt +and the command's",
      "delete gone.txt -bye",
      "add new/file.txt +hello",
      "modify tracked.txt -two +2",
    ]);
    expect(readFileSync(join(folder, ".git/index"))).toEqual(index);
  },
);

it.skipIf(!hasGit)(
  `[D95] [D96] a turn that the agent has begun by itself in this one belongs to it; the next one that is asked for does not${missing}`,
  async () => {
    repository();
    const begin = (id: string, startedAt: number, endedAt: number) =>
      kernel.write(start.request.conversation, {
        agent: "claude",
        plan: (draft) => {
          const by = { provider: "claude", agent: "claude", startedBy: "ann" } as const;
          draft.setTurn({ id, ...by, status: "done", startedAt, endedAt });
          return null;
        },
      });
    await begin("turn-1", 10, 30);
    await begin("turn-2", 20, 30);
    await begin("turn-3", 30, 40);
    const during = () => {
      rmSync(join(folder, "gone.txt"));
      write("tracked.txt", "one\n2\nthree\n");
    };
    const shown = (turn: string, path: string) =>
      block("file_change", { turn, changes: [{ path: join(folder, path), kind: "modify", diff: "" }] });
    await shown("turn-2", "tracked.txt");
    await shown("turn-3", "gone.txt");
    await block("command", { turn: "turn-2", command: "rm gone.txt" });
    expect(await seen(during, false)).toEqual(["delete gone.txt -bye"]);
  },
);

it.skipIf(!hasGit)(`[D95] leaves out what the agent has shown itself${missing}`, async () => {
  repository();
  await block("file_change", { changes: [{ path: join(folder, "tracked.txt"), kind: "modify", diff: "" }] });
  expect(await seen(() => write("tracked.txt", "other\n"))).toBeUndefined();
});

it.skipIf(!hasGit)(
  `[D95] is silent where no command ran, or what was written is what was there${missing}`,
  async () => {
    repository();
    expect(await seen(() => write("tracked.txt", "by hand\n"), false)).toBeUndefined();
    expect(await seen(() => write("kept.txt", "as it was\n"))).toBeUndefined();
  },
);

it.skipIf(!hasGit)(
  `[D95] names what may hold secrets and what is no text, without their content${missing}`,
  async () => {
    repository();
    const found = await seen(() => {
      write(".env", "KEY=secret\n");
      writeFileSync(join(folder, "picture.bin"), Buffer.from([0, 1, 2]));
    });
    expect(found).toEqual(["add .env", "add picture.bin"]);
  },
);

it.skipIf(!hasGit)(`[D95] runs nothing that the folder configures${missing}`, async () => {
  repository();
  const marker = join(folder, "..", `${folder.split("/").at(-1)}-ran`);
  write("trap.sh", `#!/bin/sh\ntouch ${marker}\ncat\n`);
  chmodSync(join(folder, "trap.sh"), 0o755);
  git("config", "core.fsmonitor", join(folder, "trap.sh"));
  git("config", "filter.trap.clean", join(folder, "trap.sh"));
  git("config", "filter.trap.smudge", join(folder, "trap.sh"));
  write(".gitattributes", "*.txt filter=trap diff=trap\n");
  await seen(() => write("tracked.txt", "changed\n"));
  expect(() => readFileSync(marker)).toThrow();
});

it.skipIf(!hasGit)(`[D95] fetches nothing that the repository lacks${missing}`, async () => {
  repository();
  const marker = join(folder, "..", `${folder.split("/").at(-1)}-fetched`);
  const object = git("rev-parse", "HEAD:tracked.txt").trim();
  rmSync(join(folder, ".git/objects", object.slice(0, 2), object.slice(2)));
  write("trap.sh", `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(join(folder, "trap.sh"), 0o755);
  for (const [name = "", value = ""] of [
    ["core.repositoryformatversion", "1"],
    ["extensions.partialClone", "origin"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.url", `ext::${join(folder, "trap.sh")}`],
    ["protocol.ext.allow", "always"],
  ])
    git("config", name, value);
  expect(await seen(() => write("tracked.txt", "changed\n"))).toContain("modify tracked.txt");
  expect(() => readFileSync(marker)).toThrow();
});

it.skipIf(!hasGit)(
  `[D95] looks at nothing outside of the folder, whatever links and names lead there${missing}`,
  async () => {
    const outside = mkdtempSync(join(tmpdir(), "blockyard-outside-"));
    writeFileSync(join(outside, "notes.txt"), "private\n");
    repository();
    write("docs/notes.txt", "ours\n");
    git("add", "-A");
    git("commit", "-qm", "second");
    const found = await seen(() => {
      rmSync(join(folder, "docs"), { recursive: true });
      symlinkSync(outside, join(folder, "docs"));
    });
    expect(found?.join()).not.toContain("private");
    expect(found).toContain("delete docs/notes.txt -ours");
    rmSync(outside, { recursive: true });
  },
);

it("[D95] a folder without a repository is not looked at", async () => {
  expect(await seen(() => write("a.txt", "a\n"))).toBeUndefined();
});
