/** Child processes: their environment, how they end, what they leave. Whole turns are in test/e2e/lifecycle. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { Child, type ChildEnd } from "./child.ts";
import { findMarked, killMarked, withMark } from "./child-mark.ts";
import { homeMark, ProcessTracker } from "./process-tracker.ts";

const home = mkdtempSync(join(tmpdir(), "blockyard-child-"));
const tracker = new ProcessTracker(home);
const env = { PATH: "/usr/bin:/bin", GIVEN: "yes", BLOCKYARD_TOKEN: "secret", BLOCKYARD_CLAUDE: "/x" };
const WAIT = { timeout: 10_000, interval: 5 };
afterAll(async () => {
  await tracker.close();
  rmSync(home, { recursive: true });
});

function start(script: string): Child {
  const spec = { file: "/bin/sh", args: ["-c", script], cwd: home, env };
  return new Child(spec, tracker, { graceMs: 100 });
}

async function run(child: Child): Promise<{ end: ChildEnd; out: string }> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of child.output()) chunks.push(chunk);
  return { out: Buffer.concat(chunks).toString("utf8"), end: await child.ended };
}

describe("a child", () => {
  it("[D1] gives its output, its code and the end of its errors", async () => {
    const { out, end } = await run(start("echo out; echo err >&2; exit 3"));
    expect(out).toBe("out\n");
    expect(end).toEqual({ code: 3, signal: null, stderr: "err\n" });
  });

  it("[D1] gives its output also to a reader that comes after its end", async () => {
    const child = new Child({ file: "/bin/sh", args: ["-c", "echo out"], cwd: home, env }, tracker);
    await vi.waitFor(async () => expect(await tracker.living()).toEqual([]), WAIT);
    for (let i = 0; i < 5; i++) await new Promise(setImmediate); // until Node has noticed its end
    expect((await run(child)).out).toBe("out\n");
  });

  it.each([
    ["that reads nothing", "exec sleep 60", 400, "SIGKILL", "It was ended: it did not read its input.\n"],
    ["that reads everything", "cat >/dev/null", 100, null, ""],
    ["that reads nothing of a little", "exec sleep 0.2", 2, null, ""],
  ])("[AC270] %s is written to within a limit", async (_, script, lines, signal, stderr) => {
    const spec = { file: "/bin/sh", args: ["-c", script], cwd: home, env };
    const child = new Child(spec, tracker, { graceMs: 100, unreadBytes: 1024 * 1024 });
    for (let i = 0; i < lines; i++) child.write("x".repeat(10 * 1024));
    child.closeInput();
    expect(await child.ended).toMatchObject({ signal, stderr });
  });

  it("[D5] sees the environment without what is the server's own", async () => {
    const { out } = await run(start("env"));
    expect(out).toContain("GIVEN=yes");
    expect(out).not.toContain("secret");
    expect(out.match(/BLOCKYARD_\w+/g)).toEqual(["BLOCKYARD_CHILD"]);
  });

  it("[D1] that cannot be started has ended", async () => {
    const child = new Child({ file: join(home, "no"), args: [], cwd: home, env }, tracker);
    expect((await run(child)).end).toMatchObject({ code: null, failed: expect.stringContaining("ENOENT") });
  });

  it("[D1] has ended even if a later step fails, and reports that", async () => {
    const onGone = () => {
      throw new Error("nothing was put back");
    };
    const spec = { file: "/bin/sh", args: ["-c", "exit 3"], cwd: home, env, onGone };
    const { end } = await run(new Child(spec, tracker));
    expect(end).toMatchObject({ code: 3, stderr: expect.stringContaining("nothing was put back") });
  });

  it("[D2] takes its children with it, in its group or out of it", async () => {
    const child = start("setsid sleep 100 >/dev/null 2>&1 & sleep 100 & echo started; wait");
    for await (const _ of child.output()) {
      // A process that is just executing another program shows nothing of itself for a moment.
      await vi.waitFor(async () => expect((await tracker.living()).length).toBeGreaterThanOrEqual(3), WAIT);
      child.kill();
    }
    expect((await child.ended).signal).toBe("SIGKILL");
    expect(await tracker.living()).toEqual([]);
  });

  it("[D2] [D4] that ignores signals is killed", async () => {
    const child = start("trap '' INT TERM; echo ready; while :; do sleep 1; done");
    for await (const _ of child.output()) child.stop();
    expect((await child.ended).signal).toBe("SIGKILL");
    expect(await tracker.living()).toEqual([]);
  });
});

describe("marks", () => {
  it("[D3] an earlier life's processes are killed before anything is started", async () => {
    const child = start("sleep 100");
    const later = new ProcessTracker(home);
    const again = new ProcessTracker(home); // whichever of the two comes first has something to kill
    expect((await later.swept) + (await again.swept)).toBeGreaterThanOrEqual(1);
    expect((await child.ended).signal).toBe("SIGKILL");
  });

  it("[D2] only whole names count, and an outer server's mark stays", async () => {
    expect(withMark({ A: "1" }, "x.y")).toEqual({ A: "1", BLOCKYARD_CHILD: "x.y" });
    expect(withMark(withMark({}, "outer.1"), "inner.2")).toEqual({ BLOCKYARD_CHILD: "outer.1 inner.2" });
    const child = start("echo ready; sleep 100");
    for await (const _ of child.output()) {
      const mark = homeMark(home);
      expect(await findMarked(mark.slice(0, -1))).toEqual([]);
      expect((await findMarked(mark)).length).toBeGreaterThanOrEqual(1);
      expect(await killMarked(mark)).toBeGreaterThanOrEqual(1);
    }
    expect((await child.ended).signal).toBe("SIGKILL");
  });
});
