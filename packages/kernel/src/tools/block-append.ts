/**
 * block.append: the hot path of streaming. Accepted pieces are batched into flushes (see append.ts) and answered at
 * once; a caller that must know that they are durable passes `wait`. With an idempotency key each call is a separate
 * write.
 */

import { z } from "zod";
import { parseBlockId } from "../model/ids.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import { splitTail } from "../text/sanitize.ts";
import { mayEdit } from "./rights.ts";
import { blockIdField, type Call, textField, tool, writer } from "./tool.ts";

const input = z.strictObject({
  block_id: blockIdField,
  text: textField,
  wait: z.boolean().default(false).describe("Wait until the text is durable and return durable_version"),
});

/** Accepted: it will be written, and is seen by whatever its caller does next. With a version: it is, and durable. */
interface Appended {
  readonly accepted: true;
  readonly version?: number;
  readonly durable_version?: number;
}

export const blockAppend = tool({
  name: "block.append",
  description:
    "Append text to a block that has not ended. It goes after your own last append, not simply at the end: what others wrote " +
    "after it stays after it. Returns when the text is accepted, without a version, because pieces are batched before they " +
    "are written; with wait: true it returns when the text is durable, with its version. Your next call sees the text either " +
    "way. A pending block becomes running.",
  input,
  output: z.object({
    accepted: z.literal(true),
    version: z
      .number()
      .int()
      .optional()
      .describe("A version that contains the text; only once it is durable"),
    durable_version: z.number().int().optional().describe("The same version"),
  }),
  access: "write",
  carriesText: true,
  streamsIn: true,
  async run(call, { block_id, text, wait }): Promise<Appended | Problem> {
    // What is durable cannot wait for its other half: it would be kept as a character that nobody wrote.
    if ((wait || call.key !== undefined) && splitTail(text).held !== "") return halfCharacter(text);
    if (call.key !== undefined) return appendOnce(call, block_id, text);
    const { kernel, caller } = call;
    // One's own block needs no look: pieces of a stream come often, and in order.
    if (caller.role !== "owner" && parseBlockId(block_id)?.agent !== caller.agent) {
      const target = await kernel.block(block_id);
      const refused = isProblem(target) ? target : mayEdit(caller, target);
      if (refused) return refused;
    }
    const block = await kernel.append(block_id, caller.agent, text);
    if (isProblem(block) || !wait) return isProblem(block) ? block : { accepted: true };
    const flushed = await kernel.drain(block_id, caller.agent);
    if (isProblem(flushed)) return stillWaiting(flushed);
    const now = await kernel.block(block_id);
    if (isProblem(now)) return now;
    return durable(flushed ?? now.version);
  },
});

function appendOnce(call: Call, id: string, text: string): Promise<Appended | Problem> {
  return call.kernel.writeBlock(id, {
    ...writer(call),
    plan: (draft) => {
      const target = draft.block(id);
      const refused = isProblem(target) ? target : mayEdit(call.caller, target);
      if (refused) return refused;
      const block = draft.append(id, text);
      return isProblem(block) ? block : durable(block.version);
    },
  });
}

function durable(version: number): Appended {
  return { accepted: true, version, durable_version: version };
}

function halfCharacter(text: string): Problem {
  return problem(
    "boundary",
    "the text ends in the middle of a surrogate pair; with wait or an idempotency key, send whole characters",
    { chars: text.length, whole_chars: text.length - 1 },
  );
}

/** What the store could not take is kept and tried again: sent once more it would be there twice. */
function stillWaiting(refused: Problem): Problem {
  if (refused.problem !== "storage" && refused.problem !== "busy") return refused;
  // Neither written nor refused: it will be, unless this process ends before the store takes it.
  const reason = refused.details?.["reason"] ?? refused.message;
  return problem(
    "uncertain",
    `accepted but not yet durable; the server retries, so do not resend it: ${reason}`,
    { ...refused.details, accepted: true },
  );
}
