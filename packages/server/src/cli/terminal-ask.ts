/**
 * Puts an agent's requests to the person at the terminal: permissions, plans, questions and forms. Without a terminal,
 * what was not allowed beforehand is denied. If a request is answered elsewhere meanwhile, such as on the page, the
 * terminal stops asking.
 */

import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Ask,
  type AskAnswer,
  askOf,
  askWords,
  type BlockSnapshot,
  callLine,
  hasPlan,
  isProblem,
  lateAsk,
  leftOfAsk,
  NO_PLAN,
  type Problem,
  shownAsk,
} from "@blockyard/kernel";
import { visible } from "../processes/visible.ts";
import type { BlockSource } from "./block-source.ts";
import { ANSWERED_ELSEWHERE_MS, ASK_NAME_CHARS, TYPED_BEFORE_MS } from "./limits.ts";
import { oneLine, printNote } from "./terminal.ts";
import { answerIn, answersText, answersTo, isSlip } from "./terminal-answer.ts";
import { formAnswer, formText } from "./terminal-form.ts";
import { editPlan, planText, quoted, type ShownPlan } from "./terminal-plan.ts";

type Type = (question: string) => Promise<string | undefined>;

/** The user's answer; undefined if there is none, since the turn is being stopped or somebody else has answered. */
interface Said {
  readonly allow: boolean;
  readonly message?: string;
  readonly answer?: AskAnswer;
  readonly planVersion?: number;
}

const KEYBOARD: Keyboard = {
  input: process.stdin,
  output: process.stderr,
  interrupt: () => process.kill(process.pid, "SIGINT"),
};

/** Asks the user here. */
export function asked(question: string, signal?: AbortSignal): Promise<string | undefined> {
  return typed(question, { ...KEYBOARD, signal });
}

export async function answerAsk(
  client: BlockSource,
  block: BlockSnapshot,
  allowsAll: boolean,
): Promise<void> {
  const asked = askOf(block.metadata) as Ask;
  const ask = shownAsk(asked.state === "expired" ? lateAsk(asked) : asked);
  const isThere = process.stdin.isTTY === true;
  const isAsked = isThere && (!allowsAll || isQuestion(ask));
  const left = leftOfAsk(asked);
  if (isAsked && left !== "") printNote(`\n${left}`);
  const said = isAsked ? await atTerminal(client, block, ask) : withoutTerminal(allowsAll);
  if (said === undefined) return;
  const { allow, message, answer, planVersion } = said;
  const given = await client.call("turn.answer", {
    ...{ block_id: block.block_id, ask_id: ask.id, allow },
    ...(allow ? {} : { message: message ?? "" }),
    ...(answer === undefined ? {} : { answer }),
    ...(planVersion === undefined ? {} : { plan_version: planVersion }),
  });
  // Somebody has edited the plan meanwhile, or it cannot be allowed this way: it is asked again, or nobody
  // here can approve it.
  const isRefused = isProblem(given) && (given.problem === "invalid" || isOtherPlan(given));
  if (isRefused && allow) {
    printNote(`blockyard: ${given.message}`);
    if (isAsked) return answerAsk(client, block, allowsAll);
    const refusal = { block_id: block.block_id, ask_id: ask.id, allow: false, message: given.message };
    const denied = await client.call("turn.answer", refusal);
    if (!isProblem(denied)) printNote(`Denied: ${wantedName(block, ask)} (--yes cannot approve it)`);
    return;
  }
  // A rule, or another window, was first.
  if (isProblem(given) && given.problem === "conflict") return;
  if (isProblem(given)) printNote(`blockyard: ${given.message}`);
  else if (!allow || (!isThere && isQuestion(ask))) {
    const why = isThere ? "" : " (nobody can answer here)";
    printNote(`${isQuestion(ask) ? "Not answered" : "Denied"}: ${wantedName(block, ask)}${why}`);
  }
}

function isOtherPlan({ details }: Problem): boolean {
  return details?.["plan_version"] !== undefined;
}

function isQuestion({ kind }: Ask): boolean {
  return kind === "question" || kind === "elicitation";
}

/** What an agent wanted, in a line: the command or the call itself, and the agent's description. */
function wantedName(block: BlockSnapshot, ask: Ask): string {
  const { name, subject, isCommand } = callLine(block, []);
  const title = (ask.title ?? "").trim();
  const said = isQuestion(ask)
    ? (ask.questions?.map(({ question }) => question).join(" ") ?? ask.form?.message ?? "")
    : [isCommand ? "$" : name, subject].filter((part) => part !== "").join(" ");
  if (said === "") return nameOf(ask.title, block.metadata);
  const isKnown =
    isQuestion(ask) || title === "" || title === block.metadata.toolName || said.includes(title);
  const isRepeated = subject !== "" && title.includes(subject);
  return exactLine(isKnown || isRepeated ? said : `${said} – ${title}`);
}

