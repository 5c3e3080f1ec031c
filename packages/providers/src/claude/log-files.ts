/**
 * Claude Code's files on disk: `projects/<folder>/<session>.jsonl`, beside it `<session>/subagents/agent-*.jsonl` with
 * `.meta.json`, and `<session>/tool-results/*`. Up to 2.0 the agents' files of all sessions are in the folder itself;
 * in 1.0 their records are in the session's own file.
 *
 * This file finds and reads them; log.ts interprets the records.
 */

import type { JsonObject } from "@blockyard/kernel";
import { parseObject } from "../framing/json.ts";
import type { FolderEntry, FoundLog, ListFolder, LogFile, LogFiles } from "../log.ts";
import { objectOf, textOf, wordsOf } from "../read.ts";

const AGENT_FILE = /(?:^|\/)agent-([^/]+)\.jsonl$/;

/** The records of one sub-agent. */
export interface AgentLog {
  readonly agentId: string;
  readonly records: readonly JsonObject[];
  /** The call that started it, where the log says so. */
  readonly toolUseId: string | undefined;
  isUsed: boolean;
}

export function recordsOf(file: LogFile): readonly JsonObject[] {
  const records: JsonObject[] = [];
  for (const line of file.lines()) {
    const record = parseObject(line);
    if (record !== undefined) records.push(record);
  }
  return records;
}

/** Sub-agents' files that may belong to the session. */
export function agentLogs(files: LogFiles, sessionId: string | undefined): readonly AgentLog[] {
  const metas = new Map<string, JsonObject>();
  for (const file of files.sidecars) {
    const match = /(?:^|\/)agent-([^/]+)\.meta\.json$/.exec(file.path);
    if (match !== null) metas.set(match[1] as string, parseObject(file.text()) ?? {});
  }
  return files.sidecars.flatMap((file) => {
    const agentId = AGENT_FILE.exec(file.path)?.[1];
    if (agentId === undefined) return [];
    const records = recordsOf(file);
    const isBeside = !file.path.includes("/");
    if (isBeside && textOf(records[0]?.sessionId) !== sessionId) return [];
    return [{ agentId, records, toolUseId: wordsOf(metas.get(agentId)?.toolUseId), isUsed: false }];
  });
}

/** Sub-agents whose records stand in the session's own file: one for each beginning. */
export function sideChains(records: readonly JsonObject[]): readonly AgentLog[] {
  const chains = new Map<string, JsonObject[]>();
  const rootOf = new Map<string, string>();
  for (const record of records) {
    const uuid = textOf(record.uuid);
    if (record.isSidechain !== true || uuid === undefined) continue;
    const root = rootOf.get(textOf(record.parentUuid) ?? "") ?? uuid;
    rootOf.set(uuid, root);
    const chain = chains.get(root);
    if (chain === undefined) chains.set(root, [record]);
    else chain.push(record);
  }
  return [...chains].map(([root, chain]) => ({
    agentId: textOf(chain[0]?.agentId) ?? root,
    records: chain,
    toolUseId: undefined,
    isUsed: false,
  }));
}

/** The text that opened an agent's log: what it was asked. */
export function promptOf(log: AgentLog): string | undefined {
  const content = objectOf(log.records[0]?.message).content;
  if (typeof content === "string") return content;
  const first = Array.isArray(content) ? objectOf(content[0]) : {};
  return textOf(first.text);
}

/** Large outputs that were put aside, by the path that the result names. */
export function asideFiles(files: LogFiles): (path: string) => string | undefined {
  const byName = new Map<string, LogFile>();
  for (const file of files.sidecars) {
    const at = file.path.lastIndexOf("tool-results/");
    if (at >= 0) byName.set(file.path.slice(at), file);
  }
  return (path) => {
    const at = path.lastIndexOf("tool-results/");
    return at < 0 ? undefined : byName.get(path.slice(at))?.text();
  };
}

/** Finds the sessions below `~/.claude`. */
export function findClaudeLogs(list: ListFolder): readonly FoundLog[] {
  return list("projects")
    .filter((entry) => entry.isFolder)
    .flatMap((project) => sessionsIn(list, `projects/${project.name}`));
}

function sessionsIn(list: ListFolder, folder: string): readonly FoundLog[] {
  const entries = list(folder);
  const beside = entries.filter((entry) => !entry.isFolder && AGENT_FILE.test(entry.name));
  return entries
    .filter((entry) => !entry.isFolder && entry.name.endsWith(".jsonl") && !AGENT_FILE.test(entry.name))
    .map((entry) => {
      const own = `${folder}/${entry.name.replace(/\.jsonl$/, "")}`;
      return {
        provider: "claude",
        path: `${folder}/${entry.name}`,
        sidecars: [...beside.map((file) => `${folder}/${file.name}`), ...filesBelow(list, own, 4)],
      };
    });
}

function filesBelow(list: ListFolder, folder: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  return list(folder).flatMap((entry: FolderEntry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isFolder ? filesBelow(list, path, depth - 1) : [path];
  });
}
