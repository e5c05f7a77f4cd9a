/** A question and its answer. */
import { useState } from 'preact/hooks';
import { exampleStatement, mayStore, storeExample } from '../api/examples.ts';
import type { Rows } from '../api/rows.ts';
import { model } from '../model/current.ts';
import { useAnswer, useAttempt } from '../parts/attempt.ts';
import { Code, Copy, FailureBox, Loading } from '../parts/basics.tsx';
import { later } from '../parts/later.tsx';
import { Hidden, namedIn } from '../parts/restrictions.tsx';
import { Grid } from '../query/grid.tsx';
import { go, hashOf } from '../router.ts';
import { texts } from '../texts.ts';
import { askAs, type Turn } from './conversation.ts';

const Chart = later(() => import('../query/chart.tsx'));

export function TurnView({ ontology, turn }: { readonly ontology: string; readonly turn: Turn }) {
  const { state, question, readings, reading, steps, failure, sql, rows } = turn;
  return (
    <article class="turn">
      <h2 class="asked">{question}</h2>
      {readings.length > 0 && <Readings ontology={ontology} turn={turn} />}
      {state === 'running' && <Progress steps={steps} />}
      {state === 'cancelled' && <p class="muted">{texts.query.cancelled}</p>}
      {failure !== null && <FailureBox failure={failure} retry={() => void askAs(ontology, turn.id, reading)} />}
      {state === 'answered' && (
        <>
          <p class="answer">{turn.answer}</p>
          {turn.warnings.map((warning) => (
            <p key={warning} class="warning">
              {warning}
            </p>
          ))}
          {rows !== null && <RowsView ontology={ontology} rows={rows} />}
          {model.value !== null && <Hidden model={model.value} concepts={namedIn(model.value, sql)} open={rows === null || rows.length === 0} />}
          <details class="made">
            <summary>SQL</summary>
            <Code text={sql} />
            <p class="actions">
              <a class="button" href={hashOf({ ontology, view: 'query', parameters: { sql } })}>
                {texts.ask.openQuery}
              </a>
              <Copy text={sql} />
            </p>
          </details>
          <Rating key={`${turn.id} ${sql}`} ontology={ontology} turn={turn} />
        </>
      )}
    </article>
  );
}

function Progress({ steps }: { readonly steps: readonly string[] }) {
  return (
    <div class="steps">
      <ol>
        {steps.slice(0, -1).map((step, i) => (
          <li key={i}>{step}</li>
        ))}
      </ol>
      <Loading text={steps.at(-1) ?? texts.ask.begins} />
    </div>
  );
}

/** The ways to understand a question, to choose from. */
function Readings({ ontology, turn: { id, readings, reading, state } }: { readonly ontology: string; readonly turn: Turn }) {
  return (
    <fieldset class="readings">
      <legend>{texts.ask.unclear}</legend>
      {readings.map((one) => (
        <div key={one.reading}>
          <button type="button" aria-pressed={one.reading === reading} disabled={state === 'running'} onClick={() => void askAs(ontology, id, one.reading)}>
            {one.reading}
          </button>
          <details>
            <summary>{texts.ask.readingSql}</summary>
            <Code text={one.sql} />
          </details>
        </div>
      ))}
    </fieldset>
  );
}

function RowsView({ ontology, rows }: { readonly ontology: string; readonly rows: Rows }) {
  const [isChart, setChart] = useState(false);
  if (rows.length === 0) return <p class="muted">{texts.query.empty}</p>;
  const openEntity = (id: string): void => go({ ontology, view: 'data', parameters: { entity: id } });
  return (
    <div class="rows">
      <div class="bar">
        <span>{texts.ask.rows(rows.length)}</span>
        <span class="grow" />
        {(['table', 'chart'] as const).map((form) => (
          <button key={form} type="button" aria-pressed={isChart === (form === 'chart')} onClick={() => setChart(form === 'chart')}>
            {texts.query[form]}
          </button>
        ))}
      </div>
      {isChart ? (
        <Chart rows={rows} count={rows.length} />
      ) : (
        <Grid rows={rows} count={rows.length} openEntity={rows.columns.includes('entity_id') ? openEntity : undefined} />
      )}
    </div>
  );
}

const Thumb = ({ down = false }: { readonly down?: boolean }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true" class={down ? 'down' : ''}>
    <path d="M1.5 7h3v7h-3z M4.5 8l3-6c1.4 0 2 .9 1.8 2.1L9 6.5h4.2c.9 0 1.5.8 1.3 1.6l-1 4.6c-.2.8-.8 1.3-1.6 1.3H4.5" />
  </svg>
);

/** What has just opened may be below the end of the conversation that is in sight. */
const showAll = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' });

/** Thumbs that store the question with its SQL, or with a corrected one, as an example. Only for users who may. */
function Rating({ ontology, turn: { question, sql } }: { readonly ontology: string; readonly turn: Turn }) {
  const [rating, setRating] = useState<'good' | 'bad' | null>(null);
  const [right, setRight] = useState(sql);
  const [isStored, setStored] = useState(false);
  const { failure, attempt, forget } = useAttempt();
  const { answer: may } = useAnswer(() => mayStore(ontology), [ontology]);
  if (may !== true) return null;
  const stored = rating === 'bad' ? right : sql;
  const statement = exampleStatement(question, stored);
  const store = (): void =>
    void attempt(
      () => storeExample(ontology, question, stored),
      () => setStored(true),
    );
  const choose = (to: 'good' | 'bad'): void => {
    forget();
    setStored(false);
    setRating(rating === to ? null : to);
  };
  return (
    <div class="rating">
      <p class="actions">
        <button type="button" class="plain" aria-pressed={rating === 'good'} onClick={() => choose('good')}>
          <Thumb /> {texts.ask.good}
        </button>
        <button type="button" class="plain" aria-pressed={rating === 'bad'} onClick={() => choose('bad')}>
          <Thumb down /> {texts.ask.bad}
        </button>
      </p>
      {rating !== null && !isStored && (
        <div class="card" ref={showAll}>
          <p>{rating === 'good' ? texts.ask.goodHelp : texts.ask.badHelp}</p>
          {rating === 'bad' && (
            <label>
              {texts.ask.rightSql}
              <textarea rows={5} value={right} spellcheck={false} onInput={(e) => setRight(e.currentTarget.value)} />
            </label>
          )}
          <Code text={statement} />
          {failure !== null && <FailureBox failure={failure} sql={statement} />}
          <p class="actions">
            <button type="button" class="primary" onClick={store}>
              {texts.ask.store}
            </button>
            <button type="button" onClick={() => setRating(null)}>
              {texts.cancel}
            </button>
          </p>
        </div>
      )}
      {isStored && <p role="status">{texts.ask.stored}</p>}
    </div>
  );
}
