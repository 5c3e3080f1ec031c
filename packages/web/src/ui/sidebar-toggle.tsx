/** Shows the list of conversations again if it is hidden: beside the page in a wide window, over it in a narrow one. */
import type { ReactNode } from "react";
import { isSidebarOpen } from "../state/page-state.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { Icon } from "./icons.tsx";

const narrow = matchMedia("(max-width: 760px)");

export function toggleSidebar(): void {
  if (narrow.matches) isSidebarOpen.change((isOpen) => !isOpen);
  else prefer({ sidebar: !preferences.get().sidebar });
}

export function showSidebar(): void {
  if (narrow.matches) isSidebarOpen.set(true);
  else prefer({ sidebar: true });
}

export function SidebarToggle(): ReactNode {
  return (
    <button
      type="button"
      className="icon-button sidebar-toggle"
      title="Show the sidebar ([)"
      aria-label="Conversations"
      onClick={toggleSidebar}
    >
      <Icon name="sidebar" />
    </button>
  );
}
