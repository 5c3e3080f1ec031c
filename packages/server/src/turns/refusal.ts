/**
 * The text that an agent gets when the user denies a tool call: that it was the user, and why. A model reads it, so it
 * is plain and imperative. ask-words.ts has the text that people read on the call.
 */

export function refusalText(reason: string | undefined): string {
  const said = reason?.trim() ?? "";
  if (said === "")
    return "The user denied this tool call without a reason. Do not retry it. Continue in another way, or ask the user.";
  return `The user denied this tool call. Reason: ${said}`;
}
