/**
 * `blockyard export`: a conversation as a file. With --redact secrets are taken out; --preview shows which, and writes
 * nothing.
 */

import { randomBytes } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { plural } from "@blockyard/kernel/plain";
import { FORMAT_FILES, FORMATS, type Format } from "../export/format.ts";
import type { Finding } from "../system/redact.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { wholeId } from "./named-id.ts";
import { print, printData, printJson, printNote, safeText } from "./terminal.ts";

const options = {
  home: HOME_OPTION,
  json: JSON_OPTION,
  format: {
    type: "string",
    short: "f",
    value: "FORMAT",
    summary: "html (default), markdown, jsonl or raw",
    choices: FORMATS,
  },
  output: {
    type: "string",
    short: "o",
    value: "FILE",
    summary: "the file to write, - for standard output (default: <id>.<ending>)",
  },
  redact: { type: "boolean", summary: "remove what looks like a key, token or password" },
  preview: { type: "boolean", summary: "show what --redact would remove, and write nothing" },
} as const;

export const exportCommand: Command = {
  name: "export",
  usage: "export <conversation> [-f html|markdown|jsonl|raw] [-o FILE] [--redact] [--preview]",
  summary: "export a conversation to a file that people or another Blockyard can read",
  examples: [
    "blockyard export k3vq2mz                          # k3vq2mz.html, which opens offline",
    "blockyard export k3vq2mz -f markdown -o - | pbcopy",
    "blockyard export k3vq2mz -f jsonl --redact        # readable by blockyard import",
    "blockyard export k3vq2mz --preview                # see what --redact would remove",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "export", options }, args, [
      1,
      1,
      "a conversation's id",
    ]);
    const format = (values.format ?? "html") as Format;
    const findings: Finding[] = [];
    const found = (finding: Finding) => void findings.push(finding);
    const client = await openClient({ home: values.home });
    try {
      const conversation = await wholeId(client, positionals[0] as string);
      const { exportAs } = await import("../export/export.ts");
      const body = exportAs(format, {
        lines: () => client.lines(conversation),
        raw: () => client.raw(conversation),
        redact: values.redact || values.preview ? found : undefined,
      });
      if (values.preview) {
        for await (const _ of body);
        await preview(findings, values.json === true);
        return EXIT.done;
      }
      const file = values.output ?? `${conversation}.${FORMAT_FILES[format].ending}`;
      if (file === "-") await printData(body);
      else await writeWhole(file, body);
      if (values.redact)
        printNote(
          `${plural(findings.length, "secret")} removed. Short passwords, names, addresses and pictures cannot be detected: read the export before you share it.`,
        );
      if (file !== "-")
        await (values.json ? printJson({ file, format, redacted: findings.length }) : print(`${file}\n`));
      return EXIT.done;
    } finally {
      await client.close();
    }
  },
};

/** The file appears when it is complete: a failed export leaves the previous one. A link stays one. */
export async function writeWhole(file: string, body: AsyncIterable<string | Uint8Array>): Promise<void> {
  try {
    const there = await stat(file).catch(() => undefined);
    // A pipe or a device is written to: a file in its place would be the end of it.
    if (there && !there.isFile()) return await writeTo(file, "w", body);
    const place = there ? await realpath(file) : file;
    const temporary = join(dirname(place), `.blockyard-${randomBytes(6).toString("hex")}.part`);
    try {
      await writeTo(temporary, "wx", body);
      await rename(temporary, place);
    } finally {
      await rm(temporary, { force: true }); // if it was moved, there is none
    }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new CommandError(`cannot write ${file} (${code}). Choose another file with -o`);
  }
}

async function writeTo(path: string, flags: string, body: AsyncIterable<string | Uint8Array>): Promise<void> {
  const handle = await open(path, flags, 0o600);
  try {
    // Not write: that may write a part only, as on a disk that is about to be full.
    for await (const piece of body) await handle.writeFile(piece);
    if (flags === "wx") await handle.sync();
  } finally {
    await handle.close();
  }
}

async function preview(findings: readonly Finding[], isJson: boolean): Promise<void> {
  for (const { name, where, sample } of findings) {
    if (isJson) await printJson({ name, where, sample });
    else await print(`${name.padEnd(20)} ${where}  ${safeText(sample)}\n`);
  }
  if (!isJson)
    printNote(
      findings.length === 0
        ? "No secrets found. Only known formats are detected: read the export before you share it."
        : `${plural(findings.length, "finding")}. Only known formats are detected: read the export before you share it.`,
    );
}
