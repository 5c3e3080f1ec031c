/**
 * The kernel as callers see it who may not read everything: the texts of hidden blocks are empty, their history is gone,
 * searches do not find them, what changes in them is not told, and nothing writes to them. That there is such a block, and
 * its path, is no secret. Every transport and tool reads through this, so that none of them can forget to look.
 */

import {
  type Block,
  type BlockId,
  type Change,
  isProblem,
  type Kernel,
  type LogPoint,
  type Problem,
  parseBlockId,
  type SearchQuery,
  Text,
  type Write,
} from "@blockyard/kernel";
import { DISK } from "./file-block.ts";

/** Why a block is hidden; undefined: it is not. */
type Hides = (block: Block) => Problem | undefined;

export function veiled(kernel: Kernel, hides: Hides): Kernel {
  const hiding = async (id: BlockId): Promise<Problem | undefined> => {
    if (!mayBeFile(id)) return undefined;
    const block = await kernel.block(id);
    return isProblem(block) ? undefined : hides(block);
  };
  const read = async (id: BlockId) => {
    const found = await kernel.read(id);
    return isProblem(found) || !hides(found.block) ? found : { block: found.block, text: Text.of("") };
  };
  const view: Partial<Kernel> = {
    read,
    async whole(id) {
      const found = await read(id);
      return isProblem(found) ? found : { ...found.block, text: found.text.toString() };
    },
    async log(id: BlockId, after: LogPoint) {
      if (!mayBeFile(id)) return kernel.log(id, after);
      const block = await kernel.block(id);
      if (isProblem(block) || !hides(block)) return kernel.log(id, after);
      return { compacted: { version: block.version, text: "", anchors: {} }, ops: [] };
    },
    async mergeState(id, agent, vector) {
      return (await hiding(id)) ?? kernel.mergeState(id, agent, vector);
    },
    async append(id, agent, text) {
      if (!mayBeFile(id)) return kernel.append(id, agent, text); // at once: pieces of a stream keep their order
      return (await hiding(id)) ?? kernel.append(id, agent, text);
    },
    async writeBlock<T>(id: BlockId, write: Write<T>): Promise<T | Problem> {
      return (await hiding(id)) ?? kernel.writeBlock(id, write);
    },
    async search(query: SearchQuery) {
      const found = await kernel.search(query);
      return isProblem(found) ? found : { ...found, hits: found.hits.filter(({ block }) => !hides(block)) };
    },
    listen: (listener) => kernel.listen((change) => listener(withoutHidden(change, hides))),
  };
  return new Proxy(kernel, {
    get(target, name) {
      const own = (view as Record<PropertyKey, unknown>)[name];
      if (own !== undefined) return own;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Blocks of files are the disk's: of no other need be asked whether it is hidden. */
function mayBeFile(id: BlockId): boolean {
  return parseBlockId(id)?.agent === DISK;
}

function withoutHidden(change: Change, hides: Hides): Change {
  const hidden = new Set(change.blocks.filter((block) => hides(block)).map(({ id }) => id));
  if (hidden.size === 0) return change;
  return {
    ...change,
    blocks: change.blocks.filter(({ id }) => !hidden.has(id)),
    ops: change.ops.filter(({ block }) => block === null || !hidden.has(block)),
  };
}
