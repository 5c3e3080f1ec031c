/**
 * The items of a timeline as HTML: speakers, blocks with everything attached to them, calls with their results, other
 * branches. A block's element has the same attributes as on the page: data-block, data-kind, data-status. html-block.ts
 * draws one block.
 */

import type { BlockSnapshot } from "@blockyard/kernel";
import { plural } from "@blockyard/kernel/plain";
import {
  answerWords,
  callLine,
  callOutcome,
  cameWords,
  changedIn,
  endWord,
  errorBelow,
  exactText,
  metadataOf,
  onlyChange,
  repeatsDenial,
  saysCommand,
  shortPath,
  showsPictures,
} from "@blockyard/kernel/presentation";
import { type Html, html, join, NOTHING } from "../system/escape.ts";
import { shortFormOf } from "./closed.ts";
import { highlight } from "./highlight.ts";
import {
  type Around,
  answerHtml,
  countsText,
  KIND_HTML,
  OPEN,
  pictures,
  pretty,
  took,
} from "./html-block.ts";
import { SHORT_WORK_LINES } from "./limits.ts";
import { commandSummary, type Item, isFollowed, type NodeItem, timeline } from "./timeline.ts";
import type { ExportNode } from "./tree.ts";

/** Who speaks, blocks, and quiet ones gathered. */
export function itemHtml(item: Item, depth: number): Html {
  if (item.type === "speaker") return speakerHtml(item);
  if (item.type === "node") return nodeHtml(item, depth);
  return html`<details class="gathered"><summary class="gathered-words">${item.words}</summary>${item.items.map((each) => nodeHtml(each, depth))}</details>`;
}

function speakerHtml({ speaker, at }: Extract<Item, { type: "speaker" }>): Html {
  const time = new Date(at).toISOString();
  return html`<div class="speaker speaker-${speaker.side}"><span class="speaker-name">${speaker.name}</span> <time datetime="${time}">${time.slice(0, 16).replace("T", " ")} UTC</time></div>`;
}

function nodeHtml({ node, todo }: NodeItem, depth: number): Html {
  const { block } = node;
  const body = block.kind === "tool_call" ? drawCall(node, depth, todo) : KIND_HTML[block.kind](block, {});
  const below = block.kind === "tool_call" ? NOTHING : nestedHtml(node.nested, depth, "Also");
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
        html`<details class="branch"><summary>Another branch: ${plural(branch.length, "block")}</summary>${itemsHtml(branch, depth + 1)}</details>`,
    ),
  );
}

function itemsHtml(nodes: readonly ExportNode[], depth: number): Html {
  return join(timeline(nodes, undefined).map((item) => itemHtml(item, depth)));
}

const WORK = "Its work";

/** `behind`: content that follows them and is collapsed with them. */
function nestedHtml(
  nested: readonly ExportNode[],
  depth: number,
  title: string,
  behind: readonly Html[] = [],
): Html {
  if (nested.length === 0) return NOTHING;
  // A sub-agent's work is closed, as on the page; other children of a block are open if short.
  const isShort =
    title !== WORK &&
    nested.length < 4 &&
    nested.every(({ block }) => block.kind !== "tool_call" && block.newlines < SHORT_WORK_LINES);
  return html`<details class="nested"${isShort ? OPEN : NOTHING}><summary>${title}: ${plural(nested.length, "block")}</summary>${itemsHtml(nested, depth + 1)}${behind}</details>`;
}

