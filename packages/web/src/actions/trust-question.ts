/**
 * Asking whether what acts by itself in a folder is trusted, where the server has said that it must be asked. Apart from the
 * dialog, which is loaded when it is first wanted.
 */
import type { Problem } from "@blockyard/kernel";
import { overlay, type TrustQuestion } from "../state/page-state.ts";

/** The question in an answer of the server, if it is one. */
export function trustQuestion({ details }: Problem): TrustQuestion | undefined {
  const { ask, folder, digest, files } = details ?? {};
  if (ask !== "trust" || typeof folder !== "string" || typeof digest !== "string") return undefined;
  return Array.isArray(files) && files.every(isTrustFile) ? { folder, digest, files } : undefined;
}

function isTrustFile(value: unknown): value is TrustQuestion["files"][number] {
  if (typeof value !== "object" || value === null) return false;
  const { path, reason, state } = value as { readonly [key: string]: unknown };
  return typeof path === "string" && typeof reason === "string" && typeof state === "string";
}

/** False where the dialog is closed without a yes. */
export function askTrust(question: TrustQuestion): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = { type: "trust", question, answer: resolve } as const;
    overlay.set(asked);
    const unlisten = overlay.listen(() => {
      if (overlay.get() === asked) return;
      unlisten();
      resolve(false);
    });
  });
}
