/**
 * What a frame has drawn, made into an image of the page. An image runs no script and loads nothing, whatever is in it; it is
 * written anew all the same, for whoever saves it or opens it by itself: only elements that are known here, no attribute that
 * acts, and nothing that points outside of the drawing.
 */
import { DRAWING_DEPTH, MAX_DRAWING_CHARS } from "./limits.ts";
import { STYLE, type Svg } from "./message.ts";

const SVG = "http://www.w3.org/2000/svg";

const ELEMENTS = new Set([
  ...["svg", "g", "a", "defs", "marker", "clipPath", "mask", "pattern", "symbol", "title", "desc", "use"],
  ...["path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "textPath"],
  ...["linearGradient", "radialGradient", "stop", "filter", "feDropShadow", "feGaussianBlur", "feOffset"],
  ...["feFlood", "feComposite", "feMerge", "feMergeNode", "feColorMatrix", "switch"],
]);

interface Image {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export function imageOf({ svg, css }: Svg): Image | undefined {
  if (svg.length + css.length > MAX_DRAWING_CHARS) return undefined;
  const { documentElement: root } = new DOMParser().parseFromString(svg, "image/svg+xml");
  if (root.namespaceURI !== SVG || root.localName !== "svg") return undefined;
  const size = sizeOf(root.getAttribute("viewBox"));
  if (!size) return undefined;
  const attributes = [...root.attributes].filter(
    ({ name }) => !/^(xmlns.*|width|height|style|data-style)$/.test(name),
  );
  const head = `<svg xmlns="${SVG}" width="${size.width}" height="${size.height}"${attributes.map(written).join("")}>`;
  const text = `${head}<style>${escaped(knownRules(css))}</style>${inside(root, 0)}</svg>`;
  return { url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`, ...size };
}

function sizeOf(viewBox: string | null): { readonly width: number; readonly height: number } | undefined {
  const [, , width = 0, height = 0] = (viewBox ?? "").split(/[\s,]+/).map(Number);
  const isSize = (px: number) => px > 0 && px < 100_000;
  return isSize(width) && isSize(height) ? { width: Math.ceil(width), height: Math.ceil(height) } : undefined;
}

function inside(parent: Element, depth: number): string {
  let text = "";
  for (const node of parent.childNodes) {
    if (node instanceof Element) text += element(node, depth + 1);
    else if (node.nodeType === Node.TEXT_NODE) text += escaped(node.nodeValue ?? "");
  }
  return text;
}

function element(node: Element, depth: number): string {
  const { localName: name, namespaceURI, attributes } = node;
  if (namespaceURI !== SVG || !ELEMENTS.has(name) || depth > DRAWING_DEPTH) return "";
  return `<${name}${[...attributes].map(written).join("")}>${inside(node, depth)}</${name}>`;
}

/** An attribute, unless it acts or points outside. Those of other namespaces are none that a drawing needs. */
function written({ name, value }: Attr): string {
  if (!/^[a-z][\w-]*$/i.test(name) || /^on/i.test(name)) return "";
  if (name === "href" ? !value.startsWith("#") : pointsOutside(value)) return "";
  return ` ${name === STYLE ? "style" : name}="${escaped(value)}"`;
}

/** A style sheet as the browser understands it, without what it would load. */
function knownRules(css: string): string {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return [...sheet.cssRules]
    .map((rule) => rule.cssText)
    .filter((rule) => !pointsOutside(rule))
    .join("\n");
}

/** Whether a value names something that is not in the drawing. A backslash could spell any name. */
function pointsOutside(value: string): boolean {
  return /\\|@import|image-set|(url|src|image)\s*\((?!\s*["']?#)/i.test(value);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
