/** The result of a statement: progress, error, plan, or rows as table, JSON or chart. */
import { useState } from 'preact/hooks';
import { printed } from '../api/exact.ts';
import { apiPath, type Failure } from '../api/http.ts';
import type { Rows } from '../api/rows.ts';
import { curl, mcpCurl } from '../connect/snippets.ts';
import { model } from '../model/current.ts';
import { Code, Copy, download, FailureBox } from '../parts/basics.tsx';
import { later } from '../parts/later.tsx';
import { Hidden, namedIn } from '../parts/restrictions.tsx';
import { hashOf } from '../router.ts';
import { texts } from '../texts.ts';
import { offsetOf } from './editor.ts';
import { Grid } from './grid.tsx';
import { placeColumns } from './places.ts';
import { PlanView } from './plan-view.tsx';
import { Tree } from './tree.tsx';

interface Run {
  readonly sql: string;
  readonly limit: number;
}
/** `asks`: the text has statements that change something, the first one at `start`, in the editor at `place`; nothing has run. */
export type Outcome =
  | (Run & { readonly kind: 'running'; readonly rows: Rows; readonly count: number })
  | (Run & { readonly kind: 'cancelled' })
  | (Run & { readonly kind: 'failed'; readonly failure: Failure; readonly offset: number })
  | (Run & { readonly kind: 'asks'; readonly start: number; readonly place: number })
  | (Run & { readonly kind: 'plan'; readonly plan: string; readonly generated: string | null })
  | (Run & { readonly kind: 'rows'; readonly rows: Rows; readonly count: number; readonly ms: number });

const FORMS = ['table', 'tree', 'json', 'chart', 'map'] as const;
const PointMap = later(() => import('./map.tsx'));
const Chart = later(() => import('./chart.tsx'));

export function Result({
  ontology,
  outcome,
  reveal,
  confirm,
  openEntity,
}: {
  readonly ontology: string;
  readonly outcome: Outcome | null;
  reveal(offset: number): void;
  /** Runs a text that changes something. */
  confirm(text: string): void;
  openEntity(id: string): void;
}) {
  const [form, setForm] = useState<(typeof FORMS)[number]>('table');
  if (outcome === null) return <section class="result empty">{texts.query.start}</section>;
  switch (outcome.kind) {
    case 'cancelled':
      return (
        <section class="result">
          <p class="loading" role="status">
            {texts.query.cancelled}
          </p>
        </section>
      );
    case 'failed': {
      const { failure, sql, offset } = outcome;
      return (
        <section class="result">
          <div class="body">
            <FailureBox failure={failure} sql={sql}>
              {failure.position !== null && (
                <button type="button" onClick={() => reveal(offset + offsetOf(sql, failure.position as number))}>
                  {texts.query.at(failure.position)}
                </button>
              )}
            </FailureBox>
            {/^unknown_(?:concept|path)$/.test(failure.code) && (
              <p class="muted">
                {texts.restrictions.unnamed} <a href={hashOf({ ontology, view: 'access' })}>{texts.restrictions.rights}</a>
              </p>
            )}
          </div>
        </section>
      );
    }
    case 'asks': {
      const { sql, start, place } = outcome;
      return (
        <section class="result" aria-label={texts.query.changes}>
          <div class="body whole">
            <p role="alert">{texts.query.changes}</p>
            <Code text={sql.slice(start)} />
            <p class="actions">
              <button type="button" class="primary" onClick={() => confirm(sql)}>
                {texts.query.runChanges}
              </button>
              <button type="button" onClick={() => reveal(place)}>
                {texts.query.showChanges}
              </button>
            </p>
          </div>
        </section>
      );
    }
    case 'plan':
      return (
        <section class="result">
          <PlanView plan={outcome.plan} generated={outcome.generated} />
        </section>
      );
  }
  const { rows, count } = outcome;
  const places = placeColumns(rows, count);
  const entities = rows.columns.includes('entity_id') ? openEntity : undefined;
  return (
    <section class="result" aria-label={texts.query.result}>
      <div class="bar">
        <span role="status">{outcome.kind === 'running' ? texts.query.running(count) : texts.query.rows(count, outcome.ms)}</span>
        {outcome.kind === 'rows' && count === outcome.limit && <span class="muted">{texts.query.limited(count)}</span>}
        <span class="grow" />
        {FORMS.filter((f) => f !== 'map' || places !== null).map((f) => (
          <button key={f} type="button" aria-pressed={f === form} onClick={() => setForm(f)}>
            {texts.query[f]}
          </button>
        ))}
        {outcome.kind === 'rows' && <Save rows={rows} name={ontology} />}
        <Copy label={texts.query.curl} text={curlOf(ontology, outcome.sql)} />
        <Copy label={texts.query.mcp} text={mcpCurl(location.origin + apiPath, ontology, outcome.sql)} />
      </div>
      {outcome.kind === 'rows' && model.value !== null && <Hidden model={model.value} concepts={namedIn(model.value, outcome.sql)} open={count === 0} />}
      <div class="body">
        {count === 0 ? (
          outcome.kind === 'rows' && <p class="empty">{texts.query.empty}</p>
        ) : form === 'table' ? (
          <Grid rows={rows} count={count} openEntity={entities} />
        ) : form === 'tree' ? (
          <Tree rows={rows} count={count} />
        ) : form === 'map' && places !== null ? (
          <PointMap rows={rows} count={count} columns={places} />
        ) : form === 'json' ? (
          <Code text={jsonOf(rows, Math.min(count, 500))} />
        ) : (
          <Chart rows={rows} count={count} />
        )}
      </div>
    </section>
  );
}

const jsonOf = (rows: Rows, count: number): string => Array.from({ length: count }, (_, i) => printed(rows.row(i), 2)).join('\n');

function Save({ rows, name }: { readonly rows: Rows; readonly name: string }) {
  const lines = (): string[] => Array.from({ length: rows.length }, (_, i) => rows.line(i));
  return (
    <select
      aria-label={texts.query.save}
      value=""
      onChange={(e) => {
        const format = e.currentTarget.value;
        e.currentTarget.value = '';
        if (format === 'ndjson') download(`${name}.ndjson`, new Blob([lines().join('\n'), '\n'], { type: 'application/x-ndjson' }));
        if (format === 'json') download(`${name}.json`, new Blob([`[${lines().join(',\n')}]`], { type: 'application/json' }));
        if (format === 'csv') download(`${name}.csv`, new Blob([csvOf(rows)], { type: 'text/csv' }));
      }}
    >
      <option value="" disabled>
        {texts.query.save}
      </option>
      <option value="csv">CSV</option>
      <option value="ndjson">NDJSON</option>
      <option value="json">JSON</option>
    </select>
  );
}

/** CSV as of RFC 4180; a text that a spreadsheet would take for a formula stays as it is, as in the service's own CSV. */
function csvOf(rows: Rows): string {
  const field = (value: unknown): string => {
    if (value === null || value === undefined) return '';
    const text = typeof value === 'string' ? value : printed(value);
    return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [rows.columns.map(field).join(',')];
  for (let i = 0; i < rows.length; i++) {
    const row = rows.row(i);
    lines.push(rows.columns.map((c) => field(row[c])).join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}

const curlOf = (ontology: string, sql: string): string => curl(`${location.origin}${apiPath}/query/`, JSON.stringify({ ontology_name: ontology, query: sql }));