function drawCall(node: ExportNode, depth: number, todo: BlockSnapshot | undefined): Html {
  const { block, results } = node;
  const { images } = metadataOf(block, "tool_call");
  const isNamed = onlyChange(results.map((result) => result.block)) !== undefined;
  const drawn = results.map((result) => {
    const around: Around = { call: block, isFollowed: isFollowed(result), isNamed, todo };
    const repeats = repeatsDenial(block.metadata, result.block);
    const body = html`<div ${names(result.block)} data-call="${block.block_id}">${repeats ? NOTHING : KIND_HTML[result.block.kind](result.block, around)}${nestedHtml(result.nested, depth, "Also")}${branchesHtml(result, depth)}</div>`;
    const form = shortFormOf({
      block: result.block,
      call: block,
      isFollowed: isFollowed(result),
      isLivingTodo: todo !== undefined,
    });
    const hasCommand = result.block.kind === "command" && saysCommand(form);
    return { body, isInside: form === "line", hasCommand };
  });
  const inside = drawn.filter((each) => each.isInside).map(({ body }) => body);
  const shown = drawn.filter((each) => !each.isInside).map(({ body }) => body);
  // A sub-agent's work comes before its results, closed or open.
  const hasWork = node.work.length > 0;
  const input = html`<details class="input"><summary>Input <code>${metadataOf(block, "tool_call").toolName}</code></summary><pre class="code">${highlight(pretty(block.content), "json")}</pre></details>`;
  const asked = answerHtml(
    answerWords(
      block,
      results.map((result) => result.block),
    ),
  );
  const error = errorBelow(
    block,
    results.map((result) => result.block),
  );
  const failed = error === undefined ? NOTHING : html`<div class="tool-error bad">${error}</div>`;
  // A result shows its own pictures; the call holds them once more.
  const isShown = results.some((result) => showsPictures(result.block.kind, result.block.metadata));
  const own = isShown ? NOTHING : pictures(images);
  const below = shown.length === 0 ? NOTHING : html`<div class="results">${shown}</div>`;
  return html`<details class="tool">${lineHtml(
    node,
    shown.length > 0,
    drawn.some(({ hasCommand }) => hasCommand),
  )}${input}${hasWork ? NOTHING : inside}</details>${asked}${nestedHtml(node.work, depth, WORK, inside)}${below}${failed}${own}${nestedHtml(node.nested, depth, WORK)}`;
}

/** The line of a call, as on the page. */
function lineHtml(
  { block, results, work, nested }: ExportNode,
  isShown: boolean,
  hasCommandBelow: boolean,
): Html {
  const { durationMs, error } = metadataOf(block, "tool_call");
  const { state } = callOutcome(block);
  const of = results.map((result) => result.block);
  const short = cameWords(block, of);
  const { deed, name, subject, isCommand, purpose } = callLine(block, of);
  const isBelow = isCommand && hasCommandBelow;
  const ran = isCommand && state === "done" ? of.find(({ kind }) => kind === "command") : undefined;
  const change = onlyChange(of);
  const failure = isShown || errorBelow(block, of) !== undefined ? "" : (error ?? short);
  // A sub-agent's work is shown as its steps.
  const steps = [...work, ...nested].filter((each) => each.block.kind === "tool_call").length;
  const hasWork = deed === "agent" ? work.length + nested.length > 0 : steps > 0;
  const facts = hasWork ? plural(steps, "step") : undefined;
  const counts = ran || facts !== undefined || state === "failed" ? "" : changeCounts(of);
  const said = state === "failed" ? failure : counts === "" ? short : "";
  const came = facts ?? (isBelow ? "" : ran ? commandSummary(ran) : said);
  const tone = state === "done" ? "ok" : state === "failed" ? "bad" : "dim";
  const file =
    change === undefined
      ? NOTHING
      : html`<span class="head"><code>${shortPath(change.path, subject)}</code></span>`;
  const params = isBelow
    ? html`<span class="tool-name">${name}</span> ${purpose ?? ""}`
    : isCommand
      ? html`<span class="tool-name unseen">${name} </span><code class="tool-params">${exactText(subject)}</code> ${file}`
      : html`<span class="tool-name">${name}</span> ${change ? file : html`<span class="tool-params">${subject}</span>`}`;
  return html`<summary class="tool-line">${params} <span class="counts">${counts}</span> <span class="tool-short dim">${came}</span> <span class="dim">${took(durationMs)}</span> <span class="${tone}"><span class="sign">${state === "failed" ? "✗" : ""}</span> ${endWord(block, of)}</span></summary>`;
}

function changeCounts(results: readonly BlockSnapshot[]): string {
  const changed = results.filter(({ kind }) => kind === "file_change");
  const changes = changed.length === 1 && changed[0] ? metadataOf(changed[0], "file_change").changes : [];
  const diff = changes.length === 1 ? changes[0]?.diff : undefined;
  return diff === undefined || diff === "" ? "" : countsText(changedIn(diff));
}
