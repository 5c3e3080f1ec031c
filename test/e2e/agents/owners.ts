/** Where the owner of a scenario is: at a program, at the page, or in a terminal. */
import type { Browser } from "playwright-core";
import { buildPage } from "../../../scripts/build-page.mjs";
import type { Lab } from "../clis/lab.ts";
import { launch } from "../page/harness.ts";
import type { MatrixAgent } from "./agents.ts";
import type { From, Owner } from "./owner.ts";
import { HttpOwner } from "./owner-http.ts";
import { PageOwner } from "./owner-page.ts";
import { RunOwner } from "./owner-run.ts";

export interface Owners {
  /** One for a scenario. */
  open(lab: Lab, agent: MatrixAgent): Promise<Owner>;
  close(): Promise<void>;
}

export async function openOwners(from: From): Promise<Owners> {
  if (from === "http")
    return { open: async (lab, agent) => new HttpOwner(lab, agent), close: async () => undefined };
  if (from === "run")
    return { open: async (lab, agent) => new RunOwner(lab, agent), close: async () => undefined };
  await buildPage({ dev: false });
  const browser: Browser = await launch();
  return { open: (lab, agent) => PageOwner.open(browser, lab, agent), close: () => browser.close() };
}
