/**
 * An agent's requests to the user: permission for a call, questions, the fields of a form. The ask is on the block that
 * it concerns; the client's answer, on the same connection, closes it.
 *
 * An agent's option ids are its own: an option's meaning is its `kind`, and only its name says how far "always"
 * reaches. Several options of kind `allow_once` are the answers to a question.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { wholeBlock } from "../call.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { closeAsk, replaceAsks } from "./ask-state.ts";
import { patchCall, run, takeStreamed } from "./call.ts";
import { commandMetadata, isCommand, outcomeOf } from "./outcome.ts";
import { unprefaced } from "./quirks.ts";
import { type Asked, type Call, nextKey, type Out, type Session, type State } from "./state.ts";
import { closeText } from "./text.ts";
import { currentTurn } from "./turn-state.ts";

/** `session/request_permission`. Undefined where the call has ended: nobody is shown the question. */
export function askPermission(
  state: State,
  out: Out,
  session: Session,
  id: string,
  params: JsonObject,
): Asked | undefined {
  const { content, ...patch } = objectOf(params.toolCall);
  // A request's content may describe the question; only diffs of it belong to the call.
  const diffs = listOf(content).filter((part) => objectOf(part).type === "diff");
  const call = patchCall(state, out, session, diffs.length > 0 ? { ...patch, content: diffs } : patch);
  if (call === undefined) return undefined;
  const said = textIn(listOf(content));
  takeStreamed(state, call, said);
  run(out, call);
  replaceAsks(state, out, call.key);
  const options = listOf(params.options).map(objectOf);
  const questions = questionsIn(call, options, said);
  const plan =
    call.kind === "switch_mode" && said !== "" ? showPlanText(state, out, session, said) : undefined;
  const ask = given({
    id,
    kind: plan !== undefined ? "plan" : questions === undefined ? "permission" : "question",
    state: "asked",
    // Where the title is the tool's name, only the request says what the call does.
    title:
      (isNamed(call) ? wordsOf(unprefaced(said, state.quirks)) : undefined) ??
      wordsOf(unprefaced(textOf(objectOf(params.toolCall).title), state.quirks)) ??
      wordsOf(call.title),
    input: call.input ?? {},
    subject: questions === undefined && plan === undefined ? subjectOf(state, call) : undefined,
    questions,
    plan,
    suggestions: options.map(suggestionOf),
  }) as JsonObject;
  return setAsk(out, { id, key: call.key, ask, isOwn: false });
}

/** Options that are answers, or questions in the input; undefined where leave is asked for. */
function questionsIn(call: Call, options: readonly JsonObject[], said: string): Json[] | undefined {
  const asked = listOf(call.input?.["questions"]).map(objectOf);
  const answers = options.filter(({ kind }) => kind === "allow_once");
  if (asked.length === 0 && answers.length < 2) return undefined;
  if (answers.length >= 2) {
    const question = said === "" ? (textOf(asked[0]?.question) ?? call.title) : said;
    const header = wordsOf(asked[0]?.header);
    const described = listOf(asked[0]?.options).map(objectOf);
    const labels = answers.map((option) => {
      const label = textOf(option.name) ?? "";
      const description = described.find((each) => each.label === label)?.description;
      return given({ label, description: wordsOf(description) });
    });
    return [given({ id: "0", header, question, multiple: false, options: labels }) as JsonObject];
  }
  return asked.map((each, at) => {
    const labels = listOf(each.options)
      .map(objectOf)
      .map(({ label, description }) =>
        given({ label: textOf(label) ?? "", description: wordsOf(description) }),
      );
    return given({
      id: String(at),
      header: wordsOf(each.header),
      question: textOf(each.question) ?? "",
      multiple: each.multiSelect === true,
      options: labels,
    }) as JsonObject;
  });
}

function showPlanText(state: State, out: Out, session: Session, text: string): string {
  closeText(out, session);
  const key = nextKey(state, session, "text");
  const place = given({ parent: session.parent });
  out.push(...wholeBlock({ key, ...place, kind: "text", role: "model", metadata: {}, text }));
  return key;
}

function subjectOf(state: State, call: Call): JsonObject {
  const changes = outcomeOf(state, call).result;
  if (changes?.kind === "file_change" && changes.text !== "") {
    const paths = listOf(changes.metadata.changes).map((change) => textOf(objectOf(change).path) ?? "");
    return { type: "diff", diff: changes.text, paths };
  }
  if (isCommand(call) && !isNamedOnly(call)) {
    const { command, cwd } = commandMetadata(call);
    return given({ type: "command", command: textOf(command) ?? "", cwd: wordsOf(cwd) }) as JsonObject;
  }
  const url = wordsOf(call.input?.["url"]);
  if (url !== undefined && call.kind === "fetch") return { type: "url", url };
  return given({ type: "tool", tool: call.toolName, server: call.server }) as JsonObject;
}

