/**
 * One block as HTML, by its kind: the page's look without the page's program. Quiet or long content is collapsed with
 * <details>. html-item.ts places it among other blocks.
 */

import type { BlockSnapshot, Metadata, Reason } from "@blockyard/kernel";
import { formatDuration, type Kind, plural } from "@blockyard/kernel/plain";
import {
  answerWords,
  changedIn,
  changeTexts,
  citedMarkdown,
  exactText,
  firstSentence,
  isMarkdownResult,
  isNotice,
  isNoticeLine,
  knownCode,
  metadataOf,
  noticeName,
  noticePieces,
  observedHeading,
  plainTerminal,
  REASON_WORDS,
  safeLink,
  safePicture,
  sourcesOf,
  timesText,
  todoLine,
  UNVERIFIED,
} from "@blockyard/kernel/presentation";
import { type Html, html, join, NOTHING } from "../system/escape.ts";
import { changedLines, collapsedOf, linesOf, type Shown } from "./closed.ts";
import { highlight } from "./highlight.ts";
import { INPUT_CHARS, THINKING_CHARS } from "./limits.ts";
import { markdownHtml } from "./markdown-html.ts";
import { terminalHtml } from "./terminal-html.ts";

/** What a block's rendering depends on besides the block. */
export interface Around {
  /** The call of a result. */
  readonly call?: BlockSnapshot | undefined;
  readonly isFollowed?: boolean;
  /** The line of the call names the only file that it changed. */
  readonly isNamed?: boolean;
  /** The to-do list of the turn, shown in place of the call's own. */
  readonly todo?: BlockSnapshot | undefined;
}

export const OPEN: Html = { html: " open" };

type Draw = (block: BlockSnapshot, around: Around) => Html;

