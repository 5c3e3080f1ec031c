/** block.search: a pattern in one block, with the lines and columns of its matches. */

import { z } from "zod";
import { limits } from "../model/limits.ts";
import { isProblem } from "../model/problem.ts";
import type { SearchMatch } from "../ports/store.ts";
import { blockIdField, rowsField, tool } from "./tool.ts";

export const patternFields = {
  query: z
    .string()
    .describe("Regular expression (RE2: linear time, no lookaround or backreferences), or literal text"),
  literal: z.boolean().default(false).describe("Match query as plain text"),
  ignore_case: z.boolean().default(false),
  context_lines: z.number().int().min(0).max(limits.contextLines).default(2),
};

export const matchSchema = z.object({
  line: z.number().int().describe("0-based, as block.edit takes it"),
  content: z.string().describe("The matched line with its context lines"),
  content_line: z.number().int().describe("Line number of the first line of content"),
  match_start: z.number().int().describe("Column in the matched line, UTF-16 units"),
  match_end: z.number().int().describe("Exclusive"),
  shown_from: z
    .number()
    .int()
    .optional()
    .describe("First column shown of a line that is too long to be shown whole"),
});

export function matchView(match: SearchMatch): z.infer<typeof matchSchema> {
  return {
    line: match.line,
    content: match.content,
    content_line: match.contentLine,
    match_start: match.start,
    match_end: match.end,
    ...(match.shownFrom === undefined ? {} : { shown_from: match.shownFrom }),
  };
}

const input = z.strictObject({
  block_id: blockIdField,
  ...patternFields,
  max_matches: rowsField(limits.searchMatches, 20),
});

export const blockSearch = tool({
  name: "block.search",
  description:
    "Find a regular expression (or literal text) in one block: line numbers (0-based, as block.edit takes them), columns, " +
    "and the lines around each match. No match returns an empty list; more means there are further ones.",
  input,
  output: z.object({ matches: z.array(matchSchema), more: z.boolean(), version: z.number().int() }),
  access: "read",
  async run(call, { block_id, query, literal, ignore_case, context_lines, max_matches }) {
    const read = await call.kernel.read(block_id);
    if (isProblem(read)) return read;
    const answer = await call.matcher(
      read.text.toString(),
      {
        pattern: query,
        literal,
        ignoreCase: ignore_case,
        contextLines: context_lines,
        maxMatches: max_matches,
      },
      limits.searchDeadlineMs,
    );
    if (isProblem(answer)) return answer;
    return { matches: answer.matches.map(matchView), more: answer.more, version: read.block.version };
  },
});
