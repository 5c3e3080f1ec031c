/**
 * One block as HTML, by its kind: the page's look without the page's program. What is long is folded with <details>. A
 * block's element carries the attributes that the page's has: data-block, data-kind, data-status.
 */

import {
  askOf,
  askWords,
  type BlockSnapshot,
  callOutcome,
  changeTexts,
  citedMarkdown,
  exactText,
  formatDuration,
  isMarkdownResult,
  type Kind,
  leftWords,
  type Metadata,
  plainTerminal,
  plural,
  REASON_WORDS,
  type Reason,
  repeatsDenial,
  safeLink,
  safePicture,
  showsPictures,
  sourcesOf,
  timesText,
  todoLine,
  toolTitle,
  UNVERIFIED,
} from "@blockyard/kernel";
import { type Html, html, join, NOTHING } from "../system/escape.ts";
import { changedLines, foldingOf, linesOf, type Shown } from "./closed.ts";
import { highlight } from "./highlight.ts";
import { markdownHtml } from "./markdown-html.ts";
import { terminalHtml } from "./terminal-html.ts";
import type { ExportNode } from "./tree.ts";

/** A sub-agent's work with longer texts than this is closed. */
const SHORT_LINES = 10;
const INPUT_CHARS = 200_000;
const PREVIEW_CHARS = 160;

/** `call`: what a result is the result of. */
type Draw = (block: BlockSnapshot, call?: BlockSnapshot) => Html;

const KIND_HTML: Readonly<Record<Kind, Draw>> = {
  text: drawText,
  thinking: drawThinking,
  tool_call: () => NOTHING,
  tool_result: drawResult,
  code: drawCode,
  command: drawCommand,
  file_change: drawChanges,
  todo: drawTodo,
  image: drawImage,
  file: drawFile,
  error: drawError,
  unknown: drawUnknown,
};

export function nodeHtml(node: ExportNode, depth: number): Html {
  const { block } = node;
  const body = block.kind === "tool_call" ? drawCall(node, depth) : KIND_HTML[block.kind](block);
  const below = block.kind === "tool_call" ? NOTHING : nestedHtml(node.nested, depth, "Beside it");
  const own = html`<article class="block kind-${block.kind} role-${block.role}${block.pruned ? " is-pruned" : ""}" ${names(block)} data-depth="${Math.min(depth, 6)}">${body}${below}</article>`;
  return html`${own}${branchesHtml(node, depth)}`;
}

function names({ block_id, kind, status }: BlockSnapshot): Html {
  return html`id="${block_id}" data-block="${block_id}" data-kind="${kind}" data-status="${status}"`;
}

export function branchesHtml({ branches }: Pick<ExportNode, "branches">, depth: number): Html {
  return join(
    branches.map(
      (branch) =>
        html`<details class="branch"><summary>Another way from here: ${plural(branch.length, "block")}</summary>${branch.map((node) => nodeHtml(node, depth + 1))}</details>`,
    ),
  );
}

function nestedHtml(nested: readonly ExportNode[], depth: number, title: string): Html {
  if (nested.length === 0) return NOTHING;
  const isShort = nested.every(({ block }) => block.kind !== "tool_call" && block.newlines < SHORT_LINES);
  return html`<details class="nested"${isShort && nested.length < 4 ? OPEN : NOTHING}><summary>${title}: ${plural(nested.length, "block")}</summary>${nested.map((node) => nodeHtml(node, depth + 1))}</details>`;
}

const OPEN: Html = { html: " open" };

function drawCall(node: ExportNode, depth: number): Html {
  const { block, results } = node;
  const { toolName, displayName, compactParams, shortResult, error, images, durationMs } = metadataOf(
    block,
    "tool_call",
  );
  const ask = askOf(block.metadata);
  const { state, word } = callOutcome(block);
  const tone = state === "done" ? "ok" : state === "failed" ? "bad" : "dim";
  const name = toolTitle(toolName, displayName);
  const line = html`<summary class="tool-line"><span class="tool-name">${name}</span> <span class="tool-params">${compactParams}</span> <span class="tool-short dim">${shortResult}</span> <span class="dim">${took(durationMs)}</span> <span class="${tone}"><span class="sign">${state === "done" ? "✓" : state === "failed" ? "✗" : ""}</span> ${word}</span></summary>`;
  const input = html`<pre class="code">${highlight(pretty(block.content), "json")}</pre>`;
  const shown = results.map(
    (result) =>
      html`<div ${names(result.block)}>${repeatsDenial(block.metadata, result.block.metadata) ? NOTHING : KIND_HTML[result.block.kind](result.block, block)}${nestedHtml(result.nested, depth, "Beside it")}${branchesHtml(result, depth)}</div>`,
  );
  const answered = ask ? askWords(ask, undefined, block.metadata["reason"]) : "";
  const asked = answered === "" ? NOTHING : html`<div class="agent-ask dim">${answered}</div>`;
  const failed =
    error !== undefined && results.length === 0 && ask?.state !== "denied"
      ? html`<div class="tool-error bad">${error}</div>`
      : NOTHING;
  // A result shows its own pictures; the call holds them once more.
  const isShown = results.some((result) => showsPictures(result.block.kind, result.block.metadata));
  const own = isShown ? NOTHING : pictures(images);
  return html`<details class="tool">${line}${input}</details>${asked}${nestedHtml(node.work, depth, "Its work")}<div class="results">${shown}</div>${failed}${own}${nestedHtml(node.nested, depth, "Its work")}`;
}

