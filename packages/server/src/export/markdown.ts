/**
 * A conversation as Markdown: for reading, for pasting into an issue or a wiki. What people and models said stands as it
 * is; tool calls, thinking and the rest of long results are folded with <details>, which every common reader shows. Fences are longer than
 * any run of backticks inside them, so no text can end its own.
 */

import {
  type BlockSnapshot,
  callOutcome,
  changeTexts,
  citedMarkdown,
  isMarkdownResult,
  type Kind,
  type Metadata,
  plainTerminal,
  plural,
  safeLink,
  sessionFacts,
  sourcesOf,
  timesText,
  UNVERIFIED,
} from "@blockyard/kernel";
import { changedLines, excerptLines, foldingOf, linesOf, type Shown } from "./closed.ts";
import { turnAfter, turnFacts } from "./html.ts";
import type { ExportNode, ExportTree } from "./tree.ts";

export function* markdownExport(tree: ExportTree): Generator<string> {
  const { title, conversation, provider, model } = tree.head;
  const by = [provider, model].filter((part) => part !== undefined).join(" ");
  yield `# ${asWritten(title === "" ? conversation : title)}\n\n${by === "" ? "" : `*${asWritten(by)}*\n\n`}`;
  for (const { provider, facts } of sessionFacts(tree.head)) {
    const rows = facts.map(({ label, value }) => `- ${label}: ${asWritten(value)}\n`).join("");
    yield folded(`Session: ${escapeTag(provider)}`, `${rows}\n`);
  }
  for (const [i, node] of tree.path.entries()) {
    yield* nodeText(node);
    const turn = turnAfter(node, tree.path[i + 1], tree.turns);
    const facts = turn ? turnFacts(turn) : "";
    if (facts !== "") yield `---\n\n*${asWritten(facts)}*\n\n`;
  }
  for (const branch of tree.others) yield* branchText(branch);
}

function* nodeText(node: ExportNode, call?: BlockSnapshot): Generator<string> {
  const { block, work, results, nested, branches } = node;
  yield KIND_TEXT[block.kind](block, call);
  if (work.length > 0) yield* foldedNodes(`Its work: ${plural(work.length, "block")}`, work);
  for (const result of results) yield* nodeText(result, block);
  if (nested.length > 0) yield* foldedNodes(`Its work: ${plural(nested.length, "block")}`, nested);
  for (const branch of branches) yield* branchText(branch);
}

function* branchText(branch: readonly ExportNode[]): Generator<string> {
  yield* foldedNodes(`Another way from here: ${plural(branch.length, "block")}`, branch);
}

function* foldedNodes(title: string, nodes: readonly ExportNode[]): Generator<string> {
  yield `<details><summary>${title}</summary>\n\n`;
  for (const node of nodes) yield* nodeText(node);
  yield "</details>\n\n";
}

