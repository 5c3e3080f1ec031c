/**
 * The workspace's files as blocks: which are open, when they are checked and saved. file-index.ts maps paths to blocks,
 * unsaved-files.ts tracks unsaved edits, open-file.ts handles one file, file-block.ts writes to its block.
 *
 * Invariant: everything that touches one path goes through its queue, one after the other. A file leaves memory only
 * when it has no unsaved edits.
 */

import { join } from "node:path";
import {
  type Block,
  type BlockId,
  type Change,
  type ConversationId,
  isProblem,
  type Kernel,
  metadataOf,
  type Problem,
  problem,
} from "@blockyard/kernel";
import type { Log } from "../system/log.ts";
import { type DiskFile, readDisk, sweepFolders, writeDisk } from "./disk-file.ts";
import { createFile, DISK, replaceText } from "./file-block.ts";
import { FileIndex, notAFile } from "./file-index.ts";
import { FlushClock } from "./flush-clock.ts";
import { GuardedFiles } from "./guarded-files.ts";
import { guardOf } from "./guarded-path.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { type Bounds, bounds as usualBounds } from "./limits.ts";
import { type Ending, OpenFile, type Opening } from "./open-file.ts";
import { OpenSet } from "./open-set.ts";
import { type CleanPath, cleanPath } from "./path.ts";
import { asError, operating, Root } from "./root.ts";
import { isUnsaved, UnsavedFiles } from "./unsaved-files.ts";
import { Watcher } from "./watcher.ts";

export interface FilesOptions {
  readonly kernel: Kernel;
  readonly root: string;
  /** Folders that are never opened, such as the server's own. */
  readonly closed: readonly string[];
  readonly log: Log;
  readonly bounds?: Partial<Bounds>;
  /** How folders are watched, where a test has another way. */
  readonly watch?: ConstructorParameters<typeof Watcher>[0]["watch"];
}

interface Opened {
  readonly file: OpenFile;
  readonly created: boolean;
}

export class Files {
  readonly root: Root;
  readonly bounds: Bounds;
  readonly guarded: GuardedFiles;
  readonly #kernel: Kernel;
  readonly #log: Log;
  readonly #index: FileIndex;
  readonly #open: OpenSet;
  readonly #keyedQueue: KeyedQueue;
  readonly #unsaved: UnsavedFiles;
  readonly #looks: FlushClock;
  readonly #watcher: Watcher;
  readonly #stopListening: () => void;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;
  /** Whether somebody has a block open in an editor. */
  isWatched: (id: BlockId) => boolean = () => false;
  /** Told who has a file come into the store, and how long it is. */
  onOpened: (agent: string, chars: number) => void = () => undefined;

