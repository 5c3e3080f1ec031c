/**
 * What lies over the page for a moment: commands, search, help. Loaded when first wanted.
 */
import type { ReactNode } from "react";
import type { Overlay } from "../page-state.ts";
import type { Conversations } from "../sidebar/conversations.ts";
import { Help } from "./help.tsx";
import { Palette } from "./palette.tsx";
import { Search } from "./search.tsx";

export default function Overlays({
  shown,
  conversations,
}: {
  shown: Overlay;
  conversations: Conversations;
}): ReactNode {
  if (shown === "palette") return <Palette conversations={conversations} />;
  if (shown === "search") return <Search conversations={conversations} />;
  return <Help />;
}
