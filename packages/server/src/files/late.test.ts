/** Writes of others between the last check of a file and its replacement, and texts that history has lost. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { afterEach, expect, it } from "vitest";
import { Lab } from "../testing/lab.ts";

let lab: Lab;
afterEach(() => lab.stop());

const TEXT = "a\nb\nc\nd\ne\nf\ng\n";
const SLOW = { bounds: { flushMs: 600_000, flushMostMs: 600_000, lookMs: 600_000 } };

/** Runs something once, right before the file is replaced: at the last check of the folder. */
function beforeReplacing(act: () => void): void {
  const { root } = lab.files;
  const open = root.folder.bind(root);
  let isOver = false;
  root.folder = async (parts, make) => {
    const folder = await open(parts, make);
    if (isProblem(folder)) return folder;
    return {
      ...folder,
      isInPlace: () => {
        if (!isOver) act();
        isOver = true;
        return folder.isInPlace();
      },
    };
  };
}

it.each(["just made", "old"])(
  "[F18] what is written into a file that is %s in the last moment is merged",
  async (age) => {
    lab = await Lab.start(SLOW);
    lab.put("a.txt", TEXT);
    if (age === "old") await lab.settled("a.txt");
    const id = await lab.open("a.txt");
    await lab.edit(id, "b", "mine");
    beforeReplacing(() => writeFileSync(join(lab.root, "a.txt"), TEXT.replace("f", "theirs")));
    expect(await lab.files.flush(id)).toBeUndefined();
    const both = TEXT.replace("b", "mine").replace("f", "theirs");
    expect([await lab.text(id), lab.disk("a.txt")]).toEqual([both, both]);
  },
);

it("[F18] and if it overlaps it is restored, as a conflict", async () => {
  lab = await Lab.start(SLOW);
  lab.put("a.txt", TEXT);
  const id = await lab.open("a.txt");
  await lab.edit(id, "b", "mine");
  beforeReplacing(() => writeFileSync(join(lab.root, "a.txt"), TEXT.replace("b", "theirs")));
  expect(await lab.files.flush(id)).toBeUndefined();
  expect(lab.disk("a.txt")).toBe(TEXT.replace("b", "theirs"));
  expect(await lab.text(id)).toBe(TEXT.replace("b", "mine"));
  expect((await lab.metadata(id)).conflict).toMatchObject({ kind: "overlap" });
  expect(await lab.files.resolve(id, { agent: "ann", take: "mine" })).toBeUndefined();
  expect(lab.disk("a.txt")).toBe(TEXT.replace("b", "mine"));
});

it("[F15] a change here and one there, with a history that does not tell what both had, is a conflict", async () => {
  lab = await Lab.start(SLOW);
  lab.put("a.txt", TEXT);
  const id = await lab.open("a.txt");
  await lab.edit(id, "b", "mine");
  expect(await lab.kernel.compact(id)).toBeUndefined();
  lab.put("a.txt", TEXT.replace("f", "theirs"));
  await lab.restart({ isKilled: true });
  await lab.files.touch(id);
  expect((await lab.metadata(id)).conflict).toMatchObject({
    kind: "overlap",
    regions: [{ line: 0, lines: 7 }],
  });
  expect([await lab.text(id), lab.disk("a.txt")]).toEqual([
    TEXT.replace("b", "mine"),
    TEXT.replace("f", "theirs"),
  ]);
});

it("[F12] a merge that was unsaved when the process died is not merged twice", async () => {
  lab = await Lab.start(SLOW);
  lab.put("a.txt", TEXT);
  const id = await lab.open("a.txt");
  await lab.edit(id, "b", "mine");
  lab.put("a.txt", `${TEXT}theirs\n`);
  await lab.files.touch(id);
  const both = `${TEXT.replace("b", "mine")}theirs\n`;
  await lab.until(id, (_, text) => text === both);
  expect(lab.disk("a.txt")).toBe(`${TEXT}theirs\n`);
  await lab.restart({ isKilled: true });
  await lab.saved(id);
  expect([await lab.text(id), lab.disk("a.txt")]).toEqual([both, both]);
});
