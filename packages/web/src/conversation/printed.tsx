/**
 * Printing: the rows near the screen are in the document already; while the browser prints, those before and after them
 * are too, as far as they are loaded and within a limit. The screen shows none of them.
 */

import { type ReactNode, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import type { Row } from "../rows/rows.ts";
import { RowView } from "./block-row.tsx";
import { PRINTED_ROWS } from "./limits.ts";
import { around, type Range } from "./strip.ts";

/** Which of the rows are printed: those that are drawn, and as many around them as may be. Undefined while nothing is printed. */
export function usePrinted(rows: readonly Row[], drawn: Range): Range | undefined {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    // The browser takes what is there when its event is over.
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting ? around(drawn, rows.length, PRINTED_ROWS) : undefined;
}

export function PrintedRows({ rows }: { rows: readonly Row[] }): ReactNode {
  return (
    <div className="printed-rows">
      {rows.map((row) => (
        <div className="list-row" key={row.key}>
          <RowView row={row} />
        </div>
      ))}
    </div>
  );
}