  constructor({ kernel, root, closed, log, bounds, watch }: FilesOptions) {
    this.root = new Root(root, closed);
    this.bounds = { ...usualBounds, ...bounds };
    this.#kernel = kernel;
    this.#log = log;
    this.#index = new FileIndex({
      ...{ kernel, log, root: this.root.path },
      onRecord: (record) => this.guarded.take(record),
    });
    const { title } = this.#index;
    this.guarded = new GuardedFiles({ kernel, log, title, conversation: () => this.conversation });
    this.#keyedQueue = new KeyedQueue(this.bounds.atOnce);
    this.#unsaved = new UnsavedFiles(kernel.env, this.bounds, (id) => void this.flush(id));
    this.#looks = new FlushClock(kernel.env, (id) => void this.#lookAt(id));
    this.#watcher = new Watcher({
      env: kernel.env,
      bounds: this.bounds,
      onChange: (folder, name) => this.#changed(folder, name),
      onDegrade: (folder, error) =>
        log("warn", "a folder cannot be watched; polling its open files instead", { folder, error }),
      ...(watch ? { watch } : {}),
    });
    this.#open = new OpenSet({
      bounds: this.bounds,
      watcher: this.#watcher,
      placeOf: (file) => join(this.root.path, file.path.name),
      isHeld: async (file) => this.isWatched(file.id) || (await this.#isAtWork(file)),
    });
    this.#stopListening = kernel.listen((change) => this.#onCommit(change));
  }

  /** The conversation that holds the blocks of this workspace's files. */
  get conversation(): ConversationId {
    return this.#index.conversation;
  }

  /** What was not saved when the last process ended is saved now, and what it left is removed. */
  async start(): Promise<void> {
    for (const block of await this.#index.ready()) if (isUnsaved(block)) this.#unsaved.saveNow(block.id);
    this.#sweeping = this.#sweep(this.#index.folders().slice(0, this.bounds.sweptFolders));
  }

  // -- what callers ask for

  /** The block of a path. */
  async open(path: string, opening: Opening): Promise<{ block: Block; created: boolean } | Problem> {
    const place = await this.locate(path);
    if (isProblem(place)) return place;
    return this.#alone(place, async () => {
      const known = this.#index.idOf(place.name);
      const refused = opening.isOwner ? undefined : this.guarded.refusal(place, opening.agent);
      if (refused) return refused;
      const opened =
        known === undefined ? await this.#make(place, opening) : await this.#again(known, place, opening);
      if (isProblem(opened)) return opened;
      const { file, created } = opened;
      const unfilled = created ? await this.#fill(file, opening) : undefined;
      if (unfilled) return unfilled;
      const block = await this.#kernel.block(file.id);
      return isProblem(block) ? block : { block, created };
    });
  }

  async grant(path: string, agent: string | undefined, by: string): Promise<Problem | undefined> {
    const place = await this.locate(path);
    if (isProblem(place)) return place;
    if (guardOf(place) !== undefined) return this.guarded.grant(place, agent, by);
    return problem("invalid", `${place.name} is not guarded: agents may read and edit it`, { path });
  }

  async revoke(path: string, agent: string | undefined, by: string): Promise<Problem | undefined> {
    await this.#index.ready();
    return this.guarded.revoke(path, agent, by);
  }

  /** Where a path leads. */
  async locate(path: string, isRoot = false): Promise<CleanPath | Problem> {
    await this.#index.ready();
    const clean = cleanPath(path, isRoot);
    const place = isProblem(clean) ? clean : await this.root.locate(clean);
    if (isProblem(place) || place.parts.length > 0 || isRoot) return place;
    return problem("invalid", `${path} is the workspace root, not a file`, { path });
  }

  /** The block that a path has already. */
  idOf(name: string): BlockId | undefined {
    return this.#index.idOf(name);
  }

  /** Blocks of this workspace's files, in the order of their paths. */
  ids(): readonly BlockId[] {
    return this.#index.ids();
  }

  /** Those that are not saved. */
  unsaved(): readonly BlockId[] {
    return this.#unsaved.ids();
  }

  isFile(id: BlockId): boolean {
    return this.#index.pathOf(id) !== undefined;
  }

  isOpen(id: BlockId): boolean {
    return this.#open.get(id) !== undefined;
  }

  failureOf(id: BlockId): Problem | undefined {
    return this.#open.get(id)?.failure;
  }

  /** Before a block is read or edited: it is loaded, and what has changed on the disk is in it. */
  async touch(id: BlockId): Promise<void> {
    const path = this.#index.pathOf(id);
    if (!path || this.#isClosed) return;
    const file = this.#open.get(id);
    if (file && this.#kernel.env.monotonic() - file.lookedAt < this.bounds.freshMs)
      return this.#open.used(file);
    await this.#inLane(id, (open) => open.look());
  }

  /** What the disk has in the place of a file. */
  async disk(id: BlockId): Promise<DiskFile | Problem> {
    const path = this.#index.pathOf(id);
    if (!path) return notAFile(id);
    return this.#alone(path, async () => {
      const file = await this.#load(id, path);
      return isProblem(file) ? file : file.disk();
    });
  }

  /** Saves now. */
  async flush(id: BlockId): Promise<Problem | undefined> {
    this.#unsaved.begin(id);
    const refused = await this.#inLane(id, (file) => file.save());
    const file = this.#open.get(id);
    if (file) file.failure = refused;
    const block = await this.#kernel.block(id);
    const isDirty = !isProblem(block) && isUnsaved(block) && !this.#isClosed;
    if (refused && isDirty) this.#retry(id, refused);
    else if (isDirty && block.metadata.conflict === undefined) this.#unsaved.saveSoon(id);
    if (!refused) this.#unsaved.saved(id);
    return refused;
  }

  async resolve(id: BlockId, ending: Ending): Promise<Problem | undefined> {
    return this.#inLane(id, (file) => file.resolve(ending));
  }

  /** Saves everything that is not saved. */
  async flushAll(): Promise<void> {
    await Promise.all(this.unsaved().map((id) => this.flush(id)));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.flushAll();
    await this.abandon();
  }

  /** Begins nothing more, saves included; answers when what is under way has ended. */
  async abandon(): Promise<void> {
    this.#isClosed = true;
    this.#looks.close();
    this.#unsaved.close();
    this.#stopListening();
    this.#watcher.close();
    await this.#keyedQueue.idle();
    await this.#sweeping;
    this.root.close();
  }

  /** What is in memory, for tests and metrics. */
  get counts(): { open: number; chars: number; watched: number; polled: number } {
    return { open: this.#open.size, chars: this.#open.chars, ...this.#watcher.counts };
  }

  // -- what happens by itself

  /** When it is known which paths have blocks. */
  async ready(): Promise<void> {
    await this.#index.ready();
  }

  async #sweep(folders: readonly string[]): Promise<void> {
    const swept = await sweepFolders(this.root, folders, () => this.#isClosed);
    if (swept > 0) this.#log("info", "removed temporary files that an earlier run left", { swept });
  }

  #onCommit({ conversation, record, blocks }: Change): void {
    if (conversation !== this.conversation || this.#isClosed) return;
    this.guarded.take(record);
    for (const block of blocks) if (this.isFile(block.id)) this.#unsaved.take(block);
  }

  #retry(id: BlockId, refused: Problem): void {
    const path = this.#index.pathOf(id)?.name ?? "";
    const tries = this.#unsaved.failed(id);
    if (tries === 1) this.#log("warn", "a file could not be saved", { path, message: refused.message });
  }

  #changed(folder: string, name: string | undefined): void {
    for (const { id } of this.#open.in(folder, name))
      this.#looks.ask(id, this.bounds.lookMs, this.bounds.lookMs * 10);
  }

  /** A change on the disk is taken in; what it leaves unsaved is saved. */
  async #lookAt(id: BlockId): Promise<void> {
    if (this.#isClosed || !this.isOpen(id)) return;
    const refused = await this.#inLane(id, (file) => file.look());
    const path = this.#index.pathOf(id)?.name ?? "";
    if (refused) this.#log("warn", "a changed file could not be merged", { path, message: refused.message });
  }

  // -- one file, in its lane

  /** The boundary of what is done to one file: what the disk refuses, or a bug, ends that and nothing else. */
  #alone<T>({ name }: CleanPath, job: () => Promise<T>): Promise<T | Problem> {
    return this.#keyedQueue.run(name, async () => {
      try {
        return await job();
      } catch (error) {
        const { code, stack } = asError(error);
        if (code !== undefined) return operating(name, asError(error));
        this.#log("error", "internal error with a file", { path: name, error: String(stack) });
        return problem("unavailable", `${name} failed: internal error; see the server's log`);
      }
    });
  }

  async #inLane(
    id: BlockId,
    run: (file: OpenFile) => Promise<Problem | undefined>,
  ): Promise<Problem | undefined> {
    const path = this.#index.pathOf(id);
    if (!path) return notAFile(id);
    return this.#alone(path, async () => {
      const file = await this.#load(id, path);
      if (isProblem(file)) return file;
      return run(file);
    });
  }

  async #load(id: BlockId, path: CleanPath): Promise<OpenFile | Problem> {
    const known = this.#open.get(id);
    if (known) {
      this.#open.used(known);
      return known;
    }
    const file = await OpenFile.load(this.#kernel, this.root, this.bounds, id, path);
    if (!isProblem(file)) this.#open.enter(file);
    return file;
  }

  async #make(path: CleanPath, { create, agent }: Opening): Promise<Opened | Problem> {
    const folder = await this.root.folder(path.parts.slice(0, -1), create === true);
    if (isProblem(folder)) return folder;
    try {
      const name = path.parts.at(-1) as string;
      let disk = await readDisk(folder, name, path.name);
      const created = disk.type === "absent" && create === true;
      if (created) {
        const written = await writeDisk(folder, name, path.name, Buffer.alloc(0), null);
        if (isProblem(written)) return written;
        disk = await readDisk(folder, name, path.name);
      }
      if (disk.type === "absent") return absent(path);
      if (disk.type === "unreadable") return disk.problem;
      const found = disk;
      const block = await this.#kernel.write(this.conversation, {
        agent: DISK,
        create: true,
        plan: (draft) => createFile(draft, this.#index.title, path, found),
      });
      if (isProblem(block)) return block;
      this.#index.add(block.id, path);
      this.onOpened(agent, found.text.length);
      const file = new OpenFile(this.#kernel, this.root, this.bounds, block.id, path, found);
      this.#open.enter(file);
      return { file, created };
    } finally {
      await folder.close();
    }
  }

  /** A path that has a block. Where its file is gone, `create` makes it again, with what the block has. */
  async #again(id: BlockId, path: CleanPath, { create }: Opening): Promise<Opened | Problem> {
    const file = await this.#load(id, path);
    if (isProblem(file)) return file;
    const refused = await file.look();
    if (refused) return refused;
    const block = await this.#kernel.block(id);
    if (isProblem(block)) return block;
    const { missing, conflict } = metadataOf(block, "file");
    if (!missing || !create || conflict !== undefined) return { file, created: false };
    return (await file.remake()) ?? { file, created: true };
  }

  async #fill(file: OpenFile, { agent, content }: Opening): Promise<Problem | undefined> {
    if (content === undefined) return undefined;
    const { id } = file;
    const filled = await this.#kernel.writeBlock(id, {
      agent,
      plan: (draft) => replaceText(draft, id, draft.text(id).toString(), content),
    });
    return isProblem(filled) ? filled : file.save();
  }

  /** Whether something of it is unsaved, in conflict, or being done. */
  async #isAtWork({ id, path }: OpenFile): Promise<boolean> {
    if (this.#keyedQueue.isBusy(path.name)) return true;
    const block = await this.#kernel.block(id);
    const isSettled = !isProblem(block) && !isUnsaved(block) && block.metadata.conflict === undefined;
    return !isSettled || this.#keyedQueue.isBusy(path.name);
  }
}

function absent({ name }: CleanPath): Problem {
  return problem("not_found", `${name} does not exist; pass create: true to create it`, { path: name });
}
