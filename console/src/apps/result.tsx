/** The page for a result of execute_sql, query_data or ask_question: its rows as a table and as a chart. */
import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useAttempt } from '../parts/attempt.ts';
import { Grid } from '../query/grid.tsx';
import { shapeOf } from '../query/shape.ts';
import { texts } from '../texts.ts';
import { listOf, membersOf, rowsOf, type ToolResult, text, textOf } from './answer.ts';
import { Chart } from './chart.tsx';
import type { Host } from './host.ts';
import { type Arguments, useShown } from './shown.ts';
import { own } from './texts.ts';

const LINE = 28;
/** The rows that the table shows without scrolling. */
const SHOWN = 12;

function Page() {
  const { host, shown, state } = useShown('result');
  if (shown !== null) {
    const { turn, result, args } = shown;
    return result.isError === true ? <p class="failure">{textOf(result)}</p> : <Result key={turn} result={result} args={args} host={host} />;
  }
  const said = { waiting: texts.query.running(0), cancelled: texts.query.cancelled, refused: own.refused };
  return (
    <p class="loading" role="status">
      {said[state]}
    </p>
  );
}

interface Props {
  readonly result: ToolResult;
  readonly args: Arguments;
  readonly host: Host | null;
}

function Result({ result, args, host }: Props) {
  const members = useMemo(() => membersOf(result), [result]);
  const [fetched, setFetched] = useState<ToolResult | null>(null);
  const shownRows = fetched === null ? members : membersOf(fetched);
  const rows = useMemo(() => rowsOf(shownRows.rows), [shownRows.rows]);
  const { failure, attempt } = useAttempt();
  const [isChart, setChart] = useState(false);
  const sql = text(members.sql) || text(args.query);
  const plan = text(members.plan);
  const readings = listOf(members.readings);
  const count = rows.length;
  const hasChart = useMemo(() => count > 1 && shapeOf(rows, count).numbers.length > 0, [rows, count]);
  const ask = (name: string, more: Arguments): void => {
    const { ontology } = members.ontology === undefined ? args : members;
    const call = host?.call;
    if (call) void attempt(() => call(name, { ...more, ...(typeof ontology === 'string' ? { ontology } : {}) }), setFetched);
  };
  return (
    <main class="result">
      {text(members.answer) !== '' && <p class="answer">{text(members.answer)}</p>}
      {readings.length > 0 && <Readings readings={readings.map((r) => text(r.reading))} say={host?.say ?? null} />}
      {fetched?.isError === true && <p class="failure">{textOf(fetched)}</p>}
      {failure !== null && <p class="failure">{failure.message}</p>}
      {shownRows.rows !== undefined && readings.length === 0 && plan === '' && (
        <>
          <div class="bar">
            <span role="status">{texts.ask.rows(count)}</span>
            {shownRows.truncated === true && <span class="chip">{own.cut}</span>}
            {hasChart && (
              <span class="switch">
                {[false, true].map((chart) => (
                  <button key={String(chart)} type="button" aria-pressed={isChart === chart} onClick={() => setChart(chart)}>
                    {chart ? texts.query.chart : texts.query.table}
                  </button>
                ))}
              </span>
            )}
          </div>
          {count === 0 ? (
            <p class="empty">{texts.query.empty}</p>
          ) : isChart ? (
            <Chart rows={rows} count={count} />
          ) : (
            <div class="frame" style={{ height: `${(Math.min(count, SHOWN) + 1) * LINE + 16}px` }}>
              <Grid rows={rows} count={count} />
            </div>
          )}
        </>
      )}
      {/* only SQL of the service, which reads: the text of the call may be a script that changes something */}
      {members.rows === undefined && fetched === null && text(members.sql) !== '' && host?.call != null && (
        <button type="button" onClick={() => ask('execute_sql', { query: text(members.sql) })}>
          {own.showRows}
        </button>
      )}
      {[plan, sql]
        .filter((part) => part !== '')
        .map((part) => (
          <details key={part} open={plan !== ''}>
            <summary>{part === plan ? texts.query.plan : texts.query.editor}</summary>
            <pre class="code" tabIndex={0}>
              {part}
            </pre>
          </details>
        ))}
    </main>
  );
}

/** The meanings of a question. The user's choice goes into the conversation, where the model repeats its call with it. */
function Readings({ readings, say }: { readonly readings: readonly string[]; readonly say: Host['say'] }) {
  return (
    <>
      <p>{texts.ask.unclear}</p>
      <ul class="links">
        {readings.map((reading) => (
          <li key={reading}>
            {say === null ? (
              reading
            ) : (
              <button type="button" onClick={() => void say(own.meant(reading)).catch(() => undefined)}>
                {reading}
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

render(<Page />, document.body);
