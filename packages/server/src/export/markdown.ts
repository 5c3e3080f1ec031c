/**
 * A conversation as Markdown: for reading, for pasting into an issue or a wiki. What people and models said stands as it
 * is; tool calls, thinking and the rest of long results are collapsed with <details>, which every common reader shows. Fences are longer than
 * any run of backticks inside them, so no text can end its own.
 */

import type { BlockSnapshot, Metadata } from "@blockyard/kernel";
import { type Kind, plural, sessionFacts } from "@blockyard/kernel/plain";
import {
  answerWords,
  callLine,
  callOutcome,
  cameWords,
  changeTexts,
  citedMarkdown,
  isMarkdownResult,
  isNotice,
  metadataOf,
  noticeName,
  observedHeading,
  plainTerminal,
  safeLink,
  sourcesOf,
  timesText,
  UNVERIFIED,
} from "@blockyard/kernel/presentation";
import { withoutControls } from "../system/escape.ts";
import { changedLines, collapsedOf, linesOf, type Shown, shortFormOf } from "./closed.ts";
import { footersOf, turnFacts } from "./html.ts";
import { commandSummary, type Item, isFollowed, timeline } from "./timeline.ts";
import type { ExportNode, ExportTree } from "./tree.ts";

export function* markdownExport(tree: ExportTree): Generator<string> {
  for (const piece of pieces(tree)) yield withoutControls(piece);
}

function* pieces(tree: ExportTree): Generator<string> {
  const { title, conversation, provider, model } = tree.head;
  const by = [provider, model].filter((part) => part !== undefined).join(" ");
  yield `# ${asWritten(title === "" ? conversation : title)}\n\n${by === "" ? "" : `*${asWritten(by)}*\n\n`}`;
  for (const { provider, facts } of sessionFacts(tree.head)) {
    const rows = facts.map(({ label, value }) => `- ${label}: ${asWritten(value)}\n`).join("");
    yield details(`Session: ${escapeTag(provider)}`, `${rows}\n`);
  }
  const footers = footersOf(tree);
  for (const item of timeline(tree.path, tree.head, (node) => footers.get(node) !== undefined)) {
    yield* itemText(item);
    const last =
      item.type === "node" ? item.node : item.type === "gathered" ? item.items.at(-1)?.node : undefined;
    const turn = last && footers.get(last);
    const facts = turn ? turnFacts(turn) : "";
    if (facts !== "") yield `---\n\n*${asWritten(facts)}*\n\n`;
  }
  for (const branch of tree.others) yield* branchText(branch);
}

function* itemText(item: Item): Generator<string> {
  if (item.type === "speaker") yield `### ${asWritten(item.speaker.name)}\n\n`;
  else if (item.type === "node") yield* nodeText(item.node, { todo: item.todo });
  else {
    yield `<details><summary>${escapeTag(item.words)}</summary>\n\n`;
    for (const each of item.items) yield* nodeText(each.node, {});
    yield "</details>\n\n";
  }
}

interface Around {
  readonly call?: BlockSnapshot | undefined;
  readonly isFollowed?: boolean;
  readonly todo?: BlockSnapshot | undefined;
}

function* nodeText(node: ExportNode, around: Around): Generator<string> {
  const { block, work, results, nested, branches } = node;
  const isCall = block.kind === "tool_call";
  const drawn = results.map((result) => {
    const own = { call: block, isFollowed: isFollowed(result), todo: around.todo };
    const shown = { ...own, block: result.block, isLivingTodo: own.todo !== undefined };
    return { result, own, isInside: shortFormOf(shown) === "line" };
  });
  const inside = drawn.filter((each) => each.isInside);
  if (isCall)
    yield `<details><summary>${callSummary(node)}</summary>\n\n${code(metadataOf(block, "tool_call").toolName)}\n\n${fence(block.content, "json")}`;
  else yield KIND_TEXT[block.kind](block, around);
  const insideText = () => inside.flatMap(({ result, own }) => [...nodeText(result, own)]);
  // A sub-agent's work comes before its results.
  if (work.length === 0) yield* insideText();
  if (isCall) yield "</details>\n\n";
  if (work.length > 0) yield* detailsOf(`Its work: ${plural(work.length, "block")}`, work, insideText());
  for (const { result, own } of drawn.filter((each) => !each.isInside)) yield* nodeText(result, own);
  if (nested.length > 0) yield* detailsOf(`Its work: ${plural(nested.length, "block")}`, nested);
  for (const branch of branches) yield* branchText(branch);
}

