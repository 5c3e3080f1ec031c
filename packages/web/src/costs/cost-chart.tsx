/**
 * What each day has cost, as bars. For who cannot see it the table below says the same.
 */
import { formatCost, plural } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { type DayCost, dayWords } from "./cost-rows.ts";

const WIDTH_PX = 720;
const HEIGHT_PX = 120;
const GAP_PX = 2;
/** Wider bars would look like something else. */
const MOST_WIDTH_PX = 36;

export function CostChart({ days }: { days: readonly DayCost[] }): ReactNode {
  const most = Math.max(...days.map(({ costUsd }) => costUsd), 0);
  const now = new Date();
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""].map((day) => dayWords(day, now));
  const step = Math.min(MOST_WIDTH_PX, WIDTH_PX / Math.max(1, days.length));
  const label = `Cost by day, ${first} to ${last}, highest day ${formatCost(most)}`;
  return (
    <figure className="cost-chart">
      <svg viewBox={`0 0 ${WIDTH_PX} ${HEIGHT_PX}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <line x1="0" x2={WIDTH_PX} y1={HEIGHT_PX - 0.5} y2={HEIGHT_PX - 0.5} />
        {days.map(({ day, costUsd, turns }, i) => {
          const height = most === 0 ? 0 : Math.max(costUsd > 0 ? 2 : 0, (costUsd / most) * (HEIGHT_PX - 8));
          return (
            <g key={day}>
              <rect x={i * step} y="0" width={step} height={HEIGHT_PX} className="day">
                <title>{`${dayWords(day, now)}: ${formatCost(costUsd)}, ${plural(turns, "turn")}`}</title>
              </rect>
              <rect
                x={i * step + Math.min(GAP_PX, step / 4)}
                y={HEIGHT_PX - height}
                width={Math.max(1, step - 2 * Math.min(GAP_PX, step / 4))}
                height={height}
                rx="1.5"
                className="bar"
              />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{first}</span>
        <span>Highest day {formatCost(most)}</span>
        <span>{last}</span>
      </figcaption>
    </figure>
  );
}
