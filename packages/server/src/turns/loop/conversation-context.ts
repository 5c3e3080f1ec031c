/**
 * conversation.context: what a model would be sent now, for programs with their own loop. The messages are those that
 * the built-in loop sends, in provider-neutral names; the program converts them to a provider's format.
 */

import { type Answer, isProblem, type Json, limits, problem, snapshotView, tool } from "@blockyard/kernel";
import { PROVIDER_NAMES } from "../../access/agent-names.ts";
import { ownerName } from "../../access/auth.ts";
import { conversationContext, type PartView, type PictureView } from "../contract.ts";
import { type Message, type Picture, validate } from "./exchange.ts";
import { type ModelContext, modelContext } from "./model-context.ts";

export const contextTool = tool({
  ...conversationContext,
  description:
    "Return what a model would be sent now: the path to the head without pruned blocks, each tool call with its result, and included " +
    "blocks first. As blocks, and as messages that fit any provider's API. For your own loop: send these, then " +
    "write the answer with turn.begin, block.create, block.append and turn.end.",
  access: "read",
  async run({ kernel, caller }, { conversation, head, reasoner, ...wanted }) {
    const record = await kernel.conversation(conversation);
    if (isProblem(record)) return record;
    // Whose loop it is, its own words are the model's.
    const owner = caller.role === "owner" ? caller.agent : ownerName();
    const voices = { owner, agents: new Set([...PROVIDER_NAMES, caller.agent]) };
    const context = await modelContext(kernel, { conversation, head, reasoner, system: "", voices });
    if (isProblem(context)) return context;
    const chars = context.blocks.reduce((sum, { block }) => sum + block.chars, 0);
    if (chars > limits.contextChars) {
      const message = `the context has ${chars} characters, more than the limit of ${limits.contextChars}; prune some of it`;
      return problem("too_large", message, { chars, max_chars: limits.contextChars });
    }
    return { head: head ?? record.head, ...answerOf(context, wanted) };
  },
});

function answerOf(
  { blocks, exchange }: ModelContext,
  wanted: { readonly blocks: boolean; readonly messages: boolean },
): Omit<Answer<typeof conversationContext.output>, "head"> {
  const unsendable = validate(exchange)?.message;
  return {
    system: exchange.system,
    ...(wanted.blocks
      ? { blocks: blocks.map(({ block, included }) => ({ ...snapshotView(block), included })) }
      : {}),
    ...(wanted.messages ? { messages: exchange.messages.map(messageView) } : {}),
    ...(unsendable === undefined ? {} : { unsendable }),
  };
}

function messageView({ role, parts }: Message): { role: "user" | "assistant"; content: PartView[] } {
  return { role, content: parts.map(partView) };
}

function partView(given: Message["parts"][number]): PartView {
  switch (given.type) {
    case "text":
      return { type: "text", text: given.text };
    case "image":
      return { type: "image", image: pictureView(given.picture) };
    case "thinking": {
      const { text, signature, opaque, itemId } = given;
      const own = {
        ...(signature === undefined ? {} : { signature }),
        ...(opaque === undefined ? {} : { opaque }),
      };
      return { type: "thinking", text, ...own, ...(itemId === undefined ? {} : { item_id: itemId }) };
    }
    case "call":
      return {
        ...{ type: "tool_call", tool_use_id: given.id, tool_name: given.name },
        input: given.input as Record<string, Json>,
      };
    case "result": {
      const { id, text, pictures, isError } = given;
      return {
        type: "tool_result",
        tool_use_id: id,
        text,
        images: pictures.map(pictureView),
        is_error: isError,
      };
    }
  }
}

function pictureView({ mediaType, data }: Picture): PictureView {
  return { media_type: mediaType, data };
}