/** Its title is the tool's name, and its input has not come yet: what it would run is not known, so no rule may be made from it. */
function isNamedOnly(call: Call): boolean {
  return call.input === undefined && isNamed(call);
}

function isNamed({ title, toolName }: Call): boolean {
  return title === toolName || /^\w+$/.test(title);
}

function suggestionOf(option: JsonObject): JsonObject {
  const kind = textOf(option.kind) ?? "";
  const label = textOf(option.name) ?? "";
  return given({
    id: textOf(option.optionId) ?? "",
    label,
    scope: scopeOf(kind, label),
    deny: kind.startsWith("reject") ? true : undefined,
    native: { kind },
  }) as JsonObject;
}

function scopeOf(kind: string, name: string): string {
  if (!kind.endsWith("_always")) return "once";
  if (/\bsession\b/i.test(name)) return "conversation";
  return /\b(project|workspace)\b/i.test(name) ? "workspace" : "always";
}

/** `elicitation/create`: a form, or a page elsewhere; about a call where it names one. */
export function askElicitation(
  state: State,
  out: Out,
  session: Session,
  id: string,
  params: JsonObject,
): Asked {
  const call = session.calls.get(textOf(params.toolCallId) ?? "");
  const message = textOf(params.message) ?? "";
  const form = given({ message, schema: params.requestedSchema ?? undefined, url: wordsOf(params.url) });
  const ask = given({ id, kind: "elicitation", state: "asked", title: wordsOf(message), form }) as JsonObject;
  if (call !== undefined) {
    run(out, call);
    replaceAsks(state, out, call.key);
    return setAsk(out, { id, key: call.key, ask, isOwn: false });
  }
  closeText(out, session);
  const turn = currentTurn(state, out, session);
  if (turn !== undefined) turn.isEmpty = false;
  const key = nextKey(state, session, "ask");
  const place = given({ parent: session.parent });
  const metadata = { notice: "elicitation", ask };
  out.push({ type: "block-start", key, ...place, kind: "text", role: "system", metadata, text: message });
  return { id, key, ask, isOwn: true };
}

function setAsk(out: Out, asked: Asked): Asked {
  out.push({ type: "block-meta", key: asked.key, metadata: { ask: asked.ask } });
  return asked;
}

/** The client's answer: `{result}` or `{error}`. */
export function answerAsk(state: State, out: Out, session: Session, asked: Asked, answer: JsonObject): void {
  const result = objectOf(answer.result);
  const outcome = objectOf(result.outcome);
  const isForm = asked.ask["kind"] === "elicitation";
  const patch = isForm ? formAnswer(result) : choiceOf(asked, outcome);
  const call = [...session.calls.values()].find(({ key }) => key === asked.key);
  if (call === undefined && !asked.isOwn) return;
  if (call !== undefined) call.startedAt = state.now;
  if (call !== undefined && patch.state === "denied") call.isDenied = true;
  if (state.options.showsAnswers || asked.isOwn)
    closeAsk(out, asked, state.options.showsAnswers ? patch : undefined);
}

function choiceOf(asked: Asked, outcome: JsonObject): JsonObject {
  const chosen = textOf(outcome.optionId);
  const option = listOf(asked.ask["suggestions"])
    .map(objectOf)
    .find(({ id }) => id === chosen);
  if (outcome.outcome !== "selected" || option === undefined)
    return { state: "expired", message: "cancelled" };
  if (option.deny === true) return { state: "denied", answer: { suggestion: chosen ?? "" } };
  const questions = listOf(asked.ask["questions"]).map(objectOf);
  if (asked.ask["kind"] !== "question") return { state: "allowed", answer: { suggestion: chosen ?? "" } };
  const label = textOf(option.label) ?? "";
  const isLabel = listOf(questions[0]?.options).some((each) => objectOf(each).label === label);
  const answered = isLabel ? { questions: { "0": { chosen: [label] } } } : {};
  return { state: "answered", answer: { ...answered, suggestion: chosen ?? "" } };
}

function formAnswer(result: JsonObject): JsonObject {
  if (result.action === "accept") return { state: "answered", answer: { content: objectOf(result.content) } };
  return result.action === "decline" ? { state: "denied" } : { state: "expired", message: "cancelled" };
}

function textIn(content: readonly Json[]): string {
  return content.flatMap((part) => textOf(objectOf(objectOf(part).content).text) ?? []).join("\n");
}
