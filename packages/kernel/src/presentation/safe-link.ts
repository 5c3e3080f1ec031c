/**
 * The allow-list of schemes for links and images in untrusted Markdown; any other link is shown as text, on the page
 * and in exports.
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

/** A picture as providers give it: base64 with its type, or a data URL. */
export function safePicture(data: string | undefined, mediaType: string | undefined): string | undefined {
  if (data === undefined) return undefined;
  return safeImageData(data.startsWith("data:") ? data : `data:${mediaType ?? "image/png"};base64,${data}`);
}

export function hostOf(href: string): string {
  try {
    return new URL(href).host;
  } catch {
    return "";
  }
}

/** A text that reads as an address, of the kinds that people take for one. */
const ADDRESS = /^(?:https?:\/\/|www\.|[\w.-]+\.(?:com|org|net|io|dev|app|ai)(?:[/:?#]|$))/i;

/** Whether a link's text reads as an address of another host than the one that it leads to. */
export function namesOtherHost(text: string, href: string): boolean {
  const named = text.trim();
  if (!ADDRESS.test(named)) return false;
  const bare = (host: string) => host.toLowerCase().replace(/^www\./, "");
  return bare(hostOf(/^https?:/i.test(named) ? named : `https://${named}`)) !== bare(hostOf(href));
}
