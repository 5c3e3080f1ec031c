/** What is said of a conversation whose agent waits for an answer: who can only read is not the one to give it. */
export function needsWords(isViewer: boolean): string {
  return isViewer ? "Waiting for an answer" : "Needs you";
}
