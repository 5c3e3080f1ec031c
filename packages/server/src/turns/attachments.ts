/**
 * Attachments: a message's files and pictures. Each becomes a block before the prompt (a file as `code`, a picture as `image`), so
 * that it can be seen, searched, edited and forked like any block; the agent gets it in the form that it accepts.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContextBlock, Draft, Store, WholeBlock } from "@blockyard/kernel";
import {
  type BlockId,
  isProblem,
  type PictureSize,
  type Problem,
  pictureSize,
  problem,
} from "@blockyard/kernel/plain";
import { PICTURE_BYTES } from "../ingest/limits.ts";
import { mediaTypeOf } from "../ingest/pictures.ts";
import type { Attachment } from "./contract.ts";
import { ATTACHED_CHARS } from "./limits.ts";

/** A picture as bytes, with its name. */
export interface Picture {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

interface AttachedFile {
  readonly name: string;
  readonly text: string;
}

/** What an agent in a child process is given. */
export interface Attached {
  readonly files: readonly AttachedFile[];
  readonly pictures: readonly Picture[];
}

export const NOTHING_ATTACHED: Attached = { files: [], pictures: [] };

/** Whether they can be sent, before anything is written. */
export async function checkAttachments(
  store: Store,
  attachments: readonly Attachment[],
): Promise<Problem | undefined> {
  const chars = attachments.reduce((sum, each) => sum + (each.type === "text" ? each.text.length : 0), 0);
  if (chars > ATTACHED_CHARS)
    return problem(
      "too_large",
      `the files of one message are limited to ${ATTACHED_CHARS} characters; these have ${chars}`,
      {
        chars,
        max_chars: ATTACHED_CHARS,
      },
    );
  const attached = await readAttachments(store, attachments);
  return isProblem(attached) ? attached : undefined;
}

export async function readAttachments(
  store: Store,
  attachments: readonly Attachment[],
): Promise<Attached | Problem> {
  const pictures: Picture[] = [];
  const files: AttachedFile[] = [];
  for (const each of attachments) {
    if (each.type === "text") {
      files.push(each);
      continue;
    }
    const kept = await store.blob(each.blob);
    if (!kept) return problem("not_found", `the picture ${each.name} was not found: upload it again`);
    pictures.push({ name: each.name, mediaType: kept.mediaType, bytes: kept.bytes });
  }
  return { files, pictures };
}

/** How large the pictures of a message are, by their blobs. */
export async function attachedSizes(
  store: Store,
  attachments: readonly Attachment[],
): Promise<ReadonlyMap<string, PictureSize>> {
  const sizes = new Map<string, PictureSize>();
  for (const each of attachments) {
    const kept = each.type === "image" ? await store.blob(each.blob) : undefined;
    const size = kept && pictureSize(kept.bytes);
    if (size && each.type === "image") sizes.set(each.blob, size);
  }
  return sizes;
}

/** Blocks of a message, one behind the other; the last one, for the prompt to follow. */
export function writeAttachments(
  draft: Draft,
  turn: string,
  attachments: readonly Attachment[],
  parent: BlockId | null | undefined,
  sizes: ReadonlyMap<string, PictureSize>,
): BlockId | null | undefined | Problem {
  let last = parent;
  for (const each of attachments) {
    const above = last === undefined ? {} : { parent: last };
    const said = { role: "user" as const, side: false, status: "done" as const, ...above };
    const block =
      each.type === "text"
        ? draft.create({ ...said, kind: "code", text: each.text, metadata: { turn, filename: each.name } })
        : draft.create({
            ...said,
            kind: "image",
            text: each.name,
            metadata: { turn, blob: each.blob, ...sizes.get(each.blob) },
          });
    if (isProblem(block)) return block;
    last = block.id;
  }
  return last;
}

/** A file as an agent reads it. */
export function fileText({ name, text }: AttachedFile): string {
  return `Attached file ${name}:\n\n${text}`;
}

/** Pictures as files, for an agent that takes paths; `remove` when it has ended. */
export function pictureFiles(pictures: readonly Picture[]): { paths: readonly string[]; remove: () => void } {
  if (pictures.length === 0) return { paths: [], remove: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), "blockyard-pictures-"));
  const paths = pictures.map(({ mediaType, bytes }, i) => {
    const path = join(folder, `${i + 1}.${mediaType.slice("image/".length)}`);
    writeFileSync(path, bytes, { mode: 0o600 });
    return path;
  });
  return { paths, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The picture that an image block shows, where it is one that agents take. */
export async function pictureIn(
  store: Store,
  { kind, text, metadata }: WholeBlock,
): Promise<Picture | undefined> {
  const { blob, data } = metadata;
  if (kind !== "image") return undefined;
  const kept = typeof blob === "string" ? (await store.blob(blob))?.bytes : undefined;
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : kept && Buffer.from(kept);
  const mediaType = bytes && bytes.length <= PICTURE_BYTES ? mediaTypeOf(bytes) : undefined;
  return bytes && mediaType ? { name: text, mediaType, bytes } : undefined;
}

/** A context whose pictures hold their data, for those that are sent in words. */
export async function withPictures(
  store: Store,
  context: readonly ContextBlock[],
): Promise<readonly ContextBlock[]> {
  return Promise.all(
    context.map(async (each) => {
      const { blob, data } = each.block.metadata;
      if (each.block.kind !== "image" || typeof blob !== "string" || data !== undefined) return each;
      const kept = await store.blob(blob);
      if (!kept) return each;
      const picture = { mediaType: kept.mediaType, data: Buffer.from(kept.bytes).toString("base64") };
      return { ...each, block: { ...each.block, metadata: { ...each.block.metadata, ...picture } } };
    }),
  );
}
