/** What a folder is called where several are listed. */

export function folderName(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? path;
}

/** As much of its end as distinguishes it from the others. */
export function nameAmong(path: string, paths: readonly string[]): string {
  const parts = path.split("/").filter(Boolean);
  for (let count = 1; count < parts.length; count++) {
    const end = parts.slice(-count).join("/");
    if (!paths.some((other) => other !== path && other.endsWith(`/${end}`))) return end;
  }
  return path;
}
