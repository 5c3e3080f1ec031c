/**
 * Parts of the page that are loaded when they are first wanted, or before, in a quiet moment. One that cannot be had,
 * because the server is away or has another page by now, says so in its own place, and the rest of the page goes on. It
 * is not asked for again: browsers remember a module that failed until the page is loaded anew.
 */
import { type ComponentType, type ReactNode, useEffect, useState } from "react";

interface Later<Props> {
  (props: Props & Waits): ReactNode;
  /** Preloads it; errors show when it is needed. */
  prepare(): void;
}

interface Waits {
  /** Shown until it is loaded. */
  readonly meanwhile?: ReactNode;
  /** Shown above the error if it could not be loaded: what it would have taken the place of. */
  readonly instead?: ReactNode;
  /** Called when it could not be loaded, instead of an error in its place. */
  readonly onMissing?: () => void;
}

export const MISSING =
  "Couldn't load this part of the page: the server was unreachable or has been updated. Reload the page.";

export function later<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): Later<Props> {
  let Part: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const get = () => {
    loading ??= load().then((module) => {
      Part = module.default;
    });
    return loading;
  };
  const Loaded = (props: Props & Waits): ReactNode => {
    const { meanwhile = null, instead = null, onMissing } = props;
    const [state, setState] = useState<"loading" | "here" | "missing">(Part ? "here" : "loading");
    useEffect(() => {
      if (state !== "loading") return;
      let isGone = false;
      get().then(
        () => isGone || setState("here"),
        () => {
          if (isGone) return;
          if (onMissing) onMissing();
          else setState("missing");
        },
      );
      return () => {
        isGone = true;
      };
    }, [state, onMissing]);
    if (Part) return <Part {...props} />;
    if (state === "loading") return meanwhile;
    return (
      <>
        {instead}
        <Missing />
      </>
    );
  };
  return Object.assign(Loaded, { prepare: () => void get().catch(() => {}) });
}

function Missing(): ReactNode {
  return (
    <div className="missing-part" role="alert">
      <span>{MISSING}</span>
      <button type="button" onClick={() => location.reload()}>
        Reload the page
      </button>
    </div>
  );
}
