/**
 * The answer to a refused client: a problem as JSON, a page for somebody who typed the address into a browser, a bare
 * status for an upgrade. Then the connection ends.
 */

import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Problem } from "@blockyard/kernel";
import { escapeText } from "../system/escape.ts";
import { styledPolicy } from "./content-policy.ts";
import type { Refusal } from "./guard.ts";
import { LAST_WORDS_MS } from "./limits.ts";

/** The connection ends with a refusal: nothing more of it is read, however much is sent. */
export function endWith(
  request: IncomingMessage,
  response: ServerResponse,
  { status }: Refusal,
  body: Problem,
): void {
  const challenge = status === 401 ? { "www-authenticate": "Bearer" } : {};
  const headers = isPerson(request)
    ? { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY }
    : { "content-type": "application/json" };
  response.writeHead(status, { ...headers, connection: "close", ...challenge });
  response.end(isPerson(request) ? refusalPage(status, body.message) : JSON.stringify(body));
}

/** The page's own style, with system fonts: an unauthenticated browser gets none of the page's files. */
const STYLE = `:root{color-scheme:light dark}
body{box-sizing:border-box;min-height:100vh;margin:0;padding:24px;display:grid;place-content:center;font:15px/1.6 system-ui,sans-serif;background:light-dark(#fff,#121516);color:light-dark(#161c1e,#e6ebec)}
main{max-width:30rem}
svg{width:28px;height:28px;fill:light-dark(#0b6f68,#4cc0b3)}
h1{margin:12px 0 8px;font-size:22px;line-height:1.25;letter-spacing:-.01em}
p{margin:0}
pre{margin:16px 0;padding:12px 16px;overflow:auto;border-radius:10px;background:light-dark(#f4f6f6,#1a1e1f);font:13px/1.7 ui-monospace,monospace}
code{font:12px ui-monospace,monospace}
.why+.why{margin-top:8px}
.why{color:light-dark(#626d70,#88949a);font-size:13px}`;
const POLICY = styledPolicy(createHash("sha256").update(STYLE).digest("base64"));
const LOGO =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect x="3" y="3" width="12" height="12" rx="2.5"/>' +
  '<rect x="17" y="3" width="12" height="12" rx="2.5" opacity=".55"/><rect x="3" y="17" width="26" height="12" rx="2.5" opacity=".8"/></svg>';

/** A user who has typed the address into a browser. */
function isPerson({ method, url, headers }: IncomingMessage): boolean {
  return method === "GET" && !url?.startsWith("/v1/") && headers.accept?.includes("text/html") === true;
}

/** Without a session the page itself says why. */
function refusalPage(status: number, message: string): string {
  const why = status === 401 ? "" : `<p class="why">The reason: ${escapeText(message)}.</p>\n`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Blockyard</title>
<style>${STYLE}</style>
<main>
${LOGO}
<h1>This Blockyard is private</h1>
<p>It opens with a link that works once, for a day. To get a new link, run this in the folder where the server was started:</p>
<pre>blockyard link</pre>
<p class="why">From a clone: <code>npm start -s -- link</code></p>
${why}</main>
</html>
`;
}

/** For a socket that was to be upgraded: nobody else manages it, so one whose peer never hangs up would stay. */
export function endSocket(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.resume(); // whatever still arrives is discarded
  const cut = setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
  socket.once("close", () => clearTimeout(cut));
}

const TOO_LARGE =
  "This request has more than 16 KiB of headers. In a browser these are cookies that other servers on this host have set: " +
  "delete the cookies of this host, or open a new link (blockyard link) in a private window.\n";

/** The answer to an unreadable request, by cause. Other errors on a connection have no answer. */
function unreadStatus(code = ""): string | undefined {
  if (code === "HPE_HEADER_OVERFLOW") return "431 Request Header Fields Too Large";
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "413 Payload Too Large";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  return code.startsWith("HPE_") ? "400 Bad Request" : undefined;
}

/** For a connection whose next request cannot be read. A browser's own error page would not say what to do. */
export function endUnread({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  const status = unreadStatus(code);
  // Node keeps the answer in progress here; ours must not be written into the middle of it.
  const { _httpMessage: answer } = socket as { _httpMessage?: { readonly headersSent: boolean } | null };
  if (status === undefined || !socket.writable || answer?.headersSent) return void socket.destroy();
  const body = code === "HPE_HEADER_OVERFLOW" ? TOO_LARGE : "";
  const type = "Content-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff";
  socket.write(
    `HTTP/1.1 ${status}\r\nConnection: close\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // A server's connections are sockets, under TLS as well.
  (socket as Socket).destroySoon();
}
