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