function drawText(block: BlockSnapshot): Html {
  const { notice, label, citations, reason } = metadataOf(block, "text");
  if (notice !== undefined || (block.role === "system" && block.chars < 200 && block.newlines === 0))
    return html`<div class="notice"><span class="notice-name dim">${notice?.replaceAll("_", " ")}</span> <span class="notice-text">${block.content}</span> <span class="times">${timesText(block.metadata)}</span></div>`;
  const who =
    block.role === "user"
      ? html`<div class="who">${label ?? block.agent}</div>`
      : label
        ? html`<div class="who">${label}</div>`
        : NOTHING;
  const said = block.promoted ? block.content : citedMarkdown(block.content, citations ?? []);
  return html`${who}<div class="said">${markdownHtml(said)}</div>${sources(citations)}${why(reason)}`;
}

function drawThinking(block: BlockSnapshot): Html {
  const { redacted, durationMs } = metadataOf(block, "thinking");
  if (block.content === "") {
    const what = redacted ? "Thought, hidden by the provider" : "Thought, not shown";
    return html`<div class="dim"><span class="thinking-word">${what}</span></div>`;
  }
  return html`<details class="thinking"><summary><span class="thinking-word">Thought</span> <span class="dim">${took(durationMs)}</span> <span class="thinking-preview dim">${preview(block.content)}</span></summary>${markdownHtml(block.content)}</details>`;
}

/** The first line of a thought, as it was written and as the page shows it. */
function preview(text: string): string {
  const lines = text
    .trimStart()
    .slice(0, PREVIEW_CHARS * 2)
    .split("\n");
  const line = lines.find((each) => each.trim() !== "") ?? "";
  return line.trim().slice(0, PREVIEW_CHARS).toWellFormed();
}

function drawResult(block: BlockSnapshot, call?: BlockSnapshot): Html {
  const { isError, images, citations, result } = metadataOf(block, "tool_result");
  const isMarkdown = isMarkdownResult(metadataOf(block, "tool_result"));
  const looksLikeJson = /^\s*[[{]/.test(block.content) && /[\]}]\s*$/.test(block.content);
  const text = isMarkdown
    ? html`<div class="report">${markdownHtml(block.content)}</div>`
    : html`<pre class="${isError ? "plain failed" : "plain"}">${looksLikeJson ? highlight(block.content, "json") : block.content}</pre>`;
  const payload =
    block.content === "" && result !== undefined && result !== null
      ? html`<details><summary>Result</summary><pre class="code">${highlight(JSON.stringify(result, null, 2), "json")}</pre></details>`
      : NOTHING;
  return html`${block.content === "" ? NOTHING : folded(text, { block, call, source: linesOf(block.content) })}${pictures(images)}${sources(citations?.filter(({ url }) => !block.content.includes(url)))}${payload}`;
}

function drawCode(block: BlockSnapshot, call?: BlockSnapshot): Html {
  const { filename, language, startLine, totalLines, truncatedChars, images } = metadataOf(block, "code");
  const lines = lineCount(block);
  const first = startLine ?? 1;
  const range =
    first > 1 || (totalLines ?? 0) > lines + 1
      ? `lines ${first}–${first + lines - 1}${totalLines === undefined ? "" : ` of ${totalLines}`}`
      : "";
  // A newline at the end begins no line that could be numbered.
  const numbered = block.content.replace(/\n$/, "").split("\n").length;
  const gutter = Array.from({ length: numbered }, (_, i) => first + i).join("\n");
  const code = html`<div class="numbered"><pre class="gutter" aria-hidden="true">${gutter}</pre><pre class="code">${highlight(block.content, language, filename)}</pre></div>`;
  return html`<div class="head"><code>${filename}</code> <span class="dim">${range}</span></div>${folded(code, { block, call, source: linesOf(block.content) })}${leftOut(truncatedChars)}${pictures(images)}`;
}

