/**
 * The agent's requests to its client: approval for a command, a patch, a tool or more rights; answers to questions; the
 * fields of a form. Each is an `ask` on the call that it concerns. Some have no item: then a call is created for the
 * request, which ends with the answer.
 *
 * The two sides number their requests independently: the same number may be pending in both directions.
 */

import type { Ask, AskQuestion, AskSuggestion, Json, JsonObject } from "@blockyard/kernel";
import { startCall } from "../call.ts";
import { joinWords, unwrapCommand } from "../codex/shell.ts";
import { isObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { rowOf } from "../row.ts";
import { fileHeader, joinDiffs } from "../unified-diff.ts";
import { expireAsk, SUGGESTIONS } from "./answers.ts";
import { changesOf } from "./item.ts";
import { itemKey, type Out, placeIn, type State, type Thread } from "./state.ts";

/** Whether the request was one that people are asked. A number that is open means the same question, said again. */
export function asked(
  state: State,
  out: Out,
  thread: Thread,
  id: string,
  method: string,
  params: JsonObject,
): boolean {
  if (state.asks.has(id)) return true;
  const spec = askOf(method, params, thread);
  if (spec === undefined || state.asks.size >= bounds.openCalls) return false;
  const ask = { id: `${state.run}:${id}`, state: "asked", ...spec.ask };
  const item = textOf(params.itemId) ?? spec.item;
  const known = item === undefined ? undefined : thread.open.get(item);
  if (thread.turn !== undefined && spec.own !== undefined) thread.turn.calls++;
  if (known?.shape === "call") {
    expireAsk(state, out, known.key);
    out.push({ type: "block-meta", key: known.key, metadata: { ask } });
    state.asks.set(id, { thread: thread.id, key: known.key, ask, method, own: undefined });
    return true;
  }
  const { toolName, input } = spec.own ?? { toolName: method, input: params };
  const key = itemKey(state);
  const own = { toolUseId: `${state.run}:${item ?? key}`, toolName };
  out.push(...startCall({ ...placeIn(thread), key, ...own, input, compactParams: rowOf(spec.title) }));
  out.push({ type: "block-meta", key, metadata: { ask } });
  state.asks.set(id, { thread: thread.id, key, ask, method, own });
  return true;
}

interface AskSpec {
  readonly ask: Omit<Ask, "id" | "state">;
  readonly title: string;
  /** The call that is made where the protocol shows none. */
  readonly own?: { readonly toolName: string; readonly input: JsonObject };
  /** The item that it is about, where the request does not say so. */
  readonly item?: string | undefined;
}

function askOf(method: string, params: JsonObject, thread: Thread): AskSpec | undefined {
  switch (method) {
    case "item/commandExecution/requestApproval":
      return commandAsk(params);
    case "item/fileChange/requestApproval":
      return patchAsk(params, thread);
    case "item/permissions/requestApproval":
      return permissionsAsk(params);
    case "item/tool/requestUserInput":
      return questionAsk(params);
    case "mcpServer/elicitation/request":
      return elicitationAsk(params, thread);
    default:
      return undefined;
  }
}

function commandAsk(params: JsonObject): AskSpec {
  const raw = textOf(params.command) ?? "";
  const command = unwrapCommand(raw);
  const network = objectOf(params.networkApprovalContext);
  const host = wordsOf(network.host);
  const subject =
    host === undefined
      ? ({ type: "command", command, ...given({ cwd: wordsOf(params.cwd) }) } as const)
      : ({ type: "url", url: `${wordsOf(network.protocol) ?? "https"}://${host}` } as const);
  return {
    title: host ?? command,
    ask: {
      kind: "permission",
      subject,
      suggestions: [
        suggestion(SUGGESTIONS.session, "Allow until this turn ends", "once", "acceptForSession"),
        ...alwaysSuggestions(params),
        stopSuggestion,
      ],
      ...given({ title: wordsOf(params.reason), input: { command: raw, ...beyond(params) } }),
    },
    own: { toolName: "command_execution", input: { command: raw, ...beyond(params) } },
  };
}

/** What a request asks for besides what is shown of it: other rights, another machine. Nobody grants what they do not see. */
function beyond(params: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(params).filter(
      ([name, value]) =>
        !SHOWN.has(name) && value !== null && !(name === "environmentId" && value === "local"),
    ),
  );
}

const SHOWN = new Set(
  (
    "threadId turnId itemId approvalId startedAtMs kind command cwd commandActions reason availableDecisions " +
    "networkApprovalContext proposedExecpolicyAmendment proposedNetworkPolicyAmendments"
  ).split(" "),
);

/** A rule that Codex keeps: for every project, with no end. It is offered in those words. */
function alwaysSuggestions(params: JsonObject): readonly AskSuggestion[] {
  const words = listOf(params.proposedExecpolicyAmendment).filter((word) => typeof word === "string");
  const hosts = listOf(params.proposedNetworkPolicyAmendments).filter(isObject);
  return [
    ...(words.length === 0
      ? []
      : [
          suggestion(
            SUGGESTIONS.always,
            `Always allow commands that start with "${joinWords(words)}", in all projects (saved in Codex's rules)`,
            "always",
            { acceptWithExecpolicyAmendment: { execpolicy_amendment: words } },
          ),
        ]),
    ...hosts.map((amendment, i) => ({
      ...suggestion(
        `network-${i}`,
        `Always ${amendment.action === "deny" ? "deny" : "allow"} ${textOf(amendment.host) ?? "this host"}, in all projects (saved in Codex's rules)`,
        "always",
        { applyNetworkPolicyAmendment: { network_policy_amendment: amendment } },
      ),
      ...(amendment.action === "deny" ? { deny: true as const } : {}),
    })),
  ];
}

