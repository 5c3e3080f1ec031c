/**
 * The workspace's files as blocks: which path is which block, which files are open, when they are looked at and saved. What
 * happens to one file is in open-file.ts, what is written to its block in file-block.ts.
 *
 * Invariant: everything that touches one path goes through its lane, one after the other. A file leaves memory only when
 * nothing of it is unsaved.
 */

import { basename, join } from "node:path";
import {
  type Block,
  type BlockId,
  type Change,
  type ConversationId,
  derivedName,
  isProblem,
  type Kernel,
  legacyName,
  metadataOf,
  type Problem,
  parseBlockId,
  problem,
} from "@blockyard/kernel";
import type { Log } from "../system/log.ts";
import { type Bounds, bounds as usualBounds } from "./bounds.ts";
import { type DiskFile, readDisk, sweepFolder, writeDisk } from "./disk-file.ts";
import { createFile, DISK, replaceText } from "./file-block.ts";
import { FlushClock } from "./flush-clock.ts";
import { GuardedFiles } from "./guarded-files.ts";
import { guardOf } from "./guarded-path.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { type Ending, OpenFile } from "./open-file.ts";
import { OpenSet } from "./open-set.ts";
import { type CleanPath, cleanPath } from "./path.ts";
import { asError, operating, Root } from "./root.ts";
import { Watcher } from "./watcher.ts";

const ID_CHARS = 24;
const LEGACY_CHARS = 16;

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

export interface Opening {
  /** Who writes `content`. */
  readonly agent: string;
  /** Whether the caller may open files that other programs run by themselves. */
  readonly isOwner: boolean;
  readonly create?: boolean;
  readonly content?: string | undefined;
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
  readonly #ids = new Map<string, BlockId>();
  readonly #paths = new Map<BlockId, CleanPath>();
  readonly #open: OpenSet;
  readonly #keyedQueue: KeyedQueue;
  readonly #saves: FlushClock;
  readonly #looks: FlushClock;
  readonly #watcher: Watcher;
  /** Those whose block is newer than the disk; kept so that nobody has to look through all of them. */
  readonly #unsaved = new Set<BlockId>();
  readonly #failures = new Map<BlockId, number>();
  readonly #stopListening: () => void;
  #known: Promise<readonly Block[]> | undefined;
  #conversation: ConversationId;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;
  /** Whether somebody has a block open in an editor. */
  isWatched: (id: BlockId) => boolean = () => false;
  /** Told who has a file come into the store, and how long it is. */
  onOpened: (agent: string, chars: number) => void = () => undefined;

  constructor({ kernel, root, closed, log, bounds, watch }: FilesOptions) {
    this.root = new Root(root, closed);
    this.#conversation = derivedName(this.#name, ID_CHARS);
    this.bounds = { ...usualBounds, ...bounds };
    this.#kernel = kernel;
    this.#log = log;
    this.guarded = new GuardedFiles({
      kernel,
      log,
      conversation: () => this.conversation,
      title: this.#title,
    });
    this.#keyedQueue = new KeyedQueue(this.bounds.atOnce);
    this.#saves = new FlushClock(kernel.env, (id) => void this.flush(id));
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
    this.#stopListening = kernel.listen((told) => this.#onCommit(told));
  }

  /** The conversation that holds the blocks of this workspace's files. */
  get conversation(): ConversationId {
    return this.#conversation;
  }

