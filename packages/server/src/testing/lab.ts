/**
 * A workspace for tests of files: a folder on the disk with another one beside it that nobody may touch, a kernel in
 * memory, and the files between them. Only tests use it.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Block, isProblem, Kernel, MemoryStore, metadataOf, type Problem } from "@blockyard/kernel";
import type { FileMetadata } from "../files/file-block.ts";
import { Files, type FilesOptions } from "../files/files.ts";
import type { Opening } from "../files/open-file.ts";
import { nodeEnv } from "../system/env.ts";
import type { LogFields } from "../system/log.ts";

export class Lab {
  readonly folder = mkdtempSync(join(tmpdir(), "blockyard-files-"));
  readonly root = join(this.folder, "root");
  readonly outside = join(this.folder, "outside");
  readonly home = join(this.root, "home");
  readonly store = new MemoryStore("epoch");
  readonly logged: { readonly event: string; readonly fields: LogFields | undefined }[] = [];
  readonly #options: Partial<FilesOptions>;
  kernel = new Kernel(nodeEnv, this.store);
  files: Files;

  static async start(options: Partial<FilesOptions> = {}): Promise<Lab> {
    const lab = new Lab(options);
    await lab.files.start();
    return lab;
  }

  private constructor(options: Partial<FilesOptions>) {
    this.#options = options;
    for (const each of [this.root, this.outside, this.home]) mkdirSync(each);
    this.files = this.#make();
  }

  #make(): Files {
    const { kernel, root, home } = this;
    const log = (_level: string, event: string, fields?: LogFields) =>
      void this.logged.push({ event, fields });
    return new Files({ kernel, root, closed: [home], log, ...this.#options });
  }

  async stop(): Promise<void> {
    await this.files.close();
    await this.kernel.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** As after a restart of the process; with `isKilled` nothing of the old one is saved first. */
  async restart({ isKilled = false } = {}): Promise<void> {
    if (isKilled) await this.files.abandon();
    else await this.files.close();
    await this.kernel.close();
    this.kernel = new Kernel(nodeEnv, this.store);
    this.files = this.#make();
    await this.files.start();
  }

  put(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  /** The disk's content; undefined if there is none. */
  disk(path: string): string | undefined {
    const place = join(this.root, path);
    return existsSync(place) ? readFileSync(place, "utf8") : undefined;
  }

  /** When a file is so old that a change of it must show in its times. */
  async settled(path: string): Promise<void> {
    const age = () => Date.now() - statSync(join(this.root, path)).ctimeMs;
    while (age() < 150) await new Promise((soon) => setImmediate(soon));
  }

  /** The id of a path's block. */
  async open(path: string, opening: Partial<Opening> = {}): Promise<string> {
    const opened = await this.files.open(path, { agent: "ann", isOwner: true, ...opening });
    if (isProblem(opened)) throw new Error(`${path}: ${opened.message}`);
    return opened.block.id;
  }

  async refusal(path: string, opening: Partial<Opening> = {}): Promise<Problem> {
    const opened = await this.files.open(path, { agent: "ann", isOwner: true, ...opening });
    if (!isProblem(opened)) throw new Error(`${path} was opened`);
    return opened;
  }

  async block(id: string): Promise<Block> {
    const block = await this.kernel.block(id);
    if (isProblem(block)) throw new Error(block.message);
    return block;
  }

  async metadata(id: string): Promise<FileMetadata> {
    return metadataOf(await this.block(id), "file");
  }

  async text(id: string): Promise<string> {
    const whole = await this.kernel.whole(id);
    if (isProblem(whole)) throw new Error(whole.message);
    return whole.text;
  }

  /** Replaces the first occurrence of a text by another. */
  async edit(id: string, from: string, to: string, agent = "ann"): Promise<void> {
    const done = await this.kernel.writeBlock(id, {
      agent,
      plan: (draft) => {
        const at = draft.text(id).toString().indexOf(from);
        if (at < 0) throw new Error(`${JSON.stringify(from)} is not there`);
        return draft.splice(id, [{ at, del: from, ins: to }]);
      },
    });
    if (isProblem(done)) throw new Error(done.message);
  }

  /** When a block fits, now or after some commit. */
  async until(id: string, fits: (block: Block, text: string) => boolean): Promise<void> {
    const now = async () => fits(await this.block(id), await this.text(id));
    await new Promise<void>((done, failed) => {
      const look = () => {
        now().then((isSo) => {
          if (!isSo) return;
          stop();
          done();
        }, failed);
      };
      const stop = this.kernel.listen(look);
      look();
    });
  }

  /** When everything that was changed in blocks is on the disk. */
  saved(id: string): Promise<void> {
    return this.until(id, (block) => block.version === block.metadata.persistedVersion);
  }
}