function drawCommand(block: BlockSnapshot, call?: BlockSnapshot): Html {
  const { command, stderr, exitCode, interrupted, durationMs, cwd, truncatedChars, images } = metadataOf(
    block,
    "command",
  );
  const errors = stderr ? stderr.trimEnd().split("\n") : [];
  const source = [...linesOf(block.content), ...errors].map(plainTerminal);
  const chars = block.content.length + (stderr?.length ?? 0);
  const output = html`<pre class="terminal">${terminalHtml(block.content)}${stderr ? html`<span class="stderr">${terminalHtml(stderr)}</span>` : NOTHING}</pre>`;
  const exit =
    exitCode === undefined || exitCode === null
      ? NOTHING
      : html`<span class="${exitCode === 0 ? "ok" : "bad"}">exit ${exitCode}</span> `;
  return html`<pre class="command"><span class="sign">$ </span><code>${exactText(command)}</code></pre>${source.length > 0 ? folded(output, { block, call, chars, source }) : NOTHING}<div class="foot">${exit}${interrupted && html`<span class="warn">interrupted</span> `}${took(durationMs)} <span class="cwd">${cwd}</span></div>${leftOut(truncatedChars)}${pictures(images)}`;
}

const CHANGE_WORDS = { add: "new", modify: "changed", delete: "deleted" } as const;

function drawChanges(block: BlockSnapshot, call?: BlockSnapshot): Html {
  const { changes } = metadataOf(block, "file_change");
  const texts = changeTexts(changes, block.content);
  return join(
    changes.map(({ path, kind, movedTo, unverified }, i) => {
      const { diff: text = "", note = "" } = texts[i] ?? {};
      const moved =
        movedTo === undefined ? NOTHING : html` <span class="dim">moved to</span> <code>${movedTo}</code>`;
      const lines = diffLines(text);
      const body =
        lines.length === 0
          ? NOTHING
          : folded(html`<pre class="diff">${diffHtml(lines)}</pre>`, {
              ...{ block, call, chars: text.length, changed: changedLines(lines) },
              source: lines.map((line) => line.replace(/^@@ \S+( \S+)? @@ ?/, "@@ ").trimEnd()),
            });
      const doubt = unverified ? html` <span class="dim">${UNVERIFIED}</span>` : NOTHING;
      const said = note === "" ? NOTHING : html`<p class="dim">${note}</p>`;
      return html`<div class="change"><div class="head"><span class="change-kind change-${kind}">${CHANGE_WORDS[kind]}</span> <code>${path}</code>${moved}${doubt}</div>${body}${said}</div>`;
    }),
  );
}

/** A diff's lines without what stands above them already: its file, and that it begins at the top. */
function diffLines(diff: string): readonly string[] {
  if (diff === "") return [];
  const lines = diff.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  const isAtTop = /^@@ -[01](,\d+)? \+[01](,\d+)? @@ *$/.test(lines[first] ?? "");
  const shown = first === -1 ? lines : lines.slice(isAtTop ? first + 1 : first);
  // A range that starts at 0 has no place in the file.
  return shown.map((line) => (/^@@ -0(,\d+)? \+0(,\d+)? @@/.test(line) ? "@@ … @@" : line));
}

function diffHtml(lines: readonly string[]): Html {
  return join(
    lines.map((line) => {
      if (line.startsWith("@@")) return html`<span class="hunk">${line}</span>`;
      if (line.startsWith("\\")) return html`${line}`;
      const sign = /^[-+ ]/.exec(line)?.[0] ?? "";
      const source = html`${sign}<span class="src">${line.slice(sign.length)}</span>`;
      if (sign === "+") return html`<ins>${source}</ins>`;
      return sign === "-" ? html`<del>${source}</del>` : source;
    }),
    "\n",
  );
}

function drawTodo(block: BlockSnapshot, call?: BlockSnapshot): Html {
  const { items } = metadataOf(block, "todo");
  const source = items.map(todoLine);
  const rows = items.map(({ status }, i) => {
    const [box = "", ...words] = (source[i] ?? "").split(" ");
    return html`<li class="todo-${status}">${box} <span>${words.join(" ")}</span></li>`;
  });
  return folded(html`<ul class="todo">${rows}</ul>`, { block, call, chars: 0, source });
}

