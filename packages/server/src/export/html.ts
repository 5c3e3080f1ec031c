/**
 * A conversation as one HTML file: it needs nothing but itself, runs no program, and asks for nothing over the network. A
 * policy in its head holds it to that, whatever an agent wrote into a block.
 */

import { createHash } from "node:crypto";
import type { TurnView } from "@blockyard/kernel";
import {
  formatDuration,
  outputWords,
  plural,
  reportsNothing,
  sessionFacts,
  spentWords,
  turnSpentWords,
} from "@blockyard/kernel/plain";
import { nativeFacts, REASON_WORDS, reasonShown } from "@blockyard/kernel/presentation";
import { type Html, html, join } from "../system/escape.ts";
import { branchesHtml, itemHtml } from "./html-item.ts";
import { STYLE } from "./style.ts";
import { timeline } from "./timeline.ts";
import type { ExportNode, ExportTree } from "./tree.ts";

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'`;

/** In pieces, so that a long conversation need not be one string. */
export function* htmlExport(whole: ExportTree): Generator<string> {
  const tree = withoutRepeats(whole);
  const { title, conversation } = tree.head;
  const name = title === "" ? conversation : title;
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="blockyard">
<title>${name}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<header><h1>${name}</h1>${facts(tree)}${sessions(tree)}</header>
<main data-conversation="${conversation}">
`.html;
  const footers = footersOf(tree);
  for (const item of timeline(tree.path, tree.head, (node) => footers.get(node) !== undefined)) {
    yield `${itemHtml(item, 0).html}\n`;
    const last =
      item.type === "node" ? item.node : item.type === "gathered" ? item.items.at(-1)?.node : undefined;
    const footer = last && footers.get(last);
    if (footer) yield `${turnHtml(footer).html}\n`;
  }
  yield branchesHtml({ branches: tree.others }, 0).html;
  yield "</main>\n</body>\n</html>\n";
}

/** The agents' session facts. */
function sessions({ head }: ExportTree): Html {
  return join(
    sessionFacts(head).map(({ provider, facts }) => {
      const rows = facts.map(({ label, value }) => html`<dt>${label}</dt><dd>${value}</dd>`);
      return html`<details class="session"><summary>Session: ${provider}</summary><dl>${rows}</dl></details>`;
    }),
  );
}

function facts({ head }: ExportTree): Html {
  const { provider, model, blocks, turns, usage, cost_usd, created_at, updated_at } = head;
  const parts = [
    [provider, model].filter((part) => part !== undefined).join(" "),
    plural(blocks, "block"),
    plural(turns, "turn"),
    usage.input + usage.output > 0
      ? `${usage.input.toLocaleString("en-US")} tokens in, ${usage.output.toLocaleString("en-US")} out`
      : "",
    spentWords(cost_usd, head.uncounted !== undefined),
    `${day(created_at)}${day(updated_at) === day(created_at) ? "" : ` to ${day(updated_at)}`}`,
  ];
  return html`<p class="dim">${parts.filter((part) => part !== "").join(" · ")}</p>`;
}

/** The tree, with texts that do not say why they ended where the foot of their turn says it. */
function withoutRepeats(tree: ExportTree): ExportTree {
  const footers = footersOf(tree);
  const path = tree.path.map((node): ExportNode => {
    const { block } = node;
    const { reason, ...metadata } = block.metadata;
    if (block.kind !== "text" || reasonShown(reason, footers.get(node)) === reason) return node;
    return { ...node, block: { ...block, metadata } };
  });
  return { ...tree, path };
}

/** The turns that end with a block. An interleaved one ends once, with its last block. */
export function footersOf({
  path,
  turns,
}: Pick<ExportTree, "path" | "turns">): ReadonlyMap<ExportNode, TurnView> {
  const last = new Map<string, ExportNode>();
  for (const node of path)
    if (node.block.metadata.turn !== undefined) last.set(node.block.metadata.turn, node);
  const ended = [...last].map(([id, node]) => [node, turns.get(id)] as const);
  return new Map(ended.flatMap(([node, turn]) => (turn === undefined ? [] : [[node, turn] as const])));
}

function turnHtml(turn: TurnView): Html {
  return html`<footer class="turn dim">${turnFacts(turn)}</footer>`;
}

/** `isTold`: why it failed is already above. */
export function turnFacts(turn: TurnView, isTold = false): string {
  const { status, reason, model, usage, cost_usd: costUsd, uncounted, duration_ms, error } = turn;
  const { steps, apiMs } = nativeFacts(turn.native);
  const parts = [
    reason === "cancelled"
      ? "stopped"
      : status !== "error"
        ? ""
        : isTold
          ? REASON_WORDS[reason ?? "failed"]
          : `ended: ${error ?? REASON_WORDS[reason ?? "failed"]}`,
    model ?? "",
    usage === undefined
      ? reportsNothing({ status, costUsd, messages: turn.messages })
        ? "usage not reported"
        : ""
      : `${usage.input.toLocaleString("en-US")} in, ${outputWords(usage.output.toLocaleString("en-US"), uncounted)}`,
    turnSpentWords({ costUsd, uncounted }),
    duration_ms === undefined ? "" : formatDuration(duration_ms),
    apiMs === undefined ? "" : `API ${formatDuration(apiMs)}`,
    steps === undefined || steps < 2 ? "" : plural(steps, "step"),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