function* branchText(branch: readonly ExportNode[]): Generator<string> {
  yield* detailsOf(`Another branch: ${plural(branch.length, "block")}`, branch);
}

function* detailsOf(
  title: string,
  nodes: readonly ExportNode[],
  behind: readonly string[] = [],
): Generator<string> {
  yield `<details><summary>${title}</summary>\n\n`;
  for (const item of timeline(nodes, undefined)) yield* itemText(item);
  yield* behind;
  yield "</details>\n\n";
}

/** The line of a call, as on the page. */
function callSummary({ block, results }: ExportNode): string {
  const { state, word } = callOutcome(block);
  const of = results.map((result) => result.block);
  const { deed, name, subject, isCommand } = callLine(block, of);
  const answer = deed === "ask" && state === "done" ? answerWords(block, of) : "";
  const ran = isCommand && state === "done" ? of.find(({ kind }) => kind === "command") : undefined;
  const sign = state === "done" ? "✓" : state === "failed" ? "✗" : "…";
  const said = [subject, ran ? commandSummary(ran) : (cameWords(block, of) ?? answer)].filter(
    (part) => part !== undefined && part !== "",
  );
  return `<b>${escapeTag(`${sign} ${name}${word === "" ? "" : ` (${word})`}`)}</b> ${escapeTag(oneLine(said.join(" — ")))}`;
}

