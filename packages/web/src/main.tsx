/**
 * The page's beginning: one session, one root. What is drawn is in app.tsx.
 */
import { Fragment, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { Conversations } from "./sidebar/conversations.ts";
import { readCapabilities } from "./state/capabilities.ts";
import { Session, SessionProvider } from "./state/session.tsx";
import { measureScrollbar } from "./ui/scrollbar.ts";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/head.css";
import "./styles/sidebar.css";
import "./styles/pane.css";
import "./styles/changes.css";
import "./styles/home.css";
import "./styles/costs.css";
import "./styles/blocks.css";
import "./styles/speech.css";
import "./styles/steps.css";
import "./styles/results.css";
import "./styles/code.css";
import "./styles/markdown.css";
import "./styles/overlays.css";
import "./styles/menus.css";
import "./styles/work.css";
import "./styles/composer.css";
import "./styles/asks.css";
import "./styles/rules.css";
import "./styles/forced-colors.css";
import "./styles/print.css";

const session = new Session(location.origin);
const conversations = new Conversations(session);
session.link.start();
conversations.start();
void readCapabilities();
session.link.state.listen(() => {
  if (session.link.state.get().state === "open") void readCapabilities();
});

measureScrollbar();
const root = document.getElementById("page");
const Checked = import.meta.env.DEV ? StrictMode : Fragment;
if (root)
  createRoot(root).render(
    <Checked>
      <SessionProvider value={session}>
        <App conversations={conversations} />
      </SessionProvider>
    </Checked>,
  );