/** The rendering of each kind. A call is drawn with its results: html-item.ts. */
export const KIND_HTML: Readonly<Record<Kind, Draw>> = {
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

export function countsText({ added, deleted }: { readonly added: number; readonly deleted: number }): string {
  return `${added > 0 ? `+${added}` : ""} ${deleted > 0 ? `−${deleted}` : ""}`.trim();
}

function drawText(block: BlockSnapshot): Html {
  const { label, citations, reason } = metadataOf(block, "text");
  if (isNoticeLine(block, block.content))
    return html`${noticeHtml(block, block.content)}${answerHtml(answerWords(block, []))}`;
  const who = label ? html`<div class="who">${label}</div>` : NOTHING;
  const said = block.promoted ? block.content : citedMarkdown(block.content, citations ?? []);
  return html`${who}<div class="said">${markdownHtml(said)}</div>${sources(citations)}${why(reason)}`;
}

/** Who gave which answer to an ask. */
export function answerHtml(words: string): Html {
  return words === "" ? NOTHING : html`<div class="agent-ask dim">${words}</div>`;
}

function noticeHtml({ metadata }: BlockSnapshot, text: string): Html {
  const name = noticeName(metadata.notice, text);
  const head = name === undefined ? NOTHING : html`<span class="notice-name dim">${name}</span> `;
  return html`<div class="notice">${head}<span class="notice-text">${noticePieces(metadata.notice, text).map((piece) => (piece.isCode ? html`<code>${piece.text}</code>` : html`${piece.text}`))}</span> <span class="times">${timesText(metadata)}</span></div>`;
}

function drawThinking(block: BlockSnapshot): Html {
  const { redacted, durationMs } = metadataOf(block, "thinking");
  if (block.content === "") {
    const what = redacted ? "Thought, hidden by the provider" : "Thought, not shown";
    return html`<div class="dim"><span class="thinking-word">${what}</span></div>`;
  }
  return html`<details class="thinking"><summary><span class="sign thinking-word">Thought</span> <span class="thinking-preview dim">${firstSentence(block.content.slice(0, THINKING_CHARS))}</span> <span class="dim">${took(durationMs)}</span></summary><div class="thought">${markdownHtml(block.content)}</div></details>`;
}

function drawResult(block: BlockSnapshot, around: Around): Html {
  const { isError, images, citations, result } = metadataOf(block, "tool_result");
  const isMarkdown = isMarkdownResult(metadataOf(block, "tool_result"));
  const looksLikeJson = /^\s*[[{]/.test(block.content) && /[\]}]\s*$/.test(block.content);
  const text = isMarkdown
    ? html`<div class="report">${markdownHtml(block.content)}</div>`
    : html`<pre class="${isError ? "plain failed" : "plain"}">${looksLikeJson ? highlight(pretty(block.content), "json") : block.content}</pre>`;
  const payload =
    block.content === "" && result !== undefined && result !== null
      ? html`<details class="payload"><summary>Result</summary><pre class="code">${highlight(JSON.stringify(result, null, 2), "json")}</pre></details>`
      : NOTHING;
  return html`${block.content === "" ? NOTHING : collapsed(text, { block, ...known(around), source: linesOf(block.content) })}${pictures(images)}${sources(citations?.filter(({ url }) => !block.content.includes(url)))}${payload}`;
}

function drawCode(block: BlockSnapshot, around: Around): Html {
  const { filename, language, startLine, totalLines, truncatedChars, images } = metadataOf(block, "code");
  const lines = lineCount(block);
  const first = startLine ?? 1;
  const range =
    first > 1 || (totalLines ?? 0) > lines + 1
      ? `lines ${first}–${first + lines - 1}${totalLines === undefined ? "" : ` of ${totalLines}`}`
      : "";
  // A newline at the end begins no numbered line.
  const numbered = block.content.replace(/\n$/, "").split("\n").length;
  const gutter = Array.from({ length: numbered }, (_, i) => first + i).join("\n");
  const code = html`<div class="numbered"><pre class="gutter" aria-hidden="true">${gutter}</pre><pre class="code">${highlight(block.content, language, filename)}</pre></div>`;
  return html`<div class="head"><code>${filename}</code> <span class="dim">${range}</span></div>${collapsed(code, { block, ...known(around), source: linesOf(block.content) })}${leftOut(truncatedChars)}${pictures(images)}`;
}

function drawCommand(block: BlockSnapshot, around: Around): Html {
  const { command, stderr, exitCode, interrupted, durationMs, cwd, truncatedChars, images } = metadataOf(
    block,
    "command",
  );
  const errors = stderr ? stderr.trimEnd().split("\n") : [];
  const source = [...linesOf(block.content), ...errors].map(plainTerminal);
  const chars = block.content.length + (stderr?.length ?? 0);
  const output = html`<pre class="terminal">${terminalHtml(block.content)}${stderr ? html`<span class="stderr">${terminalHtml(stderr)}</span>` : NOTHING}</pre>`;
  const shown = { block, ...known(around), chars, source };
  const isBrief = collapsedOf(shown).form === "tail";
  const exit =
    exitCode === undefined || exitCode === null || isBrief
      ? NOTHING
      : html`<span class="${exitCode === 0 ? "ok" : "bad"}">exit ${exitCode}</span> `;
  // For a failure the call's line shows what ran.
  const line = isBrief
    ? NOTHING
    : html`<pre class="command"><span class="sign">$ </span><code>${exactText(command)}</code></pre>`;
  return html`${line}${source.length > 0 ? collapsed(output, shown) : NOTHING}<div class="foot">${exit}${interrupted && html`<span class="warn">interrupted</span> `}${took(durationMs)} <span class="cwd">${cwd}</span></div>${leftOut(truncatedChars)}${pictures(images)}`;
}

const CHANGE_WORDS = { add: "new", modify: "changed", delete: "deleted" } as const;

function drawChanges(block: BlockSnapshot, around: Around): Html {
  const metadata = metadataOf(block, "file_change");
  const { changes } = metadata;
  const texts = changeTexts(changes, block.content);
  const { isNamed } = around;
  const heading = observedHeading(metadata);
  const drawn = join(
    changes.map(({ path, kind, movedTo, unverified }, i) => {
      const { diff: text = "", note = "" } = texts[i] ?? {};
      const moved =
        movedTo === undefined ? NOTHING : html` <span class="dim">moved to</span> <code>${movedTo}</code>`;
      const lines = diffLines(text);
      const body =
        lines.length === 0
          ? NOTHING
          : collapsed(
              html`<pre class="diff">${diffHtml(lines)}</pre>`,
              { block, ...known(around), chars: text.length, changed: changedLines(lines), source: lines },
              (some) => html`<pre class="diff excerpt">${diffHtml(some)}</pre>`,
            );
      const doubt = unverified ? html` <span class="dim">${UNVERIFIED}</span>` : NOTHING;
      const said = note === "" ? NOTHING : html`<p class="dim">${note}</p>`;
      const word =
        kind === "modify"
          ? NOTHING
          : html`<span class="change-kind change-${kind}">${CHANGE_WORDS[kind]}</span> `;
      const named = isNamed
        ? NOTHING
        : html`<code>${path}</code> <span class="counts">${countsText(changedIn(text))}</span>`;
      return html`<div class="change"><div class="head">${word}${named}${moved}${doubt}</div>${body}${said}</div>`;
    }),
  );
  return heading === undefined ? drawn : html`<p class="dim">${heading}</p>${drawn}`;
}

/** A diff's lines without what is already above them: its file, and that it begins at the top. */
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

function drawTodo(block: BlockSnapshot, around: Around): Html {
  const { items } = metadataOf(around.todo ?? block, "todo");
  const source = items.map(todoLine);
  const rows = items.map(({ status }, i) => {
    const [box = "", ...words] = (source[i] ?? "").split(" ");
    return html`<li class="todo-${status}">${box} <span>${words.join(" ")}</span></li>`;
  });
  return collapsed(html`<ul class="todo">${rows}</ul>`, { block, ...known(around), chars: 0, source });
}

function drawImage(block: BlockSnapshot): Html {
  const { data, mediaType, url } = metadataOf(block, "image");
  const alt = block.content === "" ? "picture" : block.content;
  const src = safePicture(data, mediaType);
  if (src !== undefined) return html`<img class="picture" src="${src}" alt="${alt}">`;
  const href = url === undefined ? undefined : safeLink(url);
  if (href === undefined)
    return html`<div class="notice dim">Picture not included in this file: ${alt}</div>`;
  return html`<a href="${href}" rel="noopener noreferrer nofollow">🖼 ${alt}</a>`;
}

function drawFile(block: BlockSnapshot): Html {
  const { path, language } = metadataOf(block, "file");
  const code = html`<pre class="code">${highlight(block.content, language, path)}</pre>`;
  return html`<div class="head"><code>${path}</code></div>${collapsed(code, { block, call: undefined, source: linesOf(block.content) })}`;
}

function drawError(block: BlockSnapshot): Html {
  const { code, details } = metadataOf(block, "error");
  const more =
    details === undefined
      ? NOTHING
      : html`<details><summary>${knownCode(code) ?? "Details"}</summary><pre class="code">${highlight(JSON.stringify(details, null, 2), "json")}</pre></details>`;
  const said = block.content === "" ? (knownCode(code) ?? "Error") : block.content;
  if (isNotice(block)) return html`${noticeHtml(block, said)}${more}`;
  return html`<div class="error"><span class="sign">⚠</span> ${said} <span class="times">${timesText(block.metadata)}</span></div>${more}`;
}

function drawUnknown(block: BlockSnapshot): Html {
  const { type, provider } = metadataOf(block, "unknown");
  return html`<details class="unknown"><summary>Unrecognized event: <code>${type}</code> <span class="dim">${provider && `from ${provider}`}</span></summary><pre class="code">${highlight(block.content, "json")}</pre></details>`;
}

function known({ call, isFollowed, todo }: Around) {
  return { call, isFollowed, isLivingTodo: todo !== undefined };
}

/** Short content is simply shown; long content has a line that opens it, and shows some of its lines. */
function collapsed(
  body: Html,
  shown: Shown,
  draw: (lines: readonly string[]) => Html = (lines) =>
    html`<pre class="excerpt">${lines.map((line) => `${line}\n`).join("")}</pre>`,
): Html {
  const { form, isClosed, isLongAndOpen, title, excerpt } = collapsedOf(shown);
  // A result that is only a line of its call is whole once that is opened.
  if (form === "line" || (!isClosed && !isLongAndOpen)) return form === "tail" ? draw(excerpt) : body;
  return html`<details class="collapse"${isClosed ? NOTHING : OPEN}><summary>${title}</summary>${body}</details>${draw(excerpt)}`;
}

export function pictures(images: Metadata<"tool_call">["images"]): Html {
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
  return chars === undefined ? NOTHING : html`<p class="dim">${plural(chars, "character")} omitted.</p>`;
}

/** An input as people would write it; an incomplete one stays unchanged. */
export function pretty(input: string): string {
  if (input.length > INPUT_CHARS) return input;
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

/** Counted as on the page: a final newline begins no other line. */
function lineCount({ content, newlines }: BlockSnapshot): number {
  return content === "" || content.endsWith("\n") ? newlines : newlines + 1;
}

export function took(ms: number | undefined): string {
  return ms === undefined || ms < 100 ? "" : formatDuration(ms);
}
