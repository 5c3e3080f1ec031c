/**
 * The text that an agent gets when the user denies a tool call: who denied it, why, and what to do. It is written for models;
 * ask-words.ts has the text for people.
 */

export function refusalText(reason: string | undefined): string {
  const said = reason?.trim() ?? "";
  if (said === "")
    return "The user denied this tool call without a reason. Do not retry it. Continue in another way, or ask the user.";
  return `The user denied this tool call. Reason: ${said}`;
}
