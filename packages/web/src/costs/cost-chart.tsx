/**
 * What each day has cost, as bars. For who cannot see it the table below says the same.
 */
import { formatCost, plural } from "@blockyard/kernel";
import type { ReactNode } from "react";
import type { DayCost } from "./cost-rows.ts";

const WIDTH = 720;
const HEIGHT = 120;
const GAP = 2;
/** Wider bars would look like something else. */
const MOST_WIDTH = 36;

export function CostChart({ days }: { days: readonly DayCost[] }): ReactNode {
  const most = Math.max(...days.map(({ costUsd }) => costUsd), 0);
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""];
  const step = Math.min(MOST_WIDTH, WIDTH / Math.max(1, days.length));
  const label = `Cost by day, ${first} to ${last}: at most ${formatCost(most)} a day`;
  return (
    <figure className="cost-chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {days.map(({ day, costUsd, turns }, i) => {
          const height = most === 0 ? 0 : Math.max(costUsd > 0 ? 2 : 0, (costUsd / most) * (HEIGHT - 8));
          return (
            <g key={day}>
              <rect x={i * step} y="0" width={step} height={HEIGHT} className="day">
                <title>{`${day}: ${formatCost(costUsd)}, ${plural(turns, "turn")}`}</title>
              </rect>
              <rect
                x={i * step + Math.min(GAP, step / 4)}
                y={HEIGHT - height}
                width={Math.max(1, step - 2 * Math.min(GAP, step / 4))}
                height={height}
                className="bar"
              />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{first}</span>
        <span>at most {formatCost(most)} a day</span>
        <span>{last}</span>
      </figcaption>
    </figure>
  );
}
