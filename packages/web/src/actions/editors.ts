/**
 * Links that open a file in the reader's own editor. The page only makes a link of a scheme that an editor has
 * registered; whether anything opens is the browser's and the editor's matter.
 *
 * Whatever a path holds is encoded, so that it stays a path; schemes that a browser would run or show itself are never
 * linked to, also where the reader has written a link of their own.
 */

interface EditorLink {
  readonly id: string;
  readonly name: string;
  readonly template: string;
}

export const EDITORS: readonly EditorLink[] = [
  { id: "vscode", name: "VS Code", template: "vscode://file{path}:{line}" },
  { id: "cursor", name: "Cursor", template: "cursor://file{path}:{line}" },
  { id: "windsurf", name: "Windsurf", template: "windsurf://file{path}:{line}" },
  { id: "zed", name: "Zed", template: "zed://file{path}:{line}" },
  { id: "idea", name: "IntelliJ IDEA and others", template: "idea://open?file={path}&line={line}" },
  { id: "textmate", name: "TextMate", template: "txmt://open?url=file://{path}&line={line}" },
];

/** The reader's own template. */
export const CUSTOM = "custom";
/** No editor: a path is copied. */
export const COPY = "copy";

/** Schemes that browsers and other programs of everybody answer to. */
const TAKEN =
  /^(javascript|data|vbscript|blob|file|filesystem|about|view-source|chrome|chrome-extension|edge|moz-extension|resource|https?|wss?|ftp|mailto|tel|sms|intent|ms-.*|search-ms|shell|ssh|smb|jar)$/;

/** Why a template cannot be used; undefined if it can. */
export function templateFault(template: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(template.trim())?.[1];
  if (scheme === undefined) return "Start with an editor's scheme, such as vscode:";
  if (TAKEN.test(scheme)) return `${scheme}: isn't an editor's scheme`;
  if (!template.includes("{path}")) return "Include {path}";
  return undefined;
}

/** The link to a file; undefined where there is none to make. */
export function editorLink(template: string, path: string, line: number): string | undefined {
  if (templateFault(template) !== undefined || !isAbsolute(path)) return undefined;
  const rooted = path.replaceAll("\\", "/").replace(/^([A-Za-z]:)/, "/$1");
  const encoded = rooted.split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
  return template
    .trim()
    .replaceAll("{path}", () => encoded)
    .replaceAll("{line}", () => String(line));
}

/** A path as the machine knows it, where the workspace's folder is known. */
export function absolutePath(path: string, root: string | undefined): string | undefined {
  if (isAbsolute(path)) return path;
  return root === undefined || path === "" ? undefined : `${root.replace(/[/\\]+$/, "")}/${path}`;
}

/** The path from the workspace's folder, of a file that is in it. */
export function insidePath(path: string, root: string | undefined): string | undefined {
  if (root === undefined) return undefined;
  const place = absolutePath(path, root)?.replaceAll("\\", "/");
  const folder = `${root.replaceAll("\\", "/").replace(/\/+$/, "")}/`;
  if (!place?.startsWith(folder) || place.split("/").includes("..")) return undefined;
  const inside = place.slice(folder.length);
  return inside === "" || inside.endsWith("/") ? undefined : inside;
}

function isAbsolute(path: string): boolean {
  return /^(\/|[A-Za-z]:[\\/])/.test(path);
}
