/**
 * Which path of the workspace is which block, as the store has it: read once, kept up to date by whoever makes a block. The
 * blocks are in a conversation of their own, whose id follows from the workspace's path.
 */

import { basename } from "node:path";
import {
  type Block,
  type BlockId,
  type Conversation,
  type ConversationId,
  derivedName,
  isProblem,
  type Kernel,
  legacyName,
  type Problem,
  parseBlockId,
  problem,
} from "@blockyard/kernel";
import type { Log } from "../system/log.ts";
import { DISK } from "./file-block.ts";
import { type CleanPath, cleanPath } from "./path.ts";

const ID_CHARS = 24;
const LEGACY_CHARS = 16;

interface FileIndexOptions {
  readonly kernel: Kernel;
  /** The workspace. */
  readonly root: string;
  readonly log: Log;
  /** The conversation's record, when it is read. */
  readonly onRecord: (record: Conversation) => void;
}

export class FileIndex {
  /** The conversation's title, if it is created here. */
  readonly title: string;
  readonly #options: FileIndexOptions;
  readonly #name: string;
  readonly #ids = new Map<string, BlockId>();
  readonly #paths = new Map<BlockId, CleanPath>();
  #read: Promise<readonly Block[]> | undefined;
  #conversation: ConversationId;

  constructor(options: FileIndexOptions) {
    this.#options = options;
    this.#name = `files:${options.root}`;
    this.title = `Files of ${basename(options.root)}`;
    this.#conversation = derivedName(this.#name, ID_CHARS);
  }

  /** The conversation that holds the blocks of this workspace's files. */
  get conversation(): ConversationId {
    return this.#conversation;
  }

  idOf(name: string): BlockId | undefined {
    return this.#ids.get(name);
  }

  pathOf(id: BlockId): CleanPath | undefined {
    return this.#paths.get(id);
  }

  /** In the order of their paths. */
  ids(): readonly BlockId[] {
    return [...this.#ids].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, id]) => id);
  }

  /** The folders that have files with blocks. */
  folders(): readonly string[] {
    return [...new Set([...this.#paths.values()].map(({ parts }) => parts.slice(0, -1).join("/")))];
  }

  add(id: BlockId, path: CleanPath): void {
    this.#ids.set(path.name, id);
    this.#paths.set(id, path);
  }

  /** The blocks that there were at first. Read once; again, where that failed. */
  ready(): Promise<readonly Block[]> {
    this.#read ??= this.#readBlocks();
    return this.#read;
  }

  async #readBlocks(): Promise<readonly Block[]> {
    const { kernel, log, onRecord } = this.#options;
    const earlier = await kernel.conversation(legacyName(this.#name, LEGACY_CHARS));
    // Earlier versions derived another id. Only the server's own block is accepted: texts can be found for such ids.
    if (!isProblem(earlier) && earlier.createdBy === DISK) this.#conversation = earlier.id;
    const record = await kernel.conversation(this.conversation);
    if (!isProblem(record)) onRecord(record);
    const query = { conversation: this.conversation, kinds: ["file"], order: "first", limit: 1e9 } as const;
    const blocks = await kernel.blocks(query);
    if (isProblem(blocks)) {
      this.#read = undefined;
      log("error", "this workspace's files cannot be read", { message: blocks.message });
      return [];
    }
    return blocks.filter((block) => {
      const path = cleanPath(block.metadata.path ?? "");
      if (block.agent !== DISK || isProblem(path)) return false;
      this.add(block.id, path);
      return true;
    });
  }
}

export function notAFile(id: BlockId): Problem {
  const isId = parseBlockId(id) !== undefined;
  return problem("not_found", `${id} is ${isId ? "not a file of this workspace" : "not a block id"}`, {
    block_id: id,
  });
}
