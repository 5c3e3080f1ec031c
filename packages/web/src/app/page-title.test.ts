/** The title of the tab. */
import { expect, it } from "vitest";
import type { ListedConversation, Listing } from "../sidebar/conversations.ts";
import { titleOf } from "./page-title.ts";

const listing = (...rows: readonly Partial<ListedConversation>[]): Listing => ({
  state: "here",
  conversations: rows as readonly ListedConversation[],
});
const at = (conversation?: string, file?: string) => ({ conversation, file, block: undefined });

it.each([
  ["nothing", { state: "loading" } as const, at(), "Blockyard"],
  ["a conversation", listing({ id: "a", title: "Fix it" }), at("a"), "Fix it · Blockyard"],
  ["one without a title", listing({ id: "a", title: "" }), at("a"), "Blockyard"],
  [
    "others that ask",
    listing({ id: "a", title: "Fix it" }, { id: "b", title: "B", isAsking: true }),
    at("a"),
    "(1) Fix it · Blockyard",
  ],
  ["a file", listing({ id: "a", title: "x" }), at(undefined, "src/main.ts"), "main.ts · Blockyard"],
])("[V14] says %s", (_, listed, route, expected) => {
  expect(titleOf(listed, route)).toBe(expected);
});
