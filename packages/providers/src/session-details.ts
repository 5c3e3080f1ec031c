/**
 * What a session works with, as far as its provider says it: permissions, tools, servers. Lists are cut at a bound, and
 * say so; nothing that could be a secret is kept.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { bounds } from "./limits.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "./read.ts";
import { cutRow } from "./row.ts";

/** `system/init` of Claude Code. */
export function claudeDetails(line: JsonObject): JsonObject {
  return withValues({
    permissionMode: wordsOf(line.permissionMode),
    effort: wordsOf(line.effort),
    tools: names(line.tools),
    mcpServers: servers(line.mcp_servers),
    agents: names(line.agents),
    skills: names(line.skills),
    slashCommands: names(line.slash_commands),
    plugins: names(line.plugins),
    outputStyle: wordsOf(line.output_style),
    apiKeySource: wordsOf(line.apiKeySource),
  });
}

/** `turn_context` of a Codex rollout. */
export function codexDetails(context: JsonObject): JsonObject {
  return withValues({
    permissionMode: wordsOf(context.approval_policy),
    sandbox:
      wordsOf(context.sandbox_policy) ??
      wordsOf(objectOf(context.sandbox_policy).type) ??
      wordsOf(objectOf(context.sandbox_policy).mode),
    effort: wordsOf(context.effort) ?? wordsOf(context.reasoning_effort),
  });
}

function withValues(details: { readonly [name: string]: Json | undefined }): JsonObject {
  return given(details) as JsonObject;
}

function names(list: Json | undefined): Json | undefined {
  const found = listOf(list).flatMap((item) => {
    const name = textOf(item) ?? textOf(objectOf(item).name);
    return name === undefined ? [] : [cutRow(name, bounds.sessionNameChars)];
  });
  return bounded(found);
}

function servers(list: Json | undefined): Json | undefined {
  const found = listOf(list).flatMap((item) => {
    const { name, status } = objectOf(item);
    if (typeof name !== "string") return [];
    return [given({ name: cutRow(name, bounds.sessionNameChars), status: wordsOf(status) }) as JsonObject];
  });
  return bounded(found);
}

function bounded(list: readonly Json[]): Json | undefined {
  if (list.length === 0) return undefined;
  const left = list.length - bounds.sessionNames;
  return left <= 0 ? list : [...list.slice(0, bounds.sessionNames), `… ${left} more`];
}
