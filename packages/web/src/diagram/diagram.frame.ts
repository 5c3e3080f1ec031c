/**
 * The program of the frame in which Mermaid draws: it gets one source, sends back one drawing or what is wrong with the
 * source, and is then removed. It is the only script of a document that has no origin, no network and no page around it (see
 * `framePolicy` of the server), so whatever a source makes Mermaid do stays here. It shows nothing: what it draws is looked
 * through and shown by the page, which believes nothing that comes from here.
 *
 * Invariant: it works without inline styles. The style sheet of a drawing is adopted, and styles are set one by one, which
 * the content security policy allows to scripts; a drawing that is measured without its style has the wrong size.
 */
import { MAX_EDGES, MAX_SOURCE_CHARS } from "./limits.ts";
import { type Drawn, type DrawRequest, STYLE } from "./message.ts";

interface Mermaid {
  initialize(config: object): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}

// The library precedes this program, in the same script, which has no types: see the page's vite.config.ts.
const { mermaid } = globalThis as unknown as { mermaid: Mermaid };

/** What the source cannot choose: limits, safety, and everything that has to match the page. */
const OURS = [
  ...["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering"],
  ...["theme", "themeVariables", "themeCSS", "darkMode", "fontFamily", "altFontFamily", "htmlLabels"],
];

const SVG = "http://www.w3.org/2000/svg";
/** The style sheet of the drawing. */
const sheet = new CSSStyleSheet();
let css = "";

withoutInlineStyles();
withoutPictures();
addEventListener("message", (event) => {
  if (event.source !== parent) return;
  void draw(event.data as DrawRequest).then((drawn) => parent.postMessage(drawn, "*"));
});
parent.postMessage("ready", "*");

async function draw({ source, isDark, colors }: DrawRequest): Promise<Drawn> {
  try {
    mermaid.initialize({
      ...{ startOnLoad: false, securityLevel: "strict", suppressErrorRendering: true, secure: OURS },
      ...{ maxTextSize: MAX_SOURCE_CHARS, maxEdges: MAX_EDGES },
      ...{ htmlLabels: false, flowchart: { htmlLabels: false }, class: { htmlLabels: false } },
      ...{ theme: isDark ? "dark" : "default", darkMode: isDark, themeVariables: colors },
      fontFamily: "system-ui, sans-serif",
      gantt: { useWidth: 800 },
    });
    const { svg } = await mermaid.render("diagram", source);
    const made = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
    if (!made) return { error: "nothing was drawn" };
    return { svg: new XMLSerializer().serializeToString(made), css };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Adds styles to the document without inline ones, which the policy forbids, and keeps them out of parsed text. */
function withoutInlineStyles(): void {
  document.adoptedStyleSheets = [sheet];
  const create = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name === "style" ? styleElement() : create(name, options)) as typeof document.createElement;
  const setAttribute = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function set(this: Element, name: string, value: string) {
    if (name === "style" && "style" in this) (this as SVGElement).style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  const parse = DOMParser.prototype.parseFromString;
  DOMParser.prototype.parseFromString = function parsed(text: string, type: DOMParserSupportedType) {
    // It may be a TrustedHTML object.
    const renamed = String(text).replace(/<[a-z][^<>]*>/gi, (tag) =>
      tag.replace(/\sstyle="/g, ` ${STYLE}="`),
    );
    return parse.call(this, renamed, type);
  };
}

/** Replaces a style element: text written into it is adopted. */
function styleElement(): Element {
  return Object.defineProperty(document.createElementNS(SVG, "metadata"), "innerHTML", {
    set(rules: string) {
      css += rules;
      sheet.replaceSync(css);
    },
  });
}

/** Pictures would have to be loaded: nothing is requested, not even in vain. An icon is left out. */
function withoutPictures(): void {
  const { setAttribute, setAttributeNS } = Element.prototype;
  const isPicture = (element: Element, name: string) =>
    element.localName === "image" && name.endsWith("href");
  Element.prototype.setAttribute = function set(this: Element, name: string, value: string) {
    if (!isPicture(this, name)) setAttribute.call(this, name, value);
  };
  Element.prototype.setAttributeNS = function set(this: Element, space, name: string, value: string) {
    if (!isPicture(this, name)) setAttributeNS.call(this, space, name, value);
  };
  Object.assign(globalThis, {
    Image: class {
      constructor() {
        throw new Error("pictures in diagrams are not loaded");
      }
    },
  });
}
