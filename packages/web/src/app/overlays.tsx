/**
 * What lies over the page for a moment: commands, search, help, and what is asked before something is
 * done. Loaded when first wanted.
 */
import type { ReactNode } from "react";
import { EditorChoice } from "../actions/editor-choice.tsx";
import { FolderChoice } from "../actions/folder-choice.tsx";
import { Rerun } from "../actions/rerun.tsx";
import { RulesDialog } from "../actions/rules-dialog.tsx";
import { TrustChoice } from "../actions/trust-choice.tsx";
import { Costs } from "../costs/costs.tsx";
import { Merge } from "../files/conflict.tsx";
import { OpenFile } from "../files/open-file.tsx";
import { AuditLog } from "../palette/audit-log.tsx";
import { DeleteConversation } from "../palette/delete-conversation.tsx";
import { Help } from "../palette/help.tsx";
import { Palette } from "../palette/palette.tsx";
import { Search } from "../palette/search.tsx";
import { Settings } from "../palette/settings.tsx";
import type { Conversations } from "../sidebar/conversations.ts";
import type { Overlay } from "../state/page-state.ts";

export default function Overlays({
  shown,
  conversations,
}: {
  shown: NonNullable<Overlay>;
  conversations: Conversations;
}): ReactNode {
  switch (shown.type) {
    case "palette":
      return <Palette conversations={conversations} />;
    case "search":
      return <Search conversations={conversations} />;
    case "rules":
      return <RulesDialog />;
    case "audit":
      return <AuditLog />;
    case "help":
      return <Help />;
    case "rerun":
      return <Rerun block={shown.block} />;
    case "trust":
      return <TrustChoice question={shown.question} answer={shown.answer} />;
    case "folder":
      return <FolderChoice question={shown.question} answer={shown.answer} />;
    case "open-file":
      return <OpenFile />;
    case "merge":
      return <Merge block={shown.block} />;
    case "costs":
      return <Costs />;
    case "settings":
      return <Settings />;
    case "delete":
      return <DeleteConversation conversation={shown.conversation} title={shown.title} />;
    case "editor":
      return <EditorChoice path={shown.path} line={shown.line} />;
  }
}
