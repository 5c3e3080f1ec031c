/**
 * What an agent is told when the user denies a tool call: that it was the user, and why. A model reads it, so it is plain and
 * says what to do. What people read of it is on the call (ask-words.ts).
 */

export function refusalText(reason: string | undefined): string {
  const said = reason?.trim() ?? "";
  if (said === "")
    return "The user denied this tool call without a reason. Do not retry it. Continue in another way, or ask the user.";
  return `The user denied this tool call. Reason: ${said}`;
}
