/**
 * What Claude Code reports about itself: its commands, models, mode, context, limits, servers and background tasks.
 * Asking makes no request to the model, except to look up a model that it does not list.
 */

import { isProblem, type Json, type JsonObject, jsonText, type Problem, problem } from "@blockyard/kernel";
import type { AccountLimit, AgentServer, ContextUsage, Login, Offers } from "../../driver.ts";
import { objectOf } from "./line.ts";
import { modeOf } from "./message.ts";
import type { ClaudePeer } from "./peer.ts";

export async function offersOf(peer: ClaudePeer): Promise<Offers | Problem> {
  const told = await peer.request("initialize");
  if (isProblem(told)) return told;
  const [context, usage, servers] = await Promise.all([
    peer.request("get_context_usage", { detail: "summary" }),
    peer.request("get_usage", { skip_behaviors: true }),
    peer.request("mcp_status"),
  ]);
  const { commands, models, agents, current_permission_mode: mode } = told as JsonObject;
  if (typeof mode === "string") peer.mode = mode;
  const limits = limitsOf({ ...(isProblem(usage) ? {} : objectOf(usage["rate_limits"])), ...peer.limits });
  return {
    mode: modeOf(peer.mode),
    model: peer.model,
    effort: peer.effort,
    tasks: peer.tasks,
    commands: listOf(commands).map(({ name, description, argumentHint }) => ({
      ...{ name: jsonText(name), description: jsonText(description ?? "") },
      ...(typeof argumentHint === "string" && argumentHint !== "" ? { hint: argumentHint } : {}),
    })),
    models: listOf(models).map(({ value, displayName, description, supportedEffortLevels }) => ({
      ...{ id: jsonText(value), name: jsonText(displayName ?? value) },
      ...(typeof description === "string" ? { description } : {}),
      ...(Array.isArray(supportedEffortLevels) ? { efforts: supportedEffortLevels.map(jsonText) } : {}),
    })),
    agents: listOf(agents).map(({ name, description }) => ({
      ...{ name: jsonText(name), description: jsonText(description ?? "") },
    })),
    usage: isProblem(context) ? undefined : usageOf(context as JsonObject),
    ...(limits.length === 0 ? {} : { limits }),
    ...(isProblem(servers) ? {} : { servers: serversOf(servers["mcpServers"]) }),
  };
}

/** A listed model is accepted; an unlisted one is looked up by itself. A failed lookup is no refusal. */
export async function modelRefusal(
  peer: Pick<ClaudePeer, "request">,
  model: string | undefined,
  effort: string | undefined,
): Promise<Problem | undefined> {
  const told = await peer.request("initialize");
  const known = isProblem(told) ? [] : listOf(told["models"]);
  const listed = known.filter(({ value, resolvedModel }) => value === model || resolvedModel === model);
  const refused = model === undefined || listed.length > 0 ? undefined : await lookUp(peer, known, model);
  return refused ?? effortRefusal(listed.length > 0 ? listed : known, effort);
}

async function lookUp(
  peer: Pick<ClaudePeer, "request">,
  known: readonly JsonObject[],
  model: string,
): Promise<Problem | undefined> {
  const set = await peer.request("set_model", { model });
  if (!isProblem(set)) return undefined;
  const code = jsonText(set.details?.["code"] ?? "");
  if (set.problem !== "invalid" || code.startsWith("check_")) return undefined;
  const names = known.map(({ value }) => jsonText(value)).slice(0, 20);
  return { ...set, message: `${set.message} Models: ${names.join(", ")}`, details: { models: names } };
}

/** It accepts any word for an effort and ignores unknown ones: its list is complete. */
function effortRefusal(models: readonly JsonObject[], effort: string | undefined): Problem | undefined {
  const levels = new Set(models.flatMap(({ supportedEffortLevels: all }) => (Array.isArray(all) ? all : [])));
  if (effort === undefined || levels.size === 0 || levels.has(effort)) return undefined;
  const efforts = [...levels].map(jsonText);
  return problem("invalid", `Claude Code has no effort ${effort}. Choose one of ${efforts.join(", ")}`, {
    efforts,
  });
}

export async function loginOf(peer: ClaudePeer): Promise<Login> {
  const told = await peer.request("initialize");
  const account = isProblem(told) ? undefined : objectOf(told["account"]);
  if (account === undefined) return { state: "unknown" };
  const { tokenSource, apiKeySource, apiProvider, email, subscriptionType } = account;
  // Clouds have credentials of their own, which it does not report.
  const isOwn = apiProvider === undefined || apiProvider === "firstParty";
  const isIn = isNamed(apiKeySource) || isNamed(tokenSource) || isNamed(email);
  if (isOwn && !isIn) return { state: "out", how: LOGIN };
  const words = [email, subscriptionType, apiKeySource, isNamed(tokenSource) ? tokenSource : apiProvider];
  return { state: "in", account: words.find(isNamed) };
}

const LOGIN =
  "Claude Code is not logged in. Run `claude` in a terminal on this machine, and /login there; or set ANTHROPIC_API_KEY and restart Blockyard";

function isNamed(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "" && value !== "none";
}

function usageOf({ totalTokens, maxTokens, categories }: JsonObject): ContextUsage | undefined {
  if (typeof totalTokens !== "number" || typeof maxTokens !== "number") return undefined;
  const parts = listOf(categories).flatMap(({ name, tokens }) =>
    typeof tokens === "number" ? [{ name: jsonText(name), tokens }] : [],
  );
  return { usedTokens: totalTokens, windowTokens: maxTokens, parts };
}

/** Shares are reported as fractions or percentages, times in seconds or as a date. */
function limitsOf(windows: JsonObject): readonly AccountLimit[] {
  return Object.entries(windows).flatMap(([name, value]) => {
    const { utilization, resetsAt, resets_at: at = resetsAt } = objectOf(value);
    if (typeof utilization !== "number") return [];
    const reset = typeof at === "number" ? at * 1_000 : typeof at === "string" ? Date.parse(at) : Number.NaN;
    const usedPercent = Math.round(utilization <= 1 ? utilization * 100 : utilization);
    return [
      { name: name.replaceAll("_", " "), usedPercent, ...(Number.isNaN(reset) ? {} : { resetsAt: reset }) },
    ];
  });
}

/** Without how they are started: that holds secrets. */
function serversOf(value: Json | undefined): readonly AgentServer[] {
  return listOf(value).map(({ name, status, error }) => ({
    ...{ name: jsonText(name), status: jsonText(status ?? "unknown") },
    ...(typeof error === "string" ? { error } : {}),
  }));
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((each) => objectOf(each as Json)) : [];
}
