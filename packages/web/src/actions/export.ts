/**
 * Exports: a conversation as a file of its own, made by the server and saved by the browser.
 */

import type { ConversationId } from "@blockyard/kernel";
import { notify } from "../state/page-state.ts";
import { request } from "../state/proof.ts";
import { SAVED_URL_MS } from "./limits.ts";

export const exportFormats = [
  { format: "html", label: "HTML", ending: "html" },
  { format: "markdown", label: "Markdown", ending: "md" },
  { format: "jsonl", label: "JSON lines", ending: "jsonl" },
] as const;

type ExportFormat = (typeof exportFormats)[number]["format"];

export async function exportConversation(conversation: ConversationId, format: ExportFormat): Promise<void> {
  const answer = await request(`/v1/conversations/${conversation}/export?format=${format}`).catch(
    () => undefined,
  );
  if (answer?.status === 404) return notify("Couldn't export: this server doesn't support it", true);
  if (!answer?.ok) return notify("Couldn't export: the server did not answer", true);
  const ending = exportFormats.find((known) => known.format === format)?.ending ?? "txt";
  save(await answer.blob(), `${conversation}.${ending}`);
}

export function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), SAVED_URL_MS);
}
