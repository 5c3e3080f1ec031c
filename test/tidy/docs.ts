/** Checks that every page of docs is reachable from ARCHITECTURE.md by links, and that all links have a target. */
import { posix } from "node:path";
import { type File, lineAt } from "./source.ts";

export function findUnlinked(files: readonly File[]): string[] {
  const pages = new Map(files.filter(isPage).map((file) => [file.path, file]));
  const reached = new Set<string>();
  const pending = ["ARCHITECTURE.md"];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const page = pages.get(path);
    if (page === undefined || reached.has(path)) continue;
    reached.add(path);
    pending.push(...links(page).map(({ target }) => target));
  }
  return [...pages.keys()]
    .filter((path) => path.startsWith("docs/") && !reached.has(path))
    .map((path) => `${path} is not linked from ARCHITECTURE.md`);
}

export function findBrokenLinks(files: readonly File[]): string[] {
  const paths = files.map(({ path }) => path);
  const exists = (target: string) => paths.some((path) => path === target || path.startsWith(`${target}/`));
  return files.filter(isPage).flatMap((page) =>
    links(page)
      .filter(({ target }) => !exists(target.replace(/\/$/, "")))
      .map(({ target, line }) => `${page.path}:${line} links to ${target}, which does not exist`),
  );
}

const WALK_MOST = 25;

/** ARCHITECTURE lists the files that one token passes: they exist, and they are few. */
export function checkWalk(files: readonly File[]): string[] {
  const page = files.find(({ path }) => path === "ARCHITECTURE.md")?.text ?? "";
  const section = /\n## One token[^\n]*\n([\s\S]*?)\n## /.exec(page)?.[1] ?? "";
  const walked = [...section.matchAll(/`([a-z]+\/src\/[^`]+)`/g)].map((match) => `packages/${match[1]}`);
  const paths = new Set(files.map(({ path }) => path));
  return [
    ...(walked.length === 0 ? ["ARCHITECTURE.md lists no file that a token passes"] : []),
    ...(walked.length > WALK_MOST
      ? [`a token passes ${walked.length} files; the limit is ${WALK_MOST}`]
      : []),
    ...walked
      .filter((path) => !paths.has(path))
      .map((path) => `ARCHITECTURE.md names ${path}, which does not exist`),
  ];
}

function isPage({ path }: File): boolean {
  return /^(docs\/.*|[A-Z]+)\.md$/.test(path);
}

/** Links to files of this repository, without their fragment. */
function links({ path, text }: File): { target: string; line: number }[] {
  return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .filter((match) => !/^[a-z]+:/.test(match[1]!) && !/\.(png|svg|webp)$/.test(match[1]!))
    .map((match) => ({
      target: posix.join(posix.dirname(path), match[1]!),
      line: lineAt(text, match.index),
    }));
}
