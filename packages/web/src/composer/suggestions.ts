/**
 * What can be completed: the agent's commands and skills, the files of the workspace, and conversations whose answer can be added
 * to the context. Files are read when the first @ is typed, and again when that was a while ago.
 */

import { type BlockId, isProblem } from "@blockyard/kernel";
import { useEffect, useMemo, useState } from "react";
import { type Session, useSession } from "../state/session.tsx";
import { best } from "../ui/fits.ts";
import type { AgentCommand } from "./agents.ts";
import type { Trigger } from "./completion.ts";
import { LIST_FRESH_MS, LISTED_FILES, SUGGESTED_CONVERSATIONS, SUGGESTED_PATHS } from "./limits.ts";

export type Suggestion =
  | { readonly type: "command"; readonly command: AgentCommand }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "answer"; readonly title: string; readonly block: BlockId };

let files: { readonly at: number; readonly paths: Promise<readonly string[]> } | undefined;

export function useSuggestions(
  trigger: Trigger | undefined,
  commands: readonly AgentCommand[],
): readonly Suggestion[] {
  const session = useSession();
  const [paths, setPaths] = useState<readonly string[]>([]);
  const [answers, setAnswers] = useState<readonly Suggestion[]>([]);
  const isMention = trigger?.kind === "mention";
  const query = trigger?.query ?? "";
  useEffect(() => {
    let isGone = false;
    if (isMention) void listFiles(session).then((found) => isGone || setPaths(found));
    return () => {
      isGone = true;
    };
  }, [session, isMention]);
  useEffect(() => {
    let isGone = false;
    setAnswers([]);
    if (isMention && query.length >= 2)
      void findAnswers(session, query).then((found) => isGone || setAnswers(found));
    return () => {
      isGone = true;
    };
  }, [session, isMention, query]);
  return useMemo(() => {
    if (trigger === undefined) return [];
    if (trigger.kind === "command")
      return best(commands, ({ name }) => name, query)
        .slice(0, 50)
        .map((command) => ({ type: "command", command }) as const);
    const found = best(paths, (path) => path, query).slice(0, SUGGESTED_PATHS);
    return [...found.map((path) => ({ type: "file", path }) as const), ...answers];
  }, [trigger, commands, paths, answers, query]);
}

export function keyOf(suggestion: Suggestion): string {
  if (suggestion.type === "command") return `/${suggestion.command.name}`;
  return suggestion.type === "file" ? suggestion.path : suggestion.block;
}

function listFiles(session: Session): Promise<readonly string[]> {
  const now = performance.now();
  if (files === undefined || now - files.at > LIST_FRESH_MS) files = { at: now, paths: readFiles(session) };
  return files.paths;
}

async function readFiles(session: Session): Promise<readonly string[]> {
  const answer = await session.ask("file.list", { depth: 16, limit: LISTED_FILES });
  if (isProblem(answer)) {
    files = undefined;
    return [];
  }
  return answer.entries.flatMap(({ path, type }) => (type === "file" ? [path] : []));
}

/** Conversations by their title: what their last block says. */
async function findAnswers(session: Session, query: string): Promise<readonly Suggestion[]> {
  const answer = await session.ask("conversation.list", { title: query, limit: SUGGESTED_CONVERSATIONS });
  if (isProblem(answer)) return [];
  return answer.conversations.flatMap(({ title, head }) =>
    head === null ? [] : [{ type: "answer", title: title || "Untitled", block: head } as const],
  );
}
