/**
 * The page's link to its server: it hurries when the network or the tab comes back, and its state is a cell that the page
 * can show.
 */
import { Link, type LinkState } from "@blockyard/client";
import type { Replica } from "@blockyard/kernel";
import { Cell } from "./cell.ts";
import { ticket } from "./proof.ts";

export class PageLink {
  readonly state = new Cell<LinkState>({ state: "connecting", tries: 0 });
  readonly #link: Link;

  constructor(replica: Replica, url: string) {
    this.#link = new Link({ replica, url, ticket, onState: (state) => this.state.set(state) });
  }

  start(): void {
    addEventListener("online", () => this.#link.hurry());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#link.hurry();
    });
    this.#link.start();
  }
}
