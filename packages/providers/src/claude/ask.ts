/**
 * What Claude Code asks its host, as an `ask`: permission for a call, the questions of AskUserQuestion, the plan of ExitPlanMode,
 * the form of an MCP server; and the host's answer, read back. Pure: how an answer is written is the driver's.
 */

import {
  type Ask,
  type AskAnswer,
  type AskOption,
  type AskQuestion,
  type AskSubject,
  type AskSuggestion,
  type Json,
  type JsonObject,
  jsonText,
} from "@blockyard/kernel";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { askedDiff } from "./outcome-change.ts";

/** Of a `can_use_tool` request. `plan` is the key of the block that holds a plan. */
export function toolAsk(id: string, request: JsonObject, cwd: string, plan: string): Ask {
  const name = wordsOf(request.tool_name) ?? "unknown";
  const input = objectOf(request.input);
  const title =
    wordsOf(request.description) ?? wordsOf(request.display_name) ?? wordsOf(request.decision_reason);
  const shown = { id, state: "asked" as const, ...given({ title }), input: request.input ?? {} };
  const questions = name === "AskUserQuestion" ? questionsIn(input) : [];
  if (questions.length > 0) return { ...shown, kind: "question", questions };
  if (name === "ExitPlanMode") {
    const isWritten = planIn(request) !== undefined;
    return { ...shown, kind: "plan", ...(isWritten ? { plan } : {}), suggestions: PLAN_ANSWERS };
  }
  const suggestions = listOf(request.permission_suggestions).flatMap((each, i) => suggestionOf(each, i));
  return {
    ...shown,
    kind: "permission",
    subject: subjectOf(name, input, cwd),
    ...(suggestions.length === 0 ? {} : { suggestions }),
  };
}

/** The text of the plan that an ask is about; undefined if there is none. */
export function planIn(request: JsonObject): string | undefined {
  return request.tool_name === "ExitPlanMode" ? wordsOf(objectOf(request.input).plan) : undefined;
}

/** Of an `elicitation` request of an MCP server. */
export function formAsk(id: string, request: JsonObject): Ask {
  const server = wordsOf(request.mcp_server_name);
  const form = {
    message: wordsOf(request.message) ?? "",
    ...given({ schema: request.requested_schema, url: wordsOf(request.url), server }),
  };
  const title = server === undefined ? {} : { title: server };
  return { id, kind: "elicitation", state: "asked", ...title, input: request, form };
}

function subjectOf(name: string, input: JsonObject, cwd: string): AskSubject {
  const diff = askedDiff(name, input);
  const path = textOf(input.file_path);
  if (diff !== undefined) return { type: "diff", diff, ...(path === undefined ? {} : { paths: [path] }) };
  const command = name === "Bash" ? wordsOf(input.command) : undefined;
  if (command !== undefined) return { type: "command", command, ...(cwd === "" ? {} : { cwd }) };
  const url = wordsOf(input.url);
  if (url !== undefined && name === "WebFetch") return { type: "url", url };
  const server = /^mcp__(.+?)__./.exec(name)?.[1];
  return { type: "tool", tool: name, ...given({ server }) };
}

function questionsIn(input: JsonObject): AskQuestion[] {
  return listOf(input.questions).flatMap((value, i) => {
    const asked = objectOf(value);
    const question = wordsOf(asked.question);
    if (question === undefined) return [];
    return [
      {
        id: String(i + 1),
        ...given({ header: wordsOf(asked.header) }),
        question,
        multiple: asked.multiSelect === true,
        options: listOf(asked.options).flatMap(optionOf),
        freeText: true,
      },
    ];
  });
}

function optionOf(value: Json): AskOption[] {
  const { label, description, preview } = objectOf(value);
  if (typeof label !== "string") return [];
  return [{ label, ...given({ description: wordsOf(description), preview: wordsOf(preview) }) }];
}

const PLAN_ANSWERS: AskSuggestion[] = [
  {
    id: "accept-edits",
    label: "Approve and accept edits",
    scope: "conversation",
    native: { type: "setMode", mode: "acceptEdits", destination: "session" },
  },
  {
    id: "ask",
    label: "Approve and ask before edits",
    scope: "conversation",
    native: { type: "setMode", mode: "default", destination: "session" },
  },
];

const SCOPES: Readonly<Record<string, AskSuggestion["scope"]>> = {
  session: "conversation",
  localSettings: "workspace",
  projectSettings: "workspace",
  userSettings: "always",
};

const WHERE: Readonly<Record<AskSuggestion["scope"], string>> = {
  once: "once",
  conversation: "in this conversation",
  workspace: "in this workspace",
  always: "everywhere",
};

/** One of the alternatives that the CLI offers. An unknown one is not offered. */
function suggestionOf(value: Json, index: number): AskSuggestion[] {
  const update = objectOf(value);
  const scope = SCOPES[textOf(update.destination) ?? ""];
  const what = updateWords(update);
  if (scope === undefined || what === undefined) return [];
  const deny = update.behavior === "deny" ? { deny: true as const } : {};
  return [{ id: String(index + 1), label: `${what} ${WHERE[scope]}`, scope, ...deny, native: value }];
}