function drawImage(block: BlockSnapshot): Html {
  const { data, mediaType, url } = metadataOf(block, "image");
  const alt = block.content === "" ? "picture" : block.content;
  const src = safePicture(data, mediaType);
  if (src !== undefined) return html`<img class="picture" src="${src}" alt="${alt}">`;
  const href = url === undefined ? undefined : safeLink(url);
  if (href === undefined)
    return html`<div class="notice dim">A picture that is not in this file: ${alt}</div>`;
  return html`<a href="${href}" rel="noopener noreferrer nofollow">🖼 ${alt}</a>`;
}

function drawFile(block: BlockSnapshot): Html {
  const { path, language } = metadataOf(block, "file");
  const code = html`<pre class="code">${highlight(block.content, language, path)}</pre>`;
  return html`<div class="head"><code>${path}</code></div>${folded(code, { block, call: undefined, source: linesOf(block.content) })}`;
}

function drawError(block: BlockSnapshot): Html {
  const { code, details } = metadataOf(block, "error");
  const more =
    details === undefined
      ? NOTHING
      : html`<details><summary>${code ?? "Details"}</summary><pre class="code">${highlight(JSON.stringify(details, null, 2), "json")}</pre></details>`;
  return html`<div class="error"><span class="sign">⚠</span> ${block.content === "" ? (code ?? "Something failed") : block.content} <span class="times">${timesText(block.metadata)}</span></div>${more}`;
}

function drawUnknown(block: BlockSnapshot): Html {
  const { type, provider } = metadataOf(block, "unknown");
  return html`<details class="unknown"><summary>Not understood: <code>${type}</code> <span class="dim">${provider && `from ${provider}`}</span></summary><pre class="code">${highlight(block.content, "json")}</pre></details>`;
}

/** Short things are simply there; long ones have a line to open them by, and show their first and last lines. */
function folded(body: Html, shown: Shown): Html {
  const { isClosed, isLongAndOpen, amount, excerpt } = foldingOf(shown);
  if (!isClosed && !isLongAndOpen) return body;
  const left = leftWords(excerpt);
  const [head, tail] = [excerpt.head, excerpt.tail].map((some) => some.map((line) => `${line}\n`).join(""));
  const gap = left === "" ? NOTHING : html`<span class="dim">${`${left}\n`}</span>`;
  return html`<details class="fold"${isClosed ? NOTHING : OPEN}><summary>Show ${amount}</summary>${body}</details><pre class="excerpt">${head}${gap}${tail}</pre>`;
}

function pictures(images: Metadata<"tool_call">["images"]): Html {
  const shown = (images ?? []).map(({ data, mediaType }) => safePicture(data, mediaType));
  return join(
    shown.map((src) =>
      src === undefined ? NOTHING : html`<img class="picture" src="${src}" alt="picture">`,
    ),
  );
}

function sources(citations: Metadata<"text">["citations"]): Html {
  if (!citations || citations.length === 0) return NOTHING;
  const rows = sourcesOf(citations).map(({ url, title, snippets }) => {
    const href = safeLink(url);
    const name =
      href === undefined
        ? html`${title ?? url}`
        : html`<a href="${href}" rel="noopener noreferrer nofollow">${title ?? url}</a>`;
    return html`<li>${name}${snippets.map((snippet) => html`<blockquote class="snippet">${snippet}</blockquote>`)}</li>`;
  });
  return html`<ol class="sources">${rows}</ol>`;
}

function why(reason: Reason | undefined): Html {
  return reason === undefined
    ? NOTHING
    : html`<div class="reason warn">${REASON_WORDS[reason] ?? reason}</div>`;
}

function leftOut(chars: number | undefined): Html {
  return chars === undefined ? NOTHING : html`<p class="dim">${chars} characters were left out.</p>`;
}

function metadataOf<K extends Kind>(block: BlockSnapshot, _kind: K): Metadata<K> {
  return block.metadata as unknown as Metadata<K>;
}

/** An input as it would be written by hand; one that is not whole stays as it came. */
function pretty(input: string): string {
  if (input.length > INPUT_CHARS) return input;
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

/** As the page counts: a final newline begins no other line. */
function lineCount({ content, newlines }: BlockSnapshot): number {
  return content === "" || content.endsWith("\n") ? newlines : newlines + 1;
}

function took(ms: number | undefined): string {
  return ms === undefined || ms < 100 ? "" : formatDuration(ms);
}
