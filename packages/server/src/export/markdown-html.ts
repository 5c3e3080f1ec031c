/**
 * Markdown as HTML: marked's lexer reads it, and this file writes what it found. Raw HTML in the source is shown as text,
 * links lead only where links may lead, and pictures from elsewhere are links.
 */

import { decodeReferences, type MathToken, safeLink, safePicture } from "@blockyard/kernel/presentation";
import type { Token, Tokens } from "marked";
import { type Html, html, join, NOTHING } from "../system/escape.ts";
import { lexBounded } from "./bounded-lexer.ts";
import { highlight } from "./highlight.ts";
import { MARKDOWN_CHARS, MARKDOWN_DEPTH } from "./limits.ts";

export function markdownHtml(text: string): Html {
  const tokens = text.length > MARKDOWN_CHARS ? undefined : lexBounded(text);
  return tokens === undefined ? html`<pre class="plain">${text}</pre>` : blocks(tokens, 0);
}

function blocks(tokens: readonly Token[], depth: number): Html {
  return join(tokens.map((token) => block(token, depth)));
}

function block(token: Token, depth: number): Html {
  if (depth > MARKDOWN_DEPTH) return html`<p>${token.raw}</p>`;
  switch (token.type) {
    case "space":
    case "def":
      return NOTHING;
    case "checkbox":
      return checkbox(token as Tokens.Checkbox);
    case "heading": {
      // The page has one title; an agent's titles are ranked below it.
      const level = String(Math.min(6, (token as Tokens.Heading).depth + 1));
      return html`<div class="h h${level}" role="heading" aria-level="${level}">${inner(token, depth)}</div>`;
    }
    case "paragraph":
      return html`<p>${inner(token, depth)}</p>`;
    case "text":
      return token.tokens ? inner(token, depth) : html`${decodeReferences((token as Tokens.Text).text)}`;
    case "code": {
      const { text, lang } = token as Tokens.Code;
      return html`<pre class="code">${highlight(text, lang?.split(/\s/, 1)[0])}\n</pre>`;
    }
    case "blockquote":
      return html`<blockquote>${blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>`;
    case "list":
      return list(token as Tokens.List, depth);
    case "table":
      return table(token as Tokens.Table, depth);
    case "hr":
      return html`<hr>`;
    case "math":
      return html`<p class="math">${(token as MathToken).text}</p>`;
    default:
      return html`<p>${token.raw.trim()}</p>`;
  }
}

function list({ ordered, start, items }: Tokens.List, depth: number): Html {
  const rows = items.map((item) => {
    return html`<li>${blocks(item.tokens, depth + 1)}</li>`;
  });
  if (!ordered) return html`<ul>${rows}</ul>`;
  return html`<ol start="${Number(start) || 1}">${rows}</ol>`;
}

function table({ header, rows, align }: Tokens.Table, depth: number): Html {
  const cell = (name: "th" | "td", { tokens }: Tokens.TableCell, i: number): Html => {
    const content = inlines(tokens, depth + 1);
    const side = align[i] === "right" ? "right" : align[i] === "center" ? "center" : "left";
    return name === "th"
      ? html`<th class="${side}">${content}</th>`
      : html`<td class="${side}">${content}</td>`;
  };
  const head = header.map((each, i) => cell("th", each, i));
  const body = rows.map((row) => html`<tr>${row.map((each, i) => cell("td", each, i))}</tr>`);
  return html`<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function inner(token: Token, depth: number): Html {
  return inlines("tokens" in token ? (token.tokens ?? []) : [], depth + 1);
}

function inlines(tokens: readonly Token[], depth: number): Html {
  return join(tokens.map((token) => inline(token, depth)));
}

function inline(token: Token, depth: number): Html {
  if (depth > MARKDOWN_DEPTH) return html`${token.raw}`;
  switch (token.type) {
    case "strong":
      return html`<strong>${inner(token, depth)}</strong>`;
    case "em":
      return html`<em>${inner(token, depth)}</em>`;
    case "del":
      return html`<del>${inner(token, depth)}</del>`;
    case "codespan":
      return html`<code>${(token as Tokens.Codespan).text}</code>`;
    case "checkbox":
      return checkbox(token as Tokens.Checkbox);
    case "br":
      return html`<br>`;
    case "math":
      return html`<span class="math">${(token as MathToken).text}</span>`;
    case "escape":
      return html`${(token as Tokens.Escape).text}`;
    case "text":
      return token.tokens ? inner(token, depth) : html`${decodeReferences((token as Tokens.Text).text)}`;
    case "link":
      return link(token as Tokens.Link, depth);
    case "image":
      return picture(token as Tokens.Image);
    default:
      return html`${token.raw}`;
  }
}

function checkbox({ checked }: Tokens.Checkbox): Html {
  return html`${checked ? "☑ " : "☐ "}`;
}

function link(token: Tokens.Link, depth: number): Html {
  const href = safeLink(decodeReferences(token.href));
  const content = inlines(token.tokens, depth + 1);
  if (href === undefined) return html`<span title="${token.href}">${content}</span>`;
  return html`<a href="${href}" rel="noopener noreferrer nofollow">${content}</a>`;
}

function picture(token: Tokens.Image): Html {
  const href = decodeReferences(token.href);
  const text = decodeReferences(token.text);
  const data = safePicture(href.startsWith("data:") ? href : undefined, undefined);
  if (data !== undefined) return html`<img src="${data}" alt="${text}">`;
  const safe = safeLink(href);
  const label = text === "" ? "picture" : text;
  if (safe === undefined) return html`${label} <span class="dim">(${href.slice(0, 200)})</span>`;
  return html`<a href="${safe}" rel="noopener noreferrer nofollow">🖼 ${label}</a>`;
}