  get #name(): string {
    return `files:${this.root.path}`;
  }

  get #title(): string {
    return `Files of ${basename(this.root.path)}`;
  }

  /** What was not saved when the last process ended is saved now, and what it left is removed. */
  async start(): Promise<void> {
    for (const block of await this.#recalled()) {
      if (!isUnsaved(block)) continue;
      this.#unsaved.add(block.id);
      this.#saves.ask(block.id, 0, 0);
    }
    const folders = new Set([...this.#paths.values()].map(({ parts }) => parts.slice(0, -1).join("/")));
    this.#sweeping = this.#sweep([...folders].slice(0, this.bounds.sweptFolders));
  }

  // -- what callers ask for

  /** The block of a path. */
  async open(path: string, opening: Opening): Promise<{ block: Block; created: boolean } | Problem> {
    const place = await this.locate(path);
    if (isProblem(place)) return place;
    return this.#alone(place, async () => {
      const known = this.#ids.get(place.name);
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
    await this.#recalled();
    return this.guarded.revoke(path, agent, by);
  }

  /** Where a path leads. */
  async locate(path: string, isRoot = false): Promise<CleanPath | Problem> {
    await this.#recalled();
    const clean = cleanPath(path, isRoot);
    const place = isProblem(clean) ? clean : await this.root.locate(clean);
    if (isProblem(place) || place.parts.length > 0 || isRoot) return place;
    return problem("invalid", `${path} is the workspace root, not a file`, { path });
  }

  /** The block that a path has already. */
  idOf(name: string): BlockId | undefined {
    return this.#ids.get(name);
  }

  /** Blocks of this workspace's files, in the order of their paths. */
  ids(): readonly BlockId[] {
    return [...this.#ids].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, id]) => id);
  }

  /** Those that are not saved. */
  unsaved(): readonly BlockId[] {
    return [...this.#unsaved];
  }

  isFile(id: BlockId): boolean {
    return this.#paths.has(id);
  }

  isOpen(id: BlockId): boolean {
    return this.#open.get(id) !== undefined;
  }

  failureOf(id: BlockId): Problem | undefined {
    return this.#open.get(id)?.failure;
  }

  /** Before a block is read or edited: it is loaded, and what has changed on the disk is in it. */
  async touch(id: BlockId): Promise<void> {
    const path = this.#paths.get(id);
    if (!path || this.#isClosed) return;
    const file = this.#open.get(id);
    if (file && this.#kernel.env.monotonic() - file.lookedAt < this.bounds.freshMs)
      return this.#open.used(file);
    await this.#inLane(id, (open) => open.look());
  }

  /** What the disk has in the place of a file. */
  async disk(id: BlockId): Promise<DiskFile | Problem> {
    const path = this.#paths.get(id);
    if (!path) return notAFile(id);
    return this.#alone(path, async () => {
      const file = await this.#load(id, path);
      return isProblem(file) ? file : file.disk();
    });
  }

  /** Saves now. */
  async flush(id: BlockId): Promise<Problem | undefined> {
    this.#saves.drop(id);
    const refused = await this.#inLane(id, (file) => file.save());
    const file = this.#open.get(id);
    if (file) file.failure = refused;
    const block = await this.#kernel.block(id);
    const isDirty = !isProblem(block) && isUnsaved(block) && !this.#isClosed;
    if (refused && isDirty) this.#retry(id, refused);
    else if (isDirty && block.metadata.conflict === undefined) this.#dueSoon(id);
    if (!refused) this.#failures.delete(id);
    return refused;
  }

  async resolve(id: BlockId, ending: Ending): Promise<Problem | undefined> {
    return this.#inLane(id, (file) => file.resolve(ending));
  }

  /** Saves everything that is not saved. */
  async flushAll(): Promise<void> {
    await Promise.all([...this.#unsaved].map((id) => this.flush(id)));
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
    this.#saves.close();
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
    await this.#recalled();
  }

  #recalled(): Promise<readonly Block[]> {
    this.#known ??= this.#recall();
    return this.#known;
  }

  /** The blocks that there are already. */
  async #recall(): Promise<readonly Block[]> {
    const earlier = await this.#kernel.conversation(legacyName(this.#name, LEGACY_CHARS));
    // Earlier versions derived another id. Only one that the server itself has made is taken: texts can be made for such ids.
    if (!isProblem(earlier) && earlier.createdBy === DISK) this.#conversation = earlier.id;
    const record = await this.#kernel.conversation(this.conversation);
    if (!isProblem(record)) this.guarded.take(record);
    const query = { conversation: this.conversation, kinds: ["file"], order: "first", limit: 1e9 } as const;
    const blocks = await this.#kernel.blocks(query);
    if (isProblem(blocks)) {
      this.#known = undefined;
      this.#log("error", "this workspace's files cannot be read", { message: blocks.message });
      return [];
    }
    return blocks.filter((block) => {
      const path = cleanPath(block.metadata.path ?? "");
      if (block.agent !== DISK || isProblem(path)) return false;
      this.#remember(block.id, path);
      return true;
    });
  }

  async #sweep(folders: readonly string[]): Promise<void> {
    let swept = 0;
    for (const name of folders) {
      if (this.#isClosed) return;
      const folder = await this.root.folder(name === "" ? [] : name.split("/"));
      if (isProblem(folder)) continue;
      swept += await sweepFolder(folder);
      await folder.close();
    }
    if (swept > 0) this.#log("info", "removed temporary files that an earlier run left", { swept });
  }

  #onCommit({ conversation, record, blocks }: Change): void {
    if (conversation !== this.conversation || this.#isClosed) return;
    this.guarded.take(record);
    for (const block of blocks) {
      if (!this.#paths.has(block.id)) continue;
      if (!isUnsaved(block)) this.#unsaved.delete(block.id);
      else {
        this.#unsaved.add(block.id);
        if (!this.#failures.has(block.id)) this.#dueSoon(block.id);
      }
    }
  }

  #dueSoon(id: BlockId): void {
    this.#saves.ask(id, this.bounds.flushMs, this.bounds.flushMostMs);
  }

  #retry(id: BlockId, refused: Problem): void {
    const tries = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, tries);
    const delay = Math.min(this.bounds.retryMs * 2 ** (tries - 1), this.bounds.retryMostMs);
    const path = this.#paths.get(id)?.name ?? "";
    if (tries === 1) this.#log("warn", "a file could not be saved", { path, message: refused.message });
    this.#saves.ask(id, delay, delay);
  }

  #changed(folder: string, name: string | undefined): void {
    for (const { id } of this.#open.in(folder, name))
      this.#looks.ask(id, this.bounds.lookMs, this.bounds.lookMs * 10);
  }

  /** A change on the disk is taken in; what it leaves unsaved is saved. */
  async #lookAt(id: BlockId): Promise<void> {
    if (this.#isClosed || !this.isOpen(id)) return;
    const refused = await this.#inLane(id, (file) => file.look());
    const path = this.#paths.get(id)?.name ?? "";
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
    const path = this.#paths.get(id);
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
        plan: (draft) => createFile(draft, this.#title, path, found),
      });
      if (isProblem(block)) return block;
      this.#remember(block.id, path);
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

  #remember(id: BlockId, path: CleanPath): void {
    this.#ids.set(path.name, id);
    this.#paths.set(id, path);
  }

  /** Whether something of it is unsaved, in conflict, or being done. */
  async #isAtWork({ id, path }: OpenFile): Promise<boolean> {
    if (this.#keyedQueue.isBusy(path.name)) return true;
    const block = await this.#kernel.block(id);
    const isSettled = !isProblem(block) && !isUnsaved(block) && block.metadata.conflict === undefined;
    return !isSettled || this.#keyedQueue.isBusy(path.name);
  }
}

export function isUnsaved(block: Block): boolean {
  return block.version > (block.metadata.persistedVersion ?? 0);
}

export function notAFile(id: BlockId): Problem {
  const isId = parseBlockId(id) !== undefined;
  return problem("not_found", `${id} is ${isId ? "not a file of this workspace" : "not a block id"}`, {
    block_id: id,
  });
}

function absent({ name }: CleanPath): Problem {
  return problem("not_found", `${name} does not exist; pass create: true to create it`, { path: name });
}
