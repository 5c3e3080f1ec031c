/** todo: the model's plan as a `todo` block, said anew whole each time. */

import { z } from "zod";
import { loopTool } from "./tool.ts";

const MARKS = { pending: "[ ]", in_progress: "[~]", completed: "[x]" } as const;

export const todoTool = loopTool({
  name: "todo",
  description:
    "Show the people who watch what you plan to do and your progress: send the whole list each time, with one item in " +
    "progress at most.",
  input: z.strictObject({
    items: z
      .array(
        z.strictObject({
          content: z.string().min(1).max(1_000),
          status: z.enum(["pending", "in_progress", "completed"]),
          activeForm: z.string().max(1_000).optional().describe("The text shown while it is in progress"),
        }),
      )
      .min(1)
      .max(200),
  }),
  async run({ items }) {
    const text = items.map(({ content, status }) => `- ${MARKS[status]} ${content}`).join("\n");
    const done = items.filter(({ status }) => status === "completed").length;
    const clean = items.map(({ content, status, activeForm }) => ({
      content,
      status,
      ...(activeForm === undefined ? {} : { activeForm }),
    }));
    return {
      failed: false,
      shortResult: `${done} of ${items.length} done`,
      result: { kind: "todo", text, metadata: { items: clean } },
    };
  },
});