const KIND_TEXT: Readonly<Record<Kind, (block: BlockSnapshot, call?: BlockSnapshot) => string>> = {
  text: (block) => {
    const { notice, label, citations = [] } = metadataOf(block, "text");
    if (notice !== undefined || block.role === "system")
      return `> ${asWritten(`${[notice, block.content].filter(Boolean).join(": ")} ${timesText(block.metadata)}`)}\n\n`;
    const who = block.role === "user" ? `### ${asWritten(label ?? block.agent)}\n\n` : "";
    const said = block.promoted ? block.content : citedMarkdown(block.content, citations);
    return `${who}${said.trimEnd()}\n\n${sources(citations)}`;
  },
  thinking: ({ content }) => (content === "" ? "" : folded("Thinking", `${content.trimEnd()}\n\n`)),
  tool_call: (block) => {
    const { toolName, compactParams, shortResult } = metadataOf(block, "tool_call");
    const { state, word } = callOutcome(block);
    const sign = state === "done" ? "✓" : state === "failed" ? "✗" : "…";
    const said = [compactParams, shortResult].filter((part) => part !== undefined && part !== "").join(" — ");
    const name = `${sign} ${toolName}${word === "" ? "" : ` (${word})`}`;
    return folded(`<b>${escapeTag(name)}</b> ${escapeTag(oneLine(said))}`, fence(block.content, "json"));
  },
  tool_result: (block, call) => {
    const { content } = block;
    const { citations = [] } = metadataOf(block, "tool_result");
    const others = sources(citations.filter(({ url }) => !content.includes(url)));
    if (content === "" && others === "") return "";
    const isMarkdown = isMarkdownResult(metadataOf(block, "tool_result"));
    const said = content === "" ? "" : isMarkdown ? `${content.trimEnd()}\n\n` : fence(content, "");
    return `${shown(said, { block, call, source: linesOf(content) })}${others}`;
  },
  code: (block, call) => {
    const { filename, language } = metadataOf(block, "code");
    const name = filename === undefined ? "" : `${code(filename)}\n\n`;
    return `${name}${shown(fence(block.content, language ?? ""), { block, call, source: linesOf(block.content) })}`;
  },
  command: (block, call) => {
    const { command, stderr, exitCode } = metadataOf(block, "command");
    const exit = exitCode === undefined || exitCode === null ? [] : [`[exit ${exitCode}]`];
    const output = plainTerminal([block.content, stderr ?? ""].filter((part) => part !== "").join("\n"));
    const source = linesOf(output.trimEnd());
    const folding = foldingOf({ block, call, source, chars: output.length });
    const said = (lines: readonly string[]) =>
      fence([`$ ${command}`, ...lines, ...exit].join("\n"), "console");
    if (!folding.isClosed) return said(source);
    return `${said(excerptLines(folding.excerpt))}${folded(`Show ${folding.amount}`, fence(output, "console"))}`;
  },
  file_change: (block, call) => {
    const { changes } = metadataOf(block, "file_change");
    const texts = changeTexts(changes, block.content);
    return changes
      .map(({ path, kind, unverified }, i) => {
        const { diff = "", note = "" } = texts[i] ?? {};
        const doubt = unverified ? ` *(${UNVERIFIED})*` : "";
        const said = note === "" ? "" : `> ${asWritten(note)}\n\n`;
        const source = linesOf(diff);
        const changed = changedLines(source.filter((line) => !/^(---|\+\+\+) /.test(line)));
        const extent = { block, call, source, chars: diff.length, changed };
        return `**${kind}** ${code(path)}${doubt}\n\n${diff === "" ? "" : shown(fence(diff, "diff"), extent, "diff")}${said}`;
      })
      .join("");
  },
  todo: (block, call) =>
    shown(`${block.content.trimEnd()}\n\n`, {
      block,
      call,
      source: linesOf(block.content.trimEnd()),
      chars: 0,
    }),
  image: ({ content }) => `*[picture${content === "" ? "" : `: ${asWritten(content)}`}]*\n\n`,
  file: (block) => {
    const { path, language } = metadataOf(block, "file");
    const text = fence(block.content, language ?? "");
    return `${code(path)}\n\n${shown(text, { block, call: undefined, source: linesOf(block.content) })}`;
  },
  error: ({ content, metadata }) =>
    `> **Error:** ${asWritten(`${content || String(metadata["code"] ?? "")} ${timesText(metadata)}`)}\n\n`,
  unknown: (block) =>
    folded(
      `Not understood: ${escapeTag(metadataOf(block, "unknown").type ?? "")}`,
      fence(block.content, "json"),
    ),
};

/** Numbered as in the text, with what was cited of each. */
function sources(citations: NonNullable<Metadata<"text">["citations"]>): string {
  const rows = sourcesOf(citations).map(({ number, url, title, snippets }) => {
    const name =
      safeLink(url) === undefined ? asWritten(title ?? url) : `[${asWritten(title ?? url)}](<${url}>)`;
    return `${number}. ${name}\n${snippets.map((snippet) => `   > ${asWritten(snippet)}\n`).join("\n")}`;
  });
  return rows.length === 0 ? "" : `${rows.join("")}\n`;
}

/** A result as the page shows it at first: whole, or its first and last lines with the rest behind a line to open. */
function shown(whole: string, extent: Shown, language = ""): string {
  const { isClosed, amount, excerpt } = foldingOf(extent);
  if (!isClosed) return whole;
  return `${fence(excerptLines(excerpt).join("\n"), language)}${folded(`Show ${amount}`, whole)}`;
}

function folded(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}</details>\n\n`;
}

function fence(text: string, language: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const marks = "`".repeat(longest + 1);
  return `${marks}${/^[\w+-]*$/.test(language) ? language : ""}\n${text.replace(/\n$/, "")}\n${marks}\n\n`;
}

function code(text: string): string {
  return `\`${oneLine(text).replaceAll("`", "'")}\``;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** One line that reads as it was written: no mark in it is Markdown. */
function asWritten(text: string): string {
  return oneLine(text)
    .replace(/[\\`*[\]<]/g, "\\$&")
    .replace(/(?<!\w)_|_(?!\w)/g, "\\_")
    .replace(/^([#>+-]|\d+[.)])(?=\s|$)/, (mark) => `${mark.slice(0, -1)}\\${mark.slice(-1)}`);
}

function escapeTag(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function metadataOf<K extends Kind>(block: BlockSnapshot, _kind: K): Metadata<K> {
  return block.metadata as unknown as Metadata<K>;
}
