/**
 * Exports: a conversation as a file of its own, saved by the browser.
 */
import { type ConversationId, isProblem } from "@blockyard/kernel";
import type { Session } from "../session.tsx";
import { fieldOf, refused } from "./actions.ts";

export const exportFormats = [
  { format: "html", label: "HTML", mediaType: "text/html" },
  { format: "markdown", label: "Markdown", mediaType: "text/markdown" },
  { format: "jsonl", label: "JSON lines", mediaType: "application/x-ndjson" },
] as const;

export type ExportFormat = (typeof exportFormats)[number]["format"];

const ENDINGS: Readonly<Record<ExportFormat, string>> = { html: "html", markdown: "md", jsonl: "jsonl" };

export async function exportConversation(
  session: Session,
  conversation: ConversationId,
  format: ExportFormat,
): Promise<void> {
  const answer = await session.ask("conversation.export", { conversation, format });
  if (isProblem(answer)) return refused("Not exported", answer);
  const content = fieldOf(answer, "content", "text", "data");
  const type = exportFormats.find((known) => known.format === format)?.mediaType ?? "text/plain";
  save(
    typeof content === "string" ? content : JSON.stringify(answer, null, 2),
    type,
    `${conversation}.${ENDINGS[format]}`,
  );
}

function save(content: string, type: string, name: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
