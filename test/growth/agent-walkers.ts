/**
 * What reads the words of agents, commands and repositories before anybody sees them: adapters, redaction, rules, configuration. Part of
 * the list in walkers.ts.
 */
import {
  callLine,
  citedMarkdown,
  compilePattern,
  deedOf,
  excerptOf,
  filterOf,
  foldCase,
  isProblem,
  isShellCommand,
  liveInput,
  maskMath,
  matchText,
  PartialJson,
  plainTerminal,
  safeLink,
  titleFrom,
  toolTitle,
} from "@blockyard/kernel";
import { LineReader, Normalizer, type Provider, providers, recognise, SseReader } from "@blockyard/providers";
import { guardOfName } from "../../packages/server/src/files/guarded-path.ts";
import { IgnoreStack } from "../../packages/server/src/files/ignore-rules.ts";
import { EventRedactor } from "../../packages/server/src/ingest/event-redactor.ts";
import { redactRaw, withoutPieces } from "../../packages/server/src/ingest/redact-body.ts";
import { settingsIn } from "../../packages/server/src/system/git-settings.ts";
import { slicedJson } from "../../packages/server/src/system/sliced-json.ts";
import { TextRedactor } from "../../packages/server/src/system/text-redactor.ts";
import { commandsIn, looseWords } from "../../packages/server/src/turns/rules/command-words.ts";
import type { Pattern } from "../../packages/server/src/turns/rules/contract.ts";
import { allows, denies, patternsOf } from "../../packages/server/src/turns/rules/pattern.ts";
import type { Walker } from "./walker.ts";

const PIECE_CHARS = 40;

/** How each kind of agent says a piece of a text, of a command's output, or of a call's input. */
const PIECES: readonly (readonly [string, string, (text: string) => object])[] = [
  [
    "claude-control",
    "text",
    (text) => ({
      type: "stream_event",
      event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    }),
  ],
  [
    "claude-control",
    "input",
    (partial_json) => ({
      type: "stream_event",
      event: { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json } },
    }),
  ],
  [
    "acp",
    "text",
    (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }),
  ],
  [
    "acp",
    "output",
    (text) =>
      update({
        ...{ sessionUpdate: "tool_call_update", toolCallId: "c", status: "in_progress" },
        content: [{ type: "content", content: { type: "text", text } }],
      }),
  ],
  [
    "codex-app-server",
    "text",
    (delta) => ({
      method: "item/agentMessage/delta",
      params: { threadId: "t", turnId: "u", itemId: "i", delta },
    }),
  ],
  [
    "codex-app-server",
    "output",
    (delta) => ({
      ...{ method: "item/commandExecution/outputDelta" },
      params: { threadId: "t", turnId: "u", itemId: "j", delta },
    }),
  ],
  [
    "openai",
    "text",
    (content) => ({ object: "chat.completion.chunk", id: "c", choices: [{ index: 0, delta: { content } }] }),
  ],
  [
    "anthropic",
    "text",
    (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  ],
];

function update(inner: object): object {
  return { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: inner } };
}

const COMMAND: Pattern = { type: "command", words: ["git", "status"] };

