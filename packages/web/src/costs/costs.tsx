/**
 * What agents have cost: by day, workspace, agent, model or conversation, with sub-agents; as a chart, a table and a file.
 */
import { formatCost, formatCount, isProblem, plural } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { save } from "../actions/export.ts";
import { overlay } from "../state/page-state.ts";
import { go, linkTo } from "../state/route.ts";
import { useSession } from "../state/session.tsx";
import { agentName } from "../ui/agent-icon.tsx";
import { CloseButton, Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { CostChart } from "./cost-chart.tsx";
import {
  COST_GROUPS,
  type CostGroup,
  type CostReport,
  type CostRow,
  type CostSums,
  csvOf,
  DAY_MS,
  dayWords,
  everyDay,
  isUnknown,
  nameOf,
  usedSubagents,
} from "./cost-rows.ts";

const RANGES = [
  { days: 7, label: "7 days" },
  { days: 30, label: "30 days" },
  { days: 90, label: "90 days" },
  { days: 0, label: "All" },
] as const;
const GROUP_WORDS: Readonly<Record<CostGroup, string>> = {
  day: "Day",
  workspace: "Workspace",
  agent: "Agent",
  model: "Model",
  conversation: "Conversation",
};

type Shown = { readonly report: CostReport; readonly days: CostReport } | { readonly failure: string };

export function Costs(): ReactNode {
  const [days, setDays] = useState<number>(30);
  const [group, setGroup] = useState<CostGroup>("day");
  const shown = useReport(days, group);
  return (
    <Dialog label="Costs" className="costs">
      <div className="costs-head">
        <h2>Costs</h2>
        <Segments
          label="Time"
          options={RANGES.map((range) => ({ value: String(range.days), label: range.label }))}
          value={String(days)}
          onChoose={(value) => setDays(Number(value))}
        />
        <button
          type="button"
          className="costs-export"
          disabled={!shown || "failure" in shown || shown.report.rows.length === 0}
          onClick={() => shown && "report" in shown && exportCsv(shown.report.rows, group)}
        >
          <Icon name="download" /> <span className="costs-export-words">Export CSV</span>
        </button>
        <CloseButton />
      </div>
      {shown === undefined && <p className="dim">Loading…</p>}
      {shown && "failure" in shown && <p className="bad">Couldn't load the costs: {shown.failure}</p>}
      {shown && "report" in shown && (
        <Overview
          {...shown}
          from={days === 0 ? undefined : dayAgo(days - 1)}
          group={group}
          onGroup={setGroup}
        />
      )}
    </Dialog>
  );
}

interface OverviewProps {
  readonly report: CostReport;
  readonly days: CostReport;
  /** The first day of the time that is shown. */
  readonly from: string | undefined;
  readonly group: CostGroup;
  readonly onGroup: (group: CostGroup) => void;
}

/** With a plus if it was more than this. */
function costWords({ cost_usd, unpriced, uncounted, unreported }: CostSums, unknown: string): string {
  if (cost_usd === null) return unknown;
  return `${formatCost(cost_usd)}${unpriced.turns + uncounted + unreported > 0 ? "+" : ""}`;
}

function tokenWords(sums: CostSums, count: number): string {
  return isUnknown(sums) ? "–" : formatCount(count);
}

function Overview({ report, days, from, group, onGroup }: OverviewProps): ReactNode {
  const { total, rows, more } = report;
  const subagents = total.subagents.input + total.subagents.output;
  if (total.turns === 0) return <p className="dim">No turns in this period.</p>;
  return (
    <>
      <dl className="cost-sums">
        <Sum name="Cost" value={costWords(total, "Unknown")} />
        <Sum name="Turns" value={total.turns.toLocaleString("en-US")} />
        <Sum
          name="Tokens in"
          value={tokenWords(total, total.input)}
          detail={`${formatCount(total.cached)} cached`}
        />
        <Sum name="Tokens out" value={tokenWords(total, total.output)} />
        {subagents > 0 && (
          <Sum name="Sub-agents" value={formatCount(subagents)} detail="tokens, included above" />
        )}
      </dl>
      <CostChart days={everyDay(days.rows, today(), from)} />
      <Segments
        label="Group by"
        options={COST_GROUPS.map((value) => ({ value, label: GROUP_WORDS[value] }))}
        value={group}
        onChoose={onGroup}
      />
      <Table rows={rows} group={group} most={Math.max(...rows.map(({ cost_usd: cost }) => cost ?? 0), 0)} />
      {more && <p className="dim">Only the first {rows.length} are shown.</p>}
      {total.unpriced.turns > 0 && (
        <p className="dim">
          {plural(total.unpriced.turns, "turn")} without a known price: {formatCount(total.unpriced.input)}{" "}
          tokens in, {formatCount(total.unpriced.output)} out.
        </p>
      )}
      {total.uncounted > 0 && (
        <p className="dim">
          {plural(total.uncounted, "turn")} may have cost more than shown: ended before all usage was
          reported.
        </p>
      )}
      {total.unreported > 0 && (
        <p className="dim">
          {plural(total.unreported, "turn")} whose agent reported no usage: what they used is unknown.
        </p>
      )}
    </>
  );
}

function Sum({ name, value, detail }: { name: string; value: string; detail?: string }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {detail !== undefined && <span className="dim">{detail}</span>}
      </dd>
    </div>
  );
}

function Table({
  rows,
  group,
  most,
}: {
  rows: readonly CostRow[];
  group: CostGroup;
  most: number;
}): ReactNode {
  const hasSubagents = usedSubagents(rows);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="cost-table" aria-label={`Costs by ${GROUP_WORDS[group].toLowerCase()}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{GROUP_WORDS[group]}</th>
            <th scope="col">Turns</th>
            <th scope="col">Tokens in</th>
            <th scope="col" className="cost-more">
              Tokens out
            </th>
            {hasSubagents && (
              <th scope="col" className="cost-more">
                Sub-agents
              </th>
            )}
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={`${i} ${row.conversation ?? nameOf(row, group)}`}>
              <th scope="row">
                <RowName row={row} group={group} />
              </th>
              <td>{row.turns.toLocaleString("en-US")}</td>
              <td>{tokenWords(row, row.input)}</td>
              <td className="cost-more">{tokenWords(row, row.output)}</td>
              {hasSubagents && (
                <td className="cost-more">
                  {formatCount(row.subagents.input + row.subagents.output).replace(/^0$/, "–")}
                </td>
              )}
              <td className="cost-cell">
                <meter min={0} max={most || 1} value={row.cost_usd ?? 0} aria-hidden="true" />
                {costWords(row, "–")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function RowName({ row, group }: { row: CostRow; group: CostGroup }): ReactNode {
  const name = nameOf(row, group);
  if (group === "agent") return agentName(name);
  if (group === "day") return <time dateTime={name}>{dayWords(name, new Date())}</time>;
  const { conversation } = row;
  if (group !== "conversation" || conversation === undefined) return name;
  return (
    <a
      href={linkTo(conversation)}
      onClick={(event) => {
        event.preventDefault();
        overlay.set(undefined);
        go(linkTo(conversation));
      }}
    >
      {name}
    </a>
  );
}

interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}

function Segments<T extends string>({ label, options, value, onChoose }: SegmentsProps<T>): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would stand out of the row
    <div className="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={value === option.value}
          onClick={() => onChoose(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

function useReport(days: number, group: CostGroup): Shown | undefined {
  const session = useSession();
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  useEffect(() => {
    let isOld = false;
    const since =
      days === 0 ? {} : { since: new Date(Date.now() - (days - 1) * DAY_MS).setHours(0, 0, 0, 0) };
    const ask = (by: CostGroup) => session.ask("cost.report", { by: [by], time_zone: timeZone(), ...since });
    const read = async () => {
      const byDay = await ask("day");
      const report = group === "day" ? byDay : await ask(group);
      if (isOld) return;
      if (isProblem(report) || isProblem(byDay))
        setShown({ failure: isProblem(report) ? report.message : "the server did not answer" });
      else setShown({ report, days: byDay });
    };
    void read();
    return () => {
      isOld = true;
    };
  }, [session, days, group]);
  return shown;
}

function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

/** As the server writes days. */
function today(): string {
  return dayAgo(0);
}

function dayAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toLocaleDateString("en-CA");
}

function exportCsv(rows: readonly CostRow[], group: CostGroup): void {
  save(new Blob([csvOf(rows, group)], { type: "text/csv" }), `costs-by-${group}-${today()}.csv`);
}