/** The request has no diff: it is in the item that was started before it. */
function patchAsk(params: JsonObject, thread: Thread): AskSpec {
  const item = thread.open.get(textOf(params.itemId) ?? "")?.item ?? {};
  const changes = changesOf(item.changes);
  // Whoever allows a move allows a file at its new place, too.
  const paths = changes.flatMap(({ path, movedTo }) => (movedTo === undefined ? [path] : [path, movedTo]));
  const diffs = changes.map(({ path, kind, movedTo, diff }) => diff ?? fileHeader(path, kind, movedTo));
  const root = wordsOf(params.grantRoot);
  const more = beyond(params);
  return {
    title: paths.join(", "),
    ask: {
      kind: "permission",
      subject: { type: "diff", diff: joinDiffs(diffs), paths },
      suggestions: [
        suggestion(
          SUGGESTIONS.session,
          "Allow changes to these files until this turn ends",
          "once",
          "acceptForSession",
        ),
        stopSuggestion,
      ],
      ...given({
        title: wordsOf(
          [wordsOf(params.reason), root && `Write to ${root}`]
            .filter((each) => each !== undefined)
            .join(": "),
        ),
        input: Object.keys(more).length === 0 ? undefined : more,
      }),
    },
    own: { toolName: "file_change", input: more },
  };
}

function permissionsAsk(params: JsonObject): AskSpec {
  const permissions = objectOf(params.permissions);
  return {
    title: textOf(params.reason) ?? "more permissions",
    ask: {
      kind: "permission",
      subject: { type: "tool", tool: "request_permissions" },
      suggestions: [
        suggestion(SUGGESTIONS.session, "Allow until this turn ends", "once", {
          permissions,
          scope: "session",
        }),
      ],
      ...given({ title: wordsOf(params.reason), input: { permissions } }),
    },
    own: { toolName: "request_permissions", input: { permissions } },
  };
}

function questionAsk(params: JsonObject): AskSpec {
  const questions = listOf(params.questions).map((each, i): AskQuestion => {
    const { id, header, question, isOther, isSecret, options } = objectOf(each);
    const choices = listOf(options).map((option) => {
      const { label, description } = objectOf(option);
      return { label: textOf(label) ?? "", ...given({ description: wordsOf(description) }) };
    });
    return {
      id: textOf(id) ?? String(i),
      question: textOf(question) ?? "",
      multiple: false,
      options: choices,
      ...given({
        header: wordsOf(header),
        freeText: isOther === true || choices.length === 0 ? true : undefined,
        secret: isSecret === true ? (true as const) : undefined,
      }),
    };
  });
  return {
    title: questions[0]?.question ?? "",
    ask: { kind: "question", questions },
    own: { toolName: "request_user_input", input: { questions: params.questions ?? [] } },
  };
}

/** Tools of MCP servers are allowed by the same way: a form without fields. */
function elicitationAsk(params: JsonObject, thread: Thread): AskSpec {
  const server = textOf(params.serverName) ?? "";
  const meta = objectOf(params._meta);
  const message = textOf(params.message) ?? textOf(params.title) ?? "";
  const own = { toolName: "elicitation", input: given({ server, message }) };
  if (meta.codex_approval_kind !== "mcp_tool_call") {
    const form = given({
      message,
      server,
      schema: params.requestedSchema ?? undefined,
      url: wordsOf(params.url),
    });
    return { title: message, ask: { kind: "elicitation", form, ...given({ title: wordsOf(message) }) }, own };
  }
  const calls = [...thread.open].filter(
    ([, { item }]) => item.type === "mcpToolCall" && item.server === server,
  );
  const [id, call] = calls.find(([, { item }]) => item.tool === meta.tool_name) ?? calls.at(-1) ?? [];
  const persist = listOf(meta.persist);
  const kept = (name: string, label: string, scope: AskSuggestion["scope"]) =>
    persist.includes(name) ? [suggestion(name, label, scope, { persist: name })] : [];
  return {
    title: message,
    item: id,
    ask: {
      kind: "permission",
      subject: { type: "tool", tool: textOf(call?.item.tool) ?? textOf(meta.tool_title) ?? message, server },
      suggestions: [
        ...kept("session", "Allow this tool until this turn ends", "once"),
        ...kept(
          "always",
          "Always allow this tool, in all projects (saved in Codex's configuration)",
          "always",
        ),
      ],
      ...given({ title: wordsOf(message), input: meta.tool_params ?? call?.item.arguments }),
    },
    own,
  };
}

const stopSuggestion: AskSuggestion = {
  ...suggestion(SUGGESTIONS.stop, "Deny, and stop the turn", "once", "cancel"),
  deny: true,
};

function suggestion(id: string, label: string, scope: AskSuggestion["scope"], native: Json): AskSuggestion {
  return { id, label, scope, native };
}
