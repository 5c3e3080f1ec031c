/**
 * Asking whether what acts by itself in a folder is trusted, where the server has said that it must be asked. Apart from the
 * dialog, which is loaded when it is first wanted.
 */
import type { Problem } from "@blockyard/kernel";
import { overlay, type TrustQuestion } from "../state/page-state.ts";

/** The question in an answer of the server, if it is one. */
export function trustQuestion({ details }: Problem): TrustQuestion | undefined {
  return details?.["ask"] === "trust" ? (details as unknown as TrustQuestion) : undefined;
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