function updateWords(update: JsonObject): string | undefined {
  switch (update.type) {
    case "addRules": {
      const rules = listOf(update.rules).map(ruleText);
      const verb = update.behavior === "deny" ? "Deny" : update.behavior === "ask" ? "Ask about" : "Allow";
      return rules.length === 0 ? undefined : `${verb} ${rules.join(", ")}`;
    }
    case "addDirectories": {
      const folders = listOf(update.directories).filter((each) => typeof each === "string");
      return folders.length === 0 ? undefined : `Allow the folder ${folders.join(", ")}`;
    }
    case "setMode":
      return MODES[textOf(update.mode) ?? ""];
    default:
      return undefined;
  }
}

/** A rule in words, like our own; one without exact words, as Claude Code writes it. */
function ruleText(value: Json): string {
  const { toolName, ruleContent } = objectOf(value);
  const tool = wordsOf(toolName) ?? "?";
  const content = wordsOf(ruleContent);
  if (content === undefined) return tool;
  const start = /^(.*[^\s:*])(?: |:)\*$/.exec(content)?.[1];
  const isPlain = !/[`*\n]/.test(start ?? content);
  if (tool === "Bash" && isPlain) return `\`${start === undefined ? content : `${start} …`}\``;
  const domain = /^domain:([\w.-]+)$/.exec(content)?.[1];
  return tool === "WebFetch" && domain !== undefined ? `fetching from ${domain}` : `${tool}(${content})`;
}

const MODES: Readonly<Record<string, string>> = {
  acceptEdits: "Accept all edits",
  default: "Ask before edits",
  plan: "Plan first",
  bypassPermissions: "Allow everything",
  dontAsk: "Run only what is allowed already",
};

/** The host's answer, if it is visible. */
export function answeredAsk(ask: Ask, said: JsonObject, isError: boolean): Ask {
  if (isError) return { ...ask, state: "denied" };
  if (ask.kind === "elicitation") return answeredForm(ask, said);
  const message = wordsOf(said.message);
  if (said.behavior !== "allow")
    return { ...ask, state: "denied", ...(message === undefined ? {} : { message }) };
  const input = objectOf(said.updatedInput);
  if (ask.kind === "question") return { ...ask, state: "answered", answer: answersIn(ask, input) };
  const taken = takenSuggestion(ask, said.updatedPermissions);
  const plan = ask.kind === "plan" ? textOf(input.plan) : undefined;
  const isEdited = plan !== undefined && plan !== objectOf(ask.input).plan;
  const answer = { ...given({ suggestion: taken }), ...(isEdited ? { text: plan } : {}) };
  return { ...ask, state: "allowed", ...(Object.keys(answer).length === 0 ? {} : { answer }) };
}

function answeredForm(ask: Ask, said: JsonObject): Ask {
  if (said.action !== "accept") return { ...ask, state: "denied" };
  return { ...ask, state: "answered", answer: { content: objectOf(said.content) } };
}

function takenSuggestion({ suggestions = [] }: Ask, updates: Json | undefined): string | undefined {
  const [first] = listOf(updates);
  if (first === undefined) return undefined;
  const said = JSON.stringify(first);
  return suggestions.find(({ native }) => JSON.stringify(native) === said)?.id;
}

function answersIn({ questions = [] }: Ask, input: JsonObject): AskAnswer {
  const answers = objectOf(input.answers);
  const notes = objectOf(input.annotations);
  const given: Record<string, NonNullable<AskAnswer["questions"]>[string]> = {};
  for (const asked of questions) {
    const note = objectOf(notes[asked.question]);
    const words = wordsOf(note.notes);
    const isSkipped = wordsOf(note.unanswered) !== undefined;
    const said = Object.hasOwn(answers, asked.question) ? answers[asked.question] : undefined;
    if (said === undefined && !isSkipped) continue;
    given[asked.id] = {
      ...(said === undefined ? { chosen: [] } : chosenIn(asked, said)),
      ...(words === undefined ? {} : { notes: words }),
      ...(isSkipped && said === undefined ? { skipped: true as const } : {}),
    };
  }
  const text = wordsOf(input.response);
  return { questions: given, ...(text === undefined ? {} : { text }) };
}

/** Labels that are options, as they were joined for the model; everything else is text. */
function chosenIn({ options, multiple }: AskQuestion, said: Json): { chosen: string[]; text?: string } {
  const known = new Set(options.map(({ label }) => label));
  const parts = Array.isArray(said)
    ? said.map(jsonText)
    : multiple
      ? labelsIn(jsonText(said))
      : [jsonText(said)];
  const chosen = parts.filter((part) => known.has(part));
  const other = parts.filter((part) => !known.has(part) && part !== "");
  return { chosen, ...(other.length === 0 ? {} : { text: other.join(", ") }) };
}

/** `Search, "Export, import"` → the two labels. */
export function labelsIn(said: string): string[] {
  const labels: string[] = [];
  const part = /\s*("(?:[^"\\]|\\.)*"|[^,]*)(?:,|$)/gy;
  for (let match = part.exec(said); match !== null; match = part.exec(said)) {
    labels.push(unquoted((match[1] ?? "").trim()));
    if (part.lastIndex >= said.length) break;
  }
  return labels;
}

function unquoted(label: string): string {
  if (!label.startsWith('"')) return label;
  try {
    return String(JSON.parse(label));
  } catch {
    return label;
  }
}

/** Several labels in one answer, as the model can take them apart again. */
export function joinedLabels(labels: readonly string[]): string {
  return labels.map((label) => (/, |"/.test(label) ? JSON.stringify(label) : label)).join(", ");
}