function withoutTerminal(allowsAll: boolean): Said {
  return allowsAll ? { allow: true } : { allow: false, message: "nobody was there to approve it" };
}

async function atTerminal(client: BlockSource, block: BlockSnapshot, ask: Ask): Promise<Said | undefined> {
  const hasTyped = await forgetTyped(KEYBOARD);
  // A rule, or an answer from before a restart, decides at once: what it has decided is not asked.
  const decided = await decidedWords(client, block.block_id, ask);
  if (decided !== undefined) {
    printNote(decided);
    return undefined;
  }
  const elsewhere = new AbortController();
  const type: Type = (question) => asked(question, elsewhere.signal);
  const over = new AbortController();
  const watched = watchAnswer(client, block.block_id, ask, over.signal).then((words) => {
    if (words === undefined) return;
    elsewhere.abort();
    printNote(words === "" ? "" : `\n${words}`);
  });
  try {
    if (hasTyped) printNote("\nInput typed before this question is ignored.");
    return await saidTo(client, block, ask, type);
  } finally {
    over.abort();
    await watched;
  }
}

function saidTo(client: BlockSource, block: BlockSnapshot, ask: Ask, type: Type): Promise<Said | undefined> {
  if (ask.kind === "question") return questions(ask, type);
  if (ask.kind === "elicitation") return form(ask, block, type);
  return permission(client, block, ask, type);
}

async function questions(ask: Ask, type: Type): Promise<Said | undefined> {
  printNote("");
  const answer = await answersTo(ask, type);
  return answer && { allow: true, answer };
}

const FORM_HINT = "Answer? [Y/n, or a reason to decline] ";

/** A form, field by field, if the user wants to fill it in. */
export async function form(ask: Ask, block: BlockSnapshot, type: Type): Promise<Said | undefined> {
  printNote(`\n${formHeading(block)}`);
  let said = await type(FORM_HINT);
  for (; said !== undefined && /^\s*[1-9]\d*\s*$/.test(said); said = await type(FORM_HINT))
    printNote(`${said} is not one of the answers. The fields come next.`);
  if (said === undefined) return undefined;
  if (!/^(y(es)?)?$/i.test(said)) return { allow: false, message: /^(no?|0)$/i.test(said) ? "" : said };
  const answer = await formAnswer(ask, type);
  return answer && { allow: true, answer };
}

/** An agent may have no other title than the form's message, which stands there once. */
export function formHeading({ metadata }: BlockSnapshot): string {
  const ask = askOf(metadata) as Ask;
  const heading = nameOf(ask.title, metadata);
  const lines = formText(ask).split("\n");
  const isRepeated = lines[0] !== undefined && exactLine(ask.form?.message ?? "") === heading;
  if (!isRepeated) return [`Needs an answer: ${heading}`, ...lines].join("\n");
  const isLong = (ask.form?.message ?? "").trim().includes("\n");
  return isLong
    ? ["Needs an answer:", ...lines].join("\n")
    : [`Needs an answer: ${heading}`, ...lines.slice(1)].join("\n");
}

async function permission(
  client: BlockSource,
  block: BlockSnapshot,
  ask: Ask,
  type: Type,
): Promise<Said | undefined> {
  const { plan } = ask;
  const hints = `, a number${plan === undefined ? "" : ", e to edit"}`;
  let said: string | undefined;
  let shown: ShownPlan | undefined;
  for (;;) {
    shown = plan === undefined ? undefined : await planText(client, plan);
    printNote(`\n${shown?.text ?? askText(block)}${answersText(ask)}`);
    said = await type(`Allow? [y/N${hints}, or a reason to deny] `);
    if (said === undefined) return undefined;
    if (isSlip(ask, said)) {
      printNote(`${said} is not one of the answers.`);
      continue;
    }
    if (plan === undefined || !/^e(dit)?$/i.test(said)) break;
    const why = await editPlan(client, plan);
    if (why !== "") printNote(`blockyard: ${why}`);
  }
  const chosen = answerIn(ask, said);
  const { allow, suggestion } = chosen ?? { allow: /^y(es)?$/i.test(said), suggestion: undefined };
  const message = chosen !== undefined || /^(no?)?$/i.test(said) ? "" : said;
  return {
    ...{ allow, message },
    ...(suggestion === undefined ? {} : { answer: { suggestion: suggestion.id } }),
    ...(shown === undefined ? {} : { planVersion: shown.version }),
  };
}

/**
 * How somebody else answered an ask, in words: none if the server is gone. Undefined: no longer relevant. An ask that a
 * restart has cut off expires before it is answered.
 */
