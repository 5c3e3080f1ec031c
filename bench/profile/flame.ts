/**
 * A tree of frames as a flame graph: an SVG in which a frame is as wide as its share of the time and stands on its caller. Its
 * name, place and share are shown by pointing at it. No script; what is too narrow to be seen is left out.
 */
import type { Frame } from "./samples.ts";

const WIDTH = 1_400;
const ROW = 17;
const TOP = 34;
const MIN_SHARE = 0.0008;
const CHAR_WIDTH = 6.3;

/** Whose code it is, by colour. The first that fits. */
const OWNERS: readonly (readonly [string, RegExp, string])[] = [
  ["kernel", /^packages\/kernel\//, "#7cb8ff"],
  ["providers", /^packages\/providers\//, "#7fd6c2"],
  ["server", /^packages\/server\//, "#8fd18a"],
  ["page", /^packages\/web\//, "#c6b3f5"],
  ["bench and tests", /^(bench|test)\//, "#d5d9e0"],
  ["libraries", /node_modules\//, "#f6c177"],
  ["Node and V8", /./, "#f2a7a0"],
];

export function flameGraph(tree: Frame, title: string): string {
  const rects: string[] = [];
  let depthMax = 0;
  const waiting: { frame: Frame; x: number; depth: number }[] = [{ frame: tree, x: 0, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { frame, x, depth } = next;
    const share = frame.totalUs / tree.totalUs;
    if (!(share >= MIN_SHARE)) continue;
    depthMax = Math.max(depthMax, depth);
    rects.push(rect(frame, x, depth, share));
    let at = x;
    for (const child of [...frame.children.values()].sort((a, b) => b.totalUs - a.totalUs)) {
      waiting.push({ frame: child, x: at, depth: depth + 1 });
      at += (child.totalUs / tree.totalUs) * WIDTH;
    }
  }
  const height = TOP + (depthMax + 1) * ROW + 8;
  const legend = OWNERS.map(
    ([owner, , colour], i) =>
      `<rect x="${WIDTH - 900 + i * 128}" y="9" width="11" height="11" fill="${colour}"/><text class="legend" x="${WIDTH - 884 + i * 128}" y="19">${owner}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">`,
    `<title>${escaped(title)}</title>`,
    "<style>text{font:11px ui-monospace,monospace;fill:#16191d}.title{font:600 14px system-ui,sans-serif}.legend{font:11px system-ui,sans-serif}g:hover rect{stroke:#16191d}</style>",
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text class="title" x="6" y="20">${escaped(title)}</text>`,
    ...legend,
    ...rects,
    "</svg>\n",
  ].join("\n");
}

function rect({ name, place, totalUs }: Frame, x: number, depth: number, share: number): string {
  const width = share * WIDTH;
  const y = TOP + depth * ROW;
  const colour = place === "" ? "#e8eaee" : (OWNERS.find(([, test]) => test.test(place))?.[2] ?? "#e8eaee");
  const chars = Math.floor((width - 6) / CHAR_WIDTH);
  const text = chars < 3 ? "" : name.length <= chars ? name : `${name.slice(0, chars - 1)}…`;
  const told = `${name} ${place} ${(totalUs / 1_000).toFixed(1)} ms, ${(share * 100).toFixed(1)} %`;
  return (
    `<g><title>${escaped(told)}</title><rect x="${px(x)}" y="${y}" width="${px(Math.max(0.3, width - 0.4))}" height="${ROW - 1}" fill="${colour}"/>` +
    `${text === "" ? "" : `<text x="${px(x + 3)}" y="${y + 12}">${escaped(text)}</text>`}</g>`
  );
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
