/**
 * What a link or image in somebody's markdown may point to. The allow-list of schemes; everything else is shown as text.
 */

const LINKS = new Set(["http:", "https:", "mailto:"]);
const IMAGE_DATA = /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]*$/;

/** The address as the browser reads it, if it is safe to follow; relative ones are not: they would point into this page. */
export function safeLink(href: string): string | undefined {
  try {
    const url = new URL(href);
    return LINKS.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** An image that loads nothing from anywhere. */
export function safeImageData(href: string): string | undefined {
  return IMAGE_DATA.test(href) ? href : undefined;
}

export function hostOf(href: string): string {
  try {
    return new URL(href).host;
  } catch {
    return "";
  }
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rarr: "→",
  larr: "←",
  times: "×",
  middot: "·",
  bull: "•",
};

/** Character references as text; unknown ones stay as they were written. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (all, decimal, hex, name) => {
      if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : all;
      const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
      const isText =
        code > 0x1f &&
        code <= 0x10ffff &&
        !(code >= 0xd800 && code <= 0xdfff) &&
        !(code >= 0x7f && code <= 0x9f);
      return isText ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