export async function watchAnswer(
  client: BlockSource,
  block_id: string,
  ask: Pick<Ask, "id" | "state">,
  over: AbortSignal,
): Promise<string | undefined> {
  while (!over.aborted) {
    await sleep(ANSWERED_ELSEWHERE_MS, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return undefined;
    const words = await decidedWords(client, block_id, ask);
    if (over.aborted) return undefined;
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Undefined: it still waits for an answer. */
async function decidedWords(
  client: BlockSource,
  block_id: string,
  { id, state }: Pick<Ask, "id" | "state">,
): Promise<string | undefined> {
  const block = await client.call("block.read", { block_id });
  if (isProblem(block)) return block.problem === "busy" ? undefined : "";
  const ask = askOf(block.metadata);
  return ask?.id === id && ask.state !== "asked" && ask.state !== state
    ? askWords(ask, undefined, block.metadata.reason)
    : undefined;
}

/**
 * What the user is asked to allow: the asking agent in one line, which no text can end, and below it every character of
 * the input; above that the change or the lines of a command, if it has several, behind a bar, so that none of them
 * looks like ours.
 */
export function askText({ metadata }: BlockSnapshot): string {
  const ask = askOf(metadata) as Ask;
  const { title, input, subject } = ask;
  const what = visible(JSON.stringify(input ?? metadata.input ?? {}, null, 2));
  // For an agent that does not send its input, such as Gemini CLI, the full command is nowhere else.
  const isUntold = what === "{}";
  const shown =
    subject?.type === "diff"
      ? subject.diff
      : subject?.type === "command" && (isUntold || subject.command.trim().includes("\n"))
        ? subject.command
        : undefined;
  const isPlanless = ask.kind === "plan" && !hasPlan(ask);
  const name = editOf(subject) ?? `${title ?? metadata.toolName}`;
  const line = exactLine(name);
  // A line has the beginning of a long name; the whole of it may be nowhere else.
  const isCut = line !== visible(name.replace(/[ \t\r\n]+/g, " ").trim());
  const heading = `Needs approval: ${line}${isCut ? `\n${quoted(name)}` : ""}`;
  if (isUntold && !isPlanless) return shown === undefined ? heading : `${heading}\n${quoted(shown)}`;
  const above = isPlanless ? `${NO_PLAN}\n` : shown === undefined ? "" : `${quoted(shown)}\nExact input:\n`;
  return `${heading}\n${above}${what}`;
}

/** An agent's own title of an edit may be only a path, or the name of its tool. */
function editOf(subject: Ask["subject"]): string | undefined {
  if (subject?.type !== "diff") return undefined;
  const [first, ...others] = subject.paths ?? [];
  if (first === undefined) return undefined;
  return others.length === 0 ? `Edit ${first}` : `Edit ${first} and ${others.length} more`;
}

function nameOf(title: string | undefined, metadata: BlockSnapshot["metadata"]): string {
  return exactLine(`${title ?? metadata.toolName}`);
}

/** A name in one line, with invisible characters spelled out: a terminal executes nothing of it, and nothing is left out. */
function exactLine(name: string): string {
  return oneLine(visible(name.replace(/[ \t\r\n]+/g, " ").trim()), ASK_NAME_CHARS);
}

interface Keyboard {
  readonly input: NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
  readonly output: NodeJS.WritableStream;
  /** While the user types, Ctrl-C is a key: it means the same as everywhere else. */
  interrupt(): void;
  /** Nothing needs to be typed any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Discards input typed before the question, which cannot answer it. Returns whether there was any. */
export async function forgetTyped({ input, interrupt }: Keyboard): Promise<boolean> {
  let typed = "";
  const take = (data: Buffer | string) => {
    typed += data.toString();
  };
  // Key by key, so that an unfinished line is read too.
  input.setRawMode?.(true);
  input.on("data", take).resume();
  await sleep(TYPED_BEFORE_MS);
  input.off("data", take).pause();
  input.setRawMode?.(false);
  if (typed.includes("\u0003")) interrupt();
  return typed !== "";
}

/** A typed line: empty if the user ends the input instead, undefined if they interrupt or need not type it. */
export function typed(
  question: string,
  { input, output, interrupt, signal }: Keyboard,
): Promise<string | undefined> {
  if (signal?.aborted) return Promise.resolve(undefined);
  const lines = createInterface({ input, output, terminal: true });
  return new Promise<string | undefined>((resolve) => {
    lines.on("SIGINT", () => {
      resolve(undefined);
      interrupt();
    });
    signal?.addEventListener("abort", () => resolve(undefined), { once: true });
    lines.on("close", () => resolve(""));
    lines.question(question).then(
      (line) => resolve(line.trim()),
      () => resolve(""), // Ctrl-D
    );
  }).finally(() => lines.close());
}
