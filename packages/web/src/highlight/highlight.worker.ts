/**
 * The highlighting worker: colours source text line by line with shiki's grammars, off the page's thread. It caches the
 * grammar's state after each line of the most recent texts, so that a growing text costs only its new part.
 */

import {
  createCssVariablesTheme,
  createHighlighterCore,
  type GrammarState,
  type HighlighterCore,
} from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { GRAMMARS } from "./grammars.ts";
import { COLOURED_LINE_CHARS, COLOURED_LINES, LINE_MS, SEEN_TEXTS } from "./limits.ts";
import { COLORS, type HighlightAnswer, type HighlightRequest, type LineTokens } from "./message.ts";

interface Seen {
  readonly grammar: string;
  lines: string[];
  /** The state behind line i. */
  states: (GrammarState | undefined)[];
}

const THEME = "tokens";

const seen = new Map<string, Seen>();
const loading = new Map<string, Promise<boolean>>();
let highlighter: Promise<HighlighterCore> | undefined;
const waiting = new Map<string, HighlightRequest>();
let isBusy = false;

addEventListener("message", (event: MessageEvent<HighlightRequest>) => {
  waiting.set(event.data.name, event.data);
  if (!isBusy) void work();
});

/** One text after the other; of one that changes faster than it is coloured, only the newest. */
async function work(): Promise<void> {
  isBusy = true;
  for (let next = waiting.values().next(); !next.done; next = waiting.values().next()) {
    const request = next.value;
    waiting.delete(request.name);
    const answer = await highlight(request).catch(() => undefined);
    if (answer) postMessage(answer);
    await new Promise((resume) => setTimeout(resume, 0));
  }
  isBusy = false;
}

async function highlight({ name, grammar, text }: HighlightRequest): Promise<HighlightAnswer | undefined> {
  highlighter ??= create();
  const engine = await highlighter;
  if (!(await load(engine, grammar))) return undefined;
  const lines = text.split("\n").slice(0, COLOURED_LINES);
  const known = remember(name, grammar);
  let from = 0;
  while (from < lines.length && from < known.states.length && lines[from] === known.lines[from]) from++;
  known.states.length = from;
  const answer: LineTokens[] = [];
  for (let i = from; i < lines.length; i++) {
    const before = known.states[i - 1];
    const { tokens, state } = colourLine(engine, grammar, lines[i] as string, before);
    answer.push(tokens);
    known.states.push(state);
  }
  known.lines = lines;
  return { name, from, lines: answer, chars: text.length };
}

function colourLine(
  engine: HighlighterCore,
  grammar: string,
  line: string,
  before: GrammarState | undefined,
): { tokens: LineTokens; state: GrammarState | undefined } {
  if (line.length > COLOURED_LINE_CHARS) return { tokens: [line.length, 0], state: before };
  const result = engine.codeToTokens(line, {
    lang: grammar,
    theme: THEME,
    tokenizeTimeLimit: LINE_MS,
    ...(before ? { grammarState: before } : {}),
  });
  const tokens = (result.tokens[0] ?? []).flatMap((token) => [token.content.length, colourOf(token.color)]);
  return { tokens, state: result.grammarState ?? before };
}

function colourOf(color: string | undefined): number {
  const name = /--t-token-([a-z-]+)/.exec(color ?? "")?.[1];
  return name === undefined ? 0 : Math.max(0, (COLORS as readonly string[]).indexOf(name));
}

function remember(name: string, grammar: string): Seen {
  const before = seen.get(name);
  const entry = before?.grammar === grammar ? before : { grammar, lines: [], states: [] };
  seen.delete(name);
  seen.set(name, entry);
  if (seen.size > SEEN_TEXTS) seen.delete(seen.keys().next().value as string);
  return entry;
}

function create(): Promise<HighlighterCore> {
  return createHighlighterCore({
    themes: [createCssVariablesTheme({ name: THEME, variablePrefix: "--t-" })],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}

function load(engine: HighlighterCore, grammar: string): Promise<boolean> {
  const known = loading.get(grammar);
  if (known) return known;
  const get = GRAMMARS[grammar];
  const loaded = get
    ? get()
        .then((module) => engine.loadLanguage(module.default))
        .then(() => true)
    : Promise.resolve(false);
  loading.set(grammar, loaded);
  return loaded;
}
