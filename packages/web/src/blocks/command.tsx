/**
 * A command's output, as in a terminal: output, errors separately, exit; its exact text if expanded. Below it, the
 * output of re-runs.
 */
import {
  type BlockId,
  exactText,
  folderLabel,
  formatDuration,
  isEnded,
  isShellCommand,
  metadataOf,
  plainTerminal,
  plural,
} from "@blockyard/kernel";
import type { ReactNode } from "react";
import { stopCommand } from "../actions/actions.ts";
import { isRerun } from "../rows/rows.ts";
import { useSides } from "../rows/view-tree.ts";
import { overlay } from "../state/page-state.ts";
import { useBlock, useSession, useText, useView } from "../state/session.tsx";
import { Terminal } from "../terminal/terminal.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { Collapse } from "./collapse.tsx";
import { useFolder } from "./folder.ts";
import { useForm } from "./form.ts";
import { Pictures } from "./image.tsx";
import { type RendererProps, useLineCount } from "./renderer.ts";
import { Waiting } from "./text.tsx";

export function CommandBlock({ block }: RendererProps): ReactNode {
  const sides = useSides(block.id);
  return (
    <>
      <Run block={block} />
      {sides.map((id) => (
        <Again key={id} id={id} />
      ))}
    </>
  );
}

/** Another run of the same command. */
function Again({ id }: { id: BlockId }): ReactNode {
  const block = useBlock(id);
  if (!block || !isRerun(block)) return null;
  return (
    <div className="rerun" data-block={id} data-kind="command" data-status={block.status}>
      <CommandBlock block={block} />
    </div>
  );
}

function Run({ block }: RendererProps): ReactNode {
  const { command, stderr, images } = metadataOf(block, "command");
  const errorLines = stderr ? stderr.trimEnd().split("\n").length : 0;
  const lines = useLineCount(block) + errorLines;
  const chars = block.chars + (stderr?.length ?? 0);
  const form = useForm(block, { lines, chars });
  const isBrief = form === "tail";
  if (form === "line") return null;
  return (
    <div className="result command-result">
      {!isBrief && (
        <div className="command-line">
          <span className="prompt" aria-hidden="true">
            $
          </span>
          <code>{breakable(exactText(command))}</code>
          <CopyButton text={() => command} label="Copy the command" />
        </div>
      )}
      {lines > 0 && (
        <Collapse
          block={block}
          lines={lines}
          chars={chars}
          after={stderr}
          plain={plainTerminal}
          drawTail={(last) => <Terminal output={last.join("\n")} />}
        >
          {() => (
            <>
              <Output block={block} />
              {stderr && <Terminal output={stderr} className="stderr" />}
            </>
          )}
        </Collapse>
      )}
      {images && images.length > 0 && <Pictures images={images} />}
      <Foot block={block} hasOutput={lines > 0} isBrief={isBrief} />
    </div>
  );
}

interface FootProps extends RendererProps {
  readonly hasOutput: boolean;
  /** The line of its call says how it ended. */
  readonly isBrief: boolean;
}

/** How it ended; while it runs there is nothing to say but how to stop it. */
function Foot({ block, hasOutput, isBrief }: FootProps): ReactNode {
  const session = useSession();
  const view = useView();
  const { exitCode, interrupted, background, durationMs, cwd, sandbox, truncatedChars } = metadataOf(
    block,
    "command",
  );
  const folder = useFolder();
  const place = cwd && folderLabel(cwd, folder);
  if (!isEnded(block.status) && !isRerun(block)) return null;
  return (
    <div className="command-foot">
      {!isBrief && <Exit exitCode={exitCode} isOver={isEnded(block.status)} />}
      {interrupted && <span className="warn">interrupted</span>}
      {background && <span>in the background</span>}
      {durationMs !== undefined && <span>{formatDuration(durationMs)}</span>}
      {place && (
        <span className="cwd" title={cwd}>
          {place}
        </span>
      )}
      {sandbox && <span className="sandbox">{sandbox}</span>}
      {truncatedChars !== undefined && <span>{plural(truncatedChars, "character")} omitted</span>}
      <RunButtons block={block} />
      {hasOutput && (
        <CopyButton
          text={async () => {
            const output = await session.text(view, block.id);
            return output === undefined ? undefined : plainTerminal(output);
          }}
          label="Copy the output"
        />
      )}
    </div>
  );
}

/** Only the owner runs commands; one that runs because of that can be stopped. */
function RunButtons({ block }: RendererProps): ReactNode {
  const session = useSession();
  if (!session.isOwner) return null;
  if (isEnded(block.status) && !isShellCommand(block)) return null;
  if (isEnded(block.status))
    return (
      <button
        type="button"
        className="quiet-button"
        title="Run this command again (x)"
        onClick={() => overlay.set({ type: "rerun", block: block.id })}
      >
        <Icon name="redo" /> Run again
      </button>
    );
  if (!isRerun(block)) return null;
  return (
    <button type="button" className="quiet-button" onClick={() => void stopCommand(session, block.id)}>
      <Icon name="stop" /> Stop
    </button>
  );
}

function Output({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  if (block.chars === 0) return null;
  return text ? <Terminal output={text.toString()} /> : <Waiting chars={block.chars} />;
}

function Exit({ exitCode, isOver }: { exitCode: number | null | undefined; isOver: boolean }): ReactNode {
  if (!isOver) return <span>running…</span>;
  if (exitCode === undefined || exitCode === null) return null;
  return <span className={exitCode === 0 ? "ok" : "bad"}>exit {exitCode}</span>;
}
