/** The formats of an export, and how their files are called. What each holds is export.ts. */

export const FORMATS = ["html", "markdown", "jsonl", "raw"] as const;
export type Format = (typeof FORMATS)[number];

export const FORMAT_FILES: Readonly<Record<Format, { readonly ending: string; readonly mediaType: string }>> =
  {
    html: { ending: "html", mediaType: "text/html; charset=utf-8" },
    markdown: { ending: "md", mediaType: "text/markdown; charset=utf-8" },
    jsonl: { ending: "jsonl", mediaType: "application/x-ndjson; charset=utf-8" },
    raw: { ending: "raw.jsonl", mediaType: "application/x-ndjson; charset=utf-8" },
  };

export function isFormat(name: string): name is Format {
  return (FORMATS as readonly string[]).includes(name);
}
