/** The tools of files: their inputs, who may call them, what they answer. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  type Call,
  Cursors,
  callIn,
  coreTools,
  inlineMatcher,
  isProblem,
  makeTable,
  type Tool,
} from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { nodeEnv } from "../system/env.ts";
import { Lab } from "../testing/lab.ts";
import { filePort } from "./file-open.ts";
import { fileTools } from "./tools.ts";

let lab: Lab;
let cursors: Cursors | undefined;
afterEach(async () => {
  cursors?.close();
  cursors = undefined;
  await lab.stop();
});

type Answer = Record<string, unknown>;

async function call(name: string, input: unknown, role: Call["caller"]["role"] = "agent"): Promise<Answer> {
  const table = makeTable([...coreTools, ...fileTools(lab.files)] as readonly Tool[]);
  cursors ??= new Cursors(lab.kernel);
  const caller = { agent: role === "agent" ? "codex" : "ann", role };
  const made: Call = {
    kernel: lab.kernel,
    caller,
    matcher: inlineMatcher(() => nodeEnv.monotonic()),
    cursors,
    files: filePort(lab.files),
  };
  const answer = await callIn(table, made, name, input);
  if (!isProblem(answer)) {
    const parsed = table.find(name)?.output.safeParse(answer);
    expect(parsed?.error?.message).toBeUndefined();
    expect(parsed?.data).toEqual(answer);
  }
  return answer as Answer;
}

describe("the tools of files", () => {
  it("[F1] open, edit, save and read a file", async () => {
    lab = await Lab.start();
    lab.put("src/a.ts", "one\ntwo\nthree\n");
    const opened = await call("file.open", { path: "src/a.ts" });
    expect(opened).toMatchObject({
      path: "src/a.ts",
      dirty: false,
      exists: true,
      conflict: null,
      created: false,
    });
    const id = opened["block_id"];
    const operations = [{ op: "replace", start_line: 1, end_line: 2, content: "2", expected_text: "two" }];
    expect(await call("block.edit", { block_id: id, operations })).toMatchObject({
      version: expect.any(Number),
    });
    expect(await call("file.status", { path: "src/a.ts" })).toMatchObject({ files: [{ dirty: true }] });
    expect(await call("file.list", { path: "src" })).toMatchObject({
      entries: [{ path: "src/a.ts", block_id: id, dirty: true, conflict: false }],
    });
    expect(await call("file.flush", { block_id: id })).toMatchObject({
      files: [{ block_id: id, dirty: false }],
    });
    expect(lab.disk("src/a.ts")).toBe("one\n2\nthree\n");
    expect(await call("block.undo", { block_id: id })).toMatchObject({ units: [{}] });
    expect(await call("file.flush", {})).toMatchObject({ files: [{ block_id: id, dirty: false }] });
    expect(lab.disk("src/a.ts")).toBe("one\ntwo\nthree\n");
    expect(await call("file.flush", {})).toEqual({ files: [] });
  });

  it("[F29] block.create makes the file itself, under the checks of file.open, or nothing", async () => {
    lab = await Lab.start();
    const file = (path: string, content?: string, more: object = {}) => ({
      ...{ kind: "file", role: "tool", metadata: { path } },
      ...(content === undefined ? {} : { content }),
      ...more,
    });
    const made = await call("block.create", file("src/new.ts", "one\n"));
    expect(made).toMatchObject({ block_id: expect.stringContaining("/disk/"), status: "running" });
    expect(lab.disk("src/new.ts")).toBe("one\n");
    expect(await call("file.open", { path: "src/new.ts" })).toMatchObject({ block_id: made["block_id"] });
    const again = await call("block.create", file("src/new.ts", "two\n"));
    expect(again).toMatchObject({ problem: "conflict", details: { block_id: made["block_id"] } });
    expect(lab.disk("src/new.ts")).toBe("one\n");
    expect(await call("block.create", file("src/new.ts"))).toMatchObject({ block_id: made["block_id"] });
    for (const path of ["../outside/a", ".git/config", "/etc/passwd", "home/token"])
      expect(await call("block.create", file(path, "x"))).toHaveProperty("problem");
    expect(await call("block.create", file(".envrc", "x"))).toMatchObject(
      await call("file.open", { path: ".envrc", create: true, content: "x" }),
    );
    const { conversation } = await call("conversation.create", {});
    expect(await call("block.create", file("b.ts", "x", { conversation }))).toMatchObject({
      problem: "invalid",
    });
    expect(lab.disk("b.ts")).toBeUndefined();
    const files = await call("block.list", { kind: "file" });
    expect(files["blocks"]).toHaveLength(1);
    // A copy is no file either: nobody would save it.
    const copy = await call("conversation.fork", { block_id: made["block_id"], into_new: true });
    expect(await call("block.read", { block_id: copy["head"] })).toMatchObject({
      kind: "code",
      metadata: { filename: "src/new.ts", language: "typescript" },
    });
  });

  it("[F2] make a file, whose first text is the caller's own", async () => {
    lab = await Lab.start();
    const made = await call("file.open", { path: "new.md", create: true, content: "# New\n" });
    expect(made).toMatchObject({ created: true, dirty: false });
    expect(lab.disk("new.md")).toBe("# New\n");
    expect(await call("block.undo", { block_id: made["block_id"] })).toMatchObject({
      units: [{ deleted: 6 }],
    });
    expect(await call("file.open", { path: "new.md", create: true, content: "other" })).toMatchObject({
      created: false,
    });
  });

  it("[F16] show a conflict with the disk's version, and resolve it", async () => {
    lab = await Lab.start();
    lab.put("a.txt", "a\nb\nc\n");
    const { block_id } = await call("file.open", { path: "a.txt" });
    await lab.edit(block_id as string, "b", "mine");
    lab.put("a.txt", "a\ntheirs\nc\n");
    const status = await call("file.status", { block_id, disk_content: true });
    const hash = (status["disk"] as Answer)["hash"];
    expect(status).toMatchObject({
      files: [
        {
          dirty: true,
          conflict: {
            kind: "overlap",
            disk_hash: hash,
            regions: [{ line: 1, lines: 1, disk_line: 1, disk_lines: 1 }],
          },
        },
      ],
      disk: { content: "a\ntheirs\nc\n", more: false },
    });
    expect(await call("file.status", { unsaved: true })).toMatchObject({ files: [{ path: "a.txt" }] });
    expect(await call("file.resolve", { block_id, take: "text" })).toMatchObject({ problem: "invalid" });
    const wrong = { block_id, take: "mine", disk_hash: "0".repeat(64) };
    expect(await call("file.resolve", wrong)).toMatchObject({
      problem: "stale",
      details: { disk_hash: hash },
    });
    const merged = { path: "a.txt", take: "text", content: "a\nmine\ntheirs\nc\n", disk_hash: hash };
    expect(await call("file.resolve", merged)).toMatchObject({ dirty: false, conflict: null });
    expect(lab.disk("a.txt")).toBe("a\nmine\ntheirs\nc\n");
  });

  it("[F17] report that a file is gone", async () => {
    lab = await Lab.start();
    lab.put("a.txt", "a\n");
    const { block_id } = await call("file.open", { path: "a.txt" });
    rmSync(join(lab.root, "a.txt"));
    const now = await lab.until(block_id as string, (block) => block.metadata["missing"] === true);
    expect(now).toBeUndefined();
    expect(await call("file.status", { block_id, disk_content: true })).toMatchObject({
      files: [{ exists: false, dirty: false }],
      disk: { hash: null, content: null },
    });
  });

  it("[F5] a viewer lists and reads, no more; agents need the owner for files that other programs run", async () => {
    lab = await Lab.start();
    lab.put("a.txt", "a\n");
    lab.put("package.json", "{}\n");
    lab.put(".vscode/tasks.json", "{}\n");
    for (const name of ["file.open", "file.flush", "file.resolve"])
      expect(await call(name, { path: "a.txt", take: "mine" }, "viewer")).not.toMatchObject({ version: 1 });
    expect(await call("file.open", { path: "a.txt" }, "viewer")).toMatchObject({ problem: "forbidden" });
    expect(await call("file.flush", {}, "viewer")).toMatchObject({ problem: "forbidden" });
    expect(await call("file.resolve", { path: "a.txt", take: "mine" }, "viewer")).toMatchObject({
      problem: "forbidden",
    });
    expect(await call("file.list", {}, "viewer")).toMatchObject({ more: false });
    expect(await call("file.status", {}, "viewer")).toEqual({ files: [], more: false });
    for (const path of ["package.json", ".vscode/tasks.json", ".env"]) {
      const create = path === ".env";
      expect(await call("file.open", { path, create })).toMatchObject({ problem: "forbidden" });
      const { block_id } = await call("file.open", { path, create }, "owner");
      expect(await call("file.open", { path })).toMatchObject({ problem: "forbidden" });
      for (const name of ["file.status", "file.flush", "file.resolve"])
        expect(
          await call(name, name === "file.resolve" ? { block_id, take: "mine" } : { block_id }),
        ).toMatchObject({ problem: "forbidden" });
    }
    expect(lab.disk(".env")).toBe("");
  });

  it("answer with the error, whoever is named", async () => {
    lab = await Lab.start();
    const rows: readonly (readonly [string, unknown, string])[] = [
      ["file.open", { path: "../x" }, "forbidden"],
      ["file.open", { path: "not-there" }, "not_found"],
      ["file.open", {}, "invalid"],
      ["file.open", { path: "x".repeat(5_000) }, "too_large"],
      ["file.list", { path: "/etc" }, "forbidden"],
      ["file.status", { path: "not-open" }, "not_found"],
      ["file.status", { block_id: "abc/def/1" }, "not_found"],
      ["file.status", { block_id: "what" }, "not_found"],
      ["file.flush", { path: ".git/config" }, "forbidden"],
      ["file.resolve", { take: "mine" }, "invalid"],
    ];
    for (const [name, input, code] of rows)
      expect([name, input, (await call(name, input))["problem"]]).toEqual([name, input, code]);
  });
});
