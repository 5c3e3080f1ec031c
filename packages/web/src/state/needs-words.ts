/**
 * The label of a conversation whose agent waits for an answer: for a viewer it is different, because a viewer cannot
 * answer.
 */
export function needsWords(isViewer: boolean): string {
  return isViewer ? "Waiting for an answer" : "Needs you";
}
