/**
 * What the browser may load and run in the documents that this server sends. There are three: the page, which has its own
 * files and nothing else; the frame in which it has diagrams drawn, which has one script and nothing else; and what is shown to whoever
 * is refused, which has one style sheet and nothing else.
 */

export const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The policy of a document that runs the script with this hash, inside of our own page only. It has no origin, so it has
 * neither cookies nor keys, and may load nothing: no style, no picture, no font, no address.
 * @param hash SHA-256 of the script, in base64.
 */
export function framePolicy(hash: string): string {
  return (
    `default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; ` +
    "frame-ancestors 'self'; sandbox allow-scripts"
  );
}

/** The policy of a document that has the style sheet with this hash, and nothing else. @param hash SHA-256 of it, in base64. */
export function styledPolicy(hash: string): string {
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}