const KIND_TEXT: Readonly<Record<Kind, (block: BlockSnapshot, around: Around) => string>> = {
  text: (block) => {
    const { notice, label, citations = [] } = metadataOf(block, "text");
    if (notice !== undefined || block.role === "system")
      return `> ${asWritten(`${[noticeName(notice, block.content), block.content, answerWords(block, [])].filter(Boolean).join(": ")} ${timesText(block.metadata)}`)}\n\n`;
    const who = label === undefined ? "" : `**${asWritten(label)}**\n\n`;
    const said = block.promoted ? block.content : citedMarkdown(block.content, citations);
    return `${who}${said.trimEnd()}\n\n${sources(citations)}`;
  },
  thinking: ({ content }) => (content === "" ? "" : details("Thinking", `${content.trimEnd()}\n\n`)),
  tool_call: () => "",
  tool_result: (block, around) => {
    const { content } = block;
    const { citations = [] } = metadataOf(block, "tool_result");
    const others = sources(citations.filter(({ url }) => !content.includes(url)));
    if (content === "" && others === "") return "";
    const isMarkdown = isMarkdownResult(metadataOf(block, "tool_result"));
    const said = content === "" ? "" : isMarkdown ? `${content.trimEnd()}\n\n` : fence(content, "");
    return `${shown(said, { block, ...known(around), source: linesOf(content) })}${others}`;
  },
  code: (block, around) => {
    const { filename, language } = metadataOf(block, "code");
    const name = filename === undefined ? "" : `${code(filename)}\n\n`;
    return `${name}${shown(fence(block.content, language ?? ""), { block, ...known(around), source: linesOf(block.content) })}`;
  },
  command: (block, around) => {
    const { command, stderr, exitCode } = metadataOf(block, "command");
    const exit = exitCode === undefined || exitCode === null ? [] : [`[exit ${exitCode}]`];
    const output = plainTerminal([block.content, stderr ?? ""].filter((part) => part !== "").join("\n"));
    const source = linesOf(output.trimEnd());
    const closed = collapsedOf({ block, ...known(around), source, chars: output.length });
    const said = (lines: readonly string[]) =>
      fence([`$ ${command}`, ...lines, ...exit].join("\n"), "console");
    if (!closed.isClosed || closed.form === "line") return said(source);
    return `${said(closed.excerpt)}${details(closed.title, fence(output, "console"))}`;
  },
  file_change: (block, around) => {
    const metadata = metadataOf(block, "file_change");
    const { changes } = metadata;
    const texts = changeTexts(changes, block.content);
    const heading = observedHeading(metadata);
    const drawn = changes
      .map(({ path, kind, movedTo, unverified }, i) => {
        const { diff = "", note = "" } = texts[i] ?? {};
        const doubt = unverified ? ` *(${UNVERIFIED})*` : "";
        const said = note === "" ? "" : `> ${asWritten(note)}\n\n`;
        const source = linesOf(diff);
        const changed = changedLines(source.filter((line) => !/^(---|\+\+\+) /.test(line)));
        const extent = { block, ...known(around), source, chars: diff.length, changed };
        const moved = movedTo === undefined ? "" : ` moved to ${code(movedTo)}`;
        return `**${kind}** ${code(path)}${moved}${doubt}\n\n${diff === "" ? "" : shown(fence(diff, "diff"), extent, "diff")}${said}`;
      })
      .join("");
    return heading === undefined ? drawn : `*${heading}*\n\n${drawn}`;
  },
  todo: (block, around) =>
    shown(`${(around.todo ?? block).content.trimEnd()}\n\n`, {
      block,
      ...known(around),
      source: linesOf((around.todo ?? block).content.trimEnd()),
      chars: 0,
    }),
  image: ({ content }) => `*[picture${content === "" ? "" : `: ${asWritten(content)}`}]*\n\n`,
  file: (block) => {
    const { path, language } = metadataOf(block, "file");
    const text = fence(block.content, language ?? "");
    return `${code(path)}\n\n${shown(text, { block, call: undefined, source: linesOf(block.content) })}`;
  },
  error: (block) => {
    const { content, metadata } = block;
    const said = `${content || String(metadata.code ?? "")} ${timesText(metadata)}`;
    return isNotice(block)
      ? `> ${asWritten([noticeName(metadata.notice, said), said].filter(Boolean).join(": "))}\n\n`
      : `> **Error:** ${asWritten(said)}\n\n`;
  },
  unknown: (block) =>
    details(
      `Unrecognized event: ${escapeTag(metadataOf(block, "unknown").type ?? "")}`,
      fence(block.content, "json"),
    ),
};

/** Numbered as in the text, with the cited passages of each. */
function sources(citations: NonNullable<Metadata<"text">["citations"]>): string {
  const rows = sourcesOf(citations).map(({ number, url, title, snippets }) => {
    const name =
      safeLink(url) === undefined ? asWritten(title ?? url) : `[${asWritten(title ?? url)}](<${url}>)`;
    return `${number}. ${name}\n${snippets.map((snippet) => `   > ${asWritten(snippet)}\n`).join("\n")}`;
  });
  return rows.length === 0 ? "" : `${rows.join("")}\n`;
}

function known({ call, isFollowed, todo }: Around) {
  return { call, isFollowed, isLivingTodo: todo !== undefined };
}

/** A result as the page first shows it: whole, or some of its lines with the rest behind a line that opens it. */
function shown(whole: string, extent: Shown, language = ""): string {
  const { form, isClosed, title, excerpt } = collapsedOf(extent);
  if (!isClosed || form === "line") return whole;
  return `${fence(excerpt.join("\n"), language)}${details(title, whole)}`;
}

function details(summary: string, body: string): string {
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

/** One line that reads as written: no character in it is Markdown. */
function asWritten(text: string): string {
  return oneLine(text)
    .replace(/[\\`*[\]<]/g, "\\$&")
    .replace(/(?<!\w)_|_(?!\w)/g, "\\_")
    .replace(/^([#>+-]|\d+[.)])(?=\s|$)/, (mark) => `${mark.slice(0, -1)}\\${mark.slice(-1)}`);
}

function escapeTag(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
