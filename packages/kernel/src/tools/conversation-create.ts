/** conversation.create: a new, empty conversation. */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { problem } from "../model/problem.ts";
import { cleanText } from "../text/sanitize.ts";
import { mayRecord } from "./rights.ts";
import { conversationMetadataField, tool } from "./tool.ts";

const input = z.strictObject({
  title: z.string().max(limits.titleChars).default(""),
  provider: z.string().max(limits.titleChars).optional(),
  model: z.string().max(limits.titleChars).optional(),
  metadata: conversationMetadataField.optional(),
});

export const conversationCreate = tool({
  name: "conversation.create",
  description: "Create an empty conversation and get its id.",
  input,
  output: z.object({ conversation: z.string(), seq: z.number().int() }),
  access: "write",
  carriesText: true,
  async run(call, { title, provider, model, metadata }) {
    const refused = mayRecord(metadata);
    if (refused) return refused;
    const chars = JSON.stringify(metadata ?? {}).length;
    if (chars > limits.metadataChars) {
      return problem("too_large", `metadata has ${chars} characters; the limit is ${limits.metadataChars}`, {
        chars,
        max_chars: limits.metadataChars,
      });
    }
    return call.kernel.openConversation(call.caller.agent, call.key, (draft, conversation) => {
      draft.conversation({
        title: cleanText(title),
        ...(provider === undefined ? {} : { provider }),
        ...(model === undefined ? {} : { model }),
        ...(metadata === undefined ? {} : { metadata }),
      });
      return { conversation, seq: draft.record.seq };
    });
  },
});
