/**
 * Every recording compared with its golden: a readable text of the blocks, beside the recording. `UPDATE_GOLDENS=1`
 * rewrites them; then read the diff.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bytesOf, logFilesOf, logs, type Recording, streams } from "../../../test/recordings.ts";
import { type Folded, fold } from "./fold.ts";
import { normalize } from "./normalize.ts";
import { providers } from "./registry.ts";
import { type TreeOptions, treeText } from "./tree.ts";

const isUpdating = process.env["UPDATE_GOLDENS"] === "1";

const options: TreeOptions = {
  textChars: 4096,
  valueChars: 600,
  digest: (text) => `sha256 ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`,
  hidden: ["provider", "turn"],
};

function check(recording: Recording, folded: Folded): void {
  expect(folded.faults).toEqual([]);
  const path = `${recording.path.replace(/\.(jsonl|json|sse)$/, "")}.blocks.txt`;
  const actual = treeText(folded, options);
  if (isUpdating) writeFileSync(path, actual);
  expect(existsSync(path), `${path} is missing: UPDATE_GOLDENS=1 writes it`).toBe(true);
  expect(actual).toBe(readFileSync(path, "utf8"));
}

it.each(streams.map((recording) => [recording.name, recording] as const))(
  "[P1] %s is what its golden says",
  (_, recording) => {
    const provider = providers.get(recording.provider);
    if (provider === undefined) throw new Error(`no provider ${recording.provider}`);
    check(recording, normalize(provider, [bytesOf(recording)]));
  },
);

const importable = logs.filter(({ provider }) => providers.get(provider)?.importLog !== undefined);

it.each(importable.map((recording) => [recording.name, recording] as const))(
  "[P2] %s is what its golden says",
  (_, recording) => {
    const importLog = providers.get(recording.provider)?.importLog;
    if (importLog === undefined) throw new Error(`${recording.provider} has no importer`);
    check(recording, fold(importLog(logFilesOf(recording), "run")));
  },
);

it("[P1] every provider has recordings", () => {
  expect([...new Set(streams.map(({ provider }) => provider))].sort()).toEqual([...providers.keys()].sort());
});