export const AGENT_WALKERS: readonly Walker[] = [
  ...[...providers.values()].map((provider) => ({
    name: `${provider.name}: what is no event`,
    walk: (text: string) => normalized(provider, text),
  })),
  ...PIECES.map(([name, what, line]) => ({
    name: `${name}: ${what} in pieces`,
    walk: (text: string) => {
      const provider = providers.get(name) as Provider;
      normalized(
        provider,
        cut(text)
          .map((piece) => `${JSON.stringify(line(piece))}\n`)
          .join(""),
      );
    },
  })),
  { name: "lines and events of a stream", walk: framed },
  { name: "whose stream it is", walk: recognise },
  {
    name: "redaction of what comes in pieces",
    walk: (text) => {
      const redactor = new TextRedactor();
      for (const piece of cut(text)) redactor.push(piece);
      redactor.end();
    },
  },
  {
    name: "redaction of events",
    walk: (text) => {
      const redactor = new EventRedactor();
      for (const kind of ["text", "tool_call"] as const) {
        const key = kind;
        redactor.take([{ type: "block-start", key, kind, role: "model", metadata: { said: text } }]);
        for (const piece of cut(text)) redactor.take([{ type: "block-append", key, text: piece }]);
        redactor.take([{ type: "block-end", key, status: "done" }]);
      }
    },
  },
  { name: "redaction of a raw line", walk: (text) => [redactRaw(text), redactRaw(JSON.stringify({ text }))] },
  { name: "pieces in a raw line", walk: (text) => withoutPieces(JSON.stringify({ delta: text, text })) },
  { name: "words of a command", walk: (text) => [commandsIn(text), looseWords(text)] },
  {
    name: "rules and a command",
    walk: (command) => {
      const subject = { type: "command", command } as const;
      return [
        patternsOf(subject, "/w", false),
        allows([COMMAND], subject, "/w"),
        denies(COMMAND, subject, "/w"),
      ];
    },
  },
  {
    name: "rules and paths",
    walk: (text) => {
      const subject = { type: "diff", diff: "", paths: text.split("\n") } as const;
      return [patternsOf(subject, "/w", false), allows([{ type: "path", folder: "/w" }], subject, "/w")];
    },
  },
  { name: "git's configuration", walk: settingsIn },
  { name: "why a path is guarded", walk: guardOfName },
  {
    name: ".gitignore",
    // A path is of a file below the folder.
    walk: (text) => new IgnoreStack().with("", text).ignores(`a${text.slice(0, 4_000).trim()}`),
  },
  { name: "title of a conversation", walk: titleFrom },
  {
    name: "words of a tool",
    walk: (text) => [toolTitle(text, undefined), toolTitle(`mcp__${text}`, undefined), deedOf(text)],
  },
  {
    name: "line of a call",
    walk: (text) => {
      const facts = {
        kind: "tool_call",
        status: "done",
        metadata: { toolName: "Bash", input: { command: text } },
      };
      return callLine(facts as never, []);
    },
  },
  {
    name: "shell or not",
    walk: (text) => isShellCommand({ kind: "command", metadata: { command: text, toolName: text } as never }),
  },
  { name: "sources in a text", walk: (text) => citedMarkdown(text, cited(text)) },
  { name: "excerpt of an output", walk: (text) => excerptOf(text.split("\n")) },
  { name: "output without colours", walk: plainTerminal },
  { name: "a link", walk: (text) => [safeLink(text), safeLink(`http://${text}`)] },
  { name: "formulas left alone", walk: maskMath },
  {
    name: "input of a call while it comes",
    walk: (text) => {
      const json = new PartialJson();
      json.push(`{"command":${JSON.stringify(text)}`);
      return liveInput("Bash", json);
    },
  },
  {
    name: "pattern of a search",
    walk: (text) =>
      compilePattern({ pattern: text.slice(0, 1_000), literal: false, ignoreCase: true } as never),
  },
  {
    name: "words of a search",
    walk: (text) => {
      const pattern = compilePattern({ pattern: "a.*b", literal: false, ignoreCase: true } as never);
      return isProblem(pattern)
        ? undefined
        : [
            matchText(text, pattern, { contextLines: 2, maxMatches: 100, isLate: () => false }),
            filterOf(text),
            foldCase(text),
          ];
    },
  },
  {
    name: "JSON of a long answer",
    walk: (text) => void slicedJson({ text, list: cut(text) }, async () => undefined),
  },
];

function cut(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += PIECE_CHARS) pieces.push(text.slice(at, at + PIECE_CHARS));
  return pieces;
}

function normalized(provider: Provider, text: string): void {
  const normalizer = new Normalizer(provider);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 4_096) normalizer.push(bytes.subarray(at, at + 4_096));
  normalizer.end();
}

function framed(text: string): void {
  const lines = new LineReader({ splitsAtCr: true });
  const events = new SseReader();
  for (const piece of cut(text)) for (const line of lines.push(Buffer.from(piece))) events.push(line);
  for (const line of lines.end()) events.push(line);
  events.end();
}

/** A source for every hundred characters. */
function cited(text: string) {
  return Array.from({ length: Math.floor(text.length / 100) }, (_, i) => ({
    ...{ url: `https://example.org/${i}`, title: text.slice(i * 100, i * 100 + 40), start: i * 100 },
    end: i * 100 + 90,
    snippet: text.slice(i * 100, i * 100 + 90),
  })) as never;
}
