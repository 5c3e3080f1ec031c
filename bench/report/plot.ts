/**
 * A line plot as an SVG file: axes, grid, one line per series with its name at its end. It follows the reader's colour scheme
 * by itself and needs neither a script nor a font of its own. Not a chart library: points, two axes, linear or logarithmic.
 */

export interface Plot {
  /** Names the file too. */
  readonly name: string;
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

export interface Axis {
  readonly label: string;
  readonly isLog?: boolean;
}

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
  readonly isDashed?: boolean;
  /** Series of the same number have the same colour; by default each has its own. */
  readonly colour?: number;
}

const WIDTH = 760;
const HEIGHT = 420;
const LEFT = 72;
const TOP = 48;
const BOTTOM = 56;
const LABEL_GAP = 15;
const CHAR_WIDTH = 6.6;

const LIGHT = ["#0b62c4", "#b3450b", "#14794b", "#8a2da5", "#8f6200", "#4b5563"];
const DARK = ["#6cb2ff", "#ff9e64", "#5fd39a", "#d79bf0", "#e5bf52", "#aab2bf"];

/** Where a value of an axis lies on the picture, and the values that are written beside it. */
interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

export function svgOf(plot: Plot): string {
  const right = Math.max(...plot.series.map(({ name }) => name.length)) * CHAR_WIDTH + 24;
  const points = plot.series.flatMap(({ points: each }) => each);
  if (points.length === 0) throw new RangeError(`${plot.name} has no points`);
  const xs = scaleOf(
    points.map(([x]) => x),
    plot.x,
    LEFT,
    WIDTH - right,
  );
  const ys = scaleOf(
    points.map(([, y]) => y),
    plot.y,
    HEIGHT - BOTTOM,
    TOP,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="t">`,
    `<title id="t">${escaped(plot.title)}</title>`,
    `<style>${style()}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text class="title" x="${LEFT}" y="26">${escaped(plot.title)}</text>`,
    ...ys.ticks.map(
      (tick) =>
        `<path class="grid" d="M${LEFT} ${px(ys.at(tick))}H${px(WIDTH - right)}"/>` +
        `<text x="${LEFT - 8}" y="${px(ys.at(tick) + 4)}" text-anchor="end">${short(tick)}</text>`,
    ),
    ...xs.ticks.map(
      (tick) =>
        `<path class="tick" d="M${px(xs.at(tick))} ${HEIGHT - BOTTOM}v5"/>` +
        `<text x="${px(xs.at(tick))}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${short(tick)}</text>`,
    ),
    `<path class="axis" d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${px(WIDTH - right)}"/>`,
    `<text class="label" x="${px((LEFT + WIDTH - right) / 2)}" y="${HEIGHT - 12}" text-anchor="middle">${escaped(plot.x.label)}</text>`,
    `<text class="label" x="16" y="${(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" transform="rotate(-90 16 ${(TOP + HEIGHT - BOTTOM) / 2})">${escaped(plot.y.label)}</text>`,
    ...lines(plot.series, xs, ys),
    "</svg>\n",
  ].join("\n");
}

function lines(series: readonly Series[], xs: Scale, ys: Scale): string[] {
  const ends = labelPlaces(series, ys);
  return series.map(({ name, points, isDashed, colour }, index) => {
    const sorted = points.toSorted(([a], [b]) => a - b);
    const path = sorted.map(([x, y], i) => `${i === 0 ? "M" : "L"}${px(xs.at(x))} ${px(ys.at(y))}`).join("");
    const dots = sorted.map(
      ([x, y]) => `<circle class="dot" cx="${px(xs.at(x))}" cy="${px(ys.at(y))}" r="3"/>`,
    );
    const last = sorted.at(-1) as readonly [number, number];
    const label = `<text class="name" x="${px(xs.at(last[0]) + 9)}" y="${px((ends[index] as number) + 4)}">${escaped(name)}</text>`;
    return `<g class="s${(colour ?? index) % LIGHT.length}"><path class="line${isDashed ? " dashed" : ""}" d="${path}"/>${dots.join("")}${label}</g>`;
  });
}

/** Heights of the names behind the lines' ends, moved apart where those of the same place would lie upon each other. */
function labelPlaces(series: readonly Series[], ys: Scale): number[] {
  const ends = series.map(({ points }, index) => {
    const [x, y] = points.toSorted(([a], [b]) => a - b).at(-1) as readonly [number, number];
    return { index, x, y: ys.at(y) };
  });
  const places: number[] = [];
  for (const group of Map.groupBy(ends, ({ x }) => x).values()) {
    let above = Number.NEGATIVE_INFINITY;
    for (const { index, y } of group.toSorted((a, b) => a.y - b.y)) {
      above = Math.max(y, above + LABEL_GAP);
      places[index] = above;
    }
    const over = Math.max(0, above - (HEIGHT - BOTTOM));
    for (const { index } of group) places[index] = (places[index] as number) - over;
  }
  return places;
}

function scaleOf(values: readonly number[], { isLog }: Axis, from: number, to: number): Scale {
  const positive = values.filter((value) => value > 0);
  if (isLog && positive.length > 0) {
    const ticks = logTicks(Math.min(...positive), Math.max(...positive));
    const [low, high] = [Math.log(ticks[0] as number), Math.log(ticks.at(-1) as number)];
    const at = (value: number) => from + ((Math.log(value) - low) / (high - low)) * (to - from);
    return { at, ticks };
  }
  const ticks = linearTicks(Math.max(...values));
  const high = ticks.at(-1) as number;
  return { at: (value) => from + (value / high) * (to - from), ticks };
}

/** From zero, in steps of 1, 2 or 5 times a power of ten. */
export function linearTicks(max: number): number[] {
  const rough = (max > 0 ? max : 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? power * 10;
  const count = Math.max(1, Math.ceil((max > 0 ? max : 1) / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** Powers of ten, with 2 and 5 between them if there are few; the first below and the last above all values. */
export function logTicks(min: number, max: number): number[] {
  const lowest = Math.floor(Math.log10(min));
  const highest = Math.max(lowest + 1, Math.ceil(Math.log10(max)));
  const factors = highest - lowest > 3 ? [1] : [1, 2, 5];
  const all: number[] = [];
  for (let power = lowest; power <= highest; power++)
    for (const factor of factors) all.push(Number((factor * 10 ** power).toPrecision(12)));
  const first = all.findLastIndex((tick) => tick <= min * (1 + 1e-9));
  const last = all.findIndex((tick) => tick >= max * (1 - 1e-9));
  return all.slice(first, Math.max(last, first + 1) + 1);
}

function style(): string {
  const colours = (list: readonly string[]) =>
    list.map((colour, i) => `.s${i}{stroke:${colour}}.s${i} .dot,.s${i} .name{fill:${colour}}`).join("");
  return [
    "text{font:12px system-ui,sans-serif;fill:#3d4450;stroke:none}.title{font-size:15px;font-weight:600;fill:#14181f}",
    ".label{fill:#3d4450}.paper{fill:#fff}.grid{stroke:#e3e6eb}.axis,.tick{stroke:#8a919c;fill:none}",
    ".line{fill:none;stroke-width:2}.dashed{stroke-dasharray:6 4}.dot{stroke:none}",
    colours(LIGHT),
    "@media(prefers-color-scheme:dark){text,.label{fill:#c3c9d3}.title{fill:#f0f2f5}.paper{fill:#14171c}",
    `.grid{stroke:#2b313a}.axis,.tick{stroke:#6b7380}${colours(DARK)}}`,
  ].join("");
}

function short(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(3))} M`;
  if (value >= 10_000) return `${Number((value / 1_000).toPrecision(3))} k`;
  return value >= 1_000 ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
