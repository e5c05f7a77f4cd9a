/** The query view: an editor with several sheets, and the result as table, JSON or chart. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure, failureOf, product, query } from '../api/http.ts';
import { memberOf } from '../api/names.ts';
import { Rows, readRows } from '../api/rows.ts';
import { changed, model } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { Copy } from '../parts/basics.tsx';
import { createEditor, type Editor, offsetOf } from '../query/editor.ts';
import { History } from '../query/history.tsx';
import { type Bound, bind, parameterNames } from '../query/parameters.ts';
import { type Outcome, Result } from '../query/result.tsx';
import { useRuns } from '../query/runs.ts';
import { Saved } from '../query/saved.tsx';
import { chooseSheet, closeSheet, openSheet, parameterValues, remember, setParameter, sheetsChanged, sheetsOf, storeText } from '../query/sheets.ts';
import { go, hashOf, place } from '../router.ts';
import { texts } from '../texts.ts';

export const LIMITS = [100, 1000, 10_000, 100_000, 1_000_000] as const;

export default function QueryPage() {
  return model.value === null ? null : <Page model={model.value} />;
}

function Page({ model: m }: { readonly model: Model }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [limit, setLimit] = useState<number>(1000);
  const [nested, setNested] = useState(false);
  const [panel, setPanel] = useState<'history' | 'saved' | null>(null);
  const [names, setNames] = useState<readonly string[]>([]);
  void sheetsChanged.value;
  const { all, current } = sheetsOf(m.name);
  const runs = useRuns(all);
  const values = memberOf(parameterValues.value, m.name) ?? {};
  const noteParameters = (text: string): void => setNames((before) => sameNames(before, parameterNames(text)));

  // a link may contain a statement
  const given = place.value.parameters.sql;
  useEffect(() => {
    if (given === undefined) return;
    openSheet(m.name, given);
    go({ ontology: m.name, view: 'query' }, true);
  }, [given]);

  /** @param confirmed a text whose changes the user has seen; otherwise the text of the editor runs, and may only read */
  const start = (explain: boolean, confirmed?: ReturnType<Editor['selected']>): void => {
    const ed = editor.current;
    if (ed === null) return;
    const { text, from } = confirmed ?? ed.selected();
    if (text.trim() === '') return;
    const { id } = current;
    const latest = runs.of(id);
    const setOutcome = (outcome: Outcome): void => runs.show(id, outcome);
    const begun = performance.now();
    // a confirmed text runs as it was shown
    const bound = bind(text, confirmed === undefined ? values : {});
    const base = { sql: bound.sql, limit, begun };
    const fail = (failure: Failure | null): void => {
      if (failure === null) setOutcome({ ...base, kind: 'cancelled' });
      else if (failure.code !== 'read_only' || explain)
        setOutcome({ ...base, sql: text, kind: 'failed', failure: moved(failure, text, bound, explain ? EXPLAIN.length : 0), offset: from });
      else {
        // a text of a link may change something where the user does not look
        const place = offsetOf(bound.sql, failure.position ?? 1);
        setOutcome({ ...base, kind: 'asks', start: place, place: from + bound.origin(place) });
      }
    };
    const [missing] = bound.missing;
    if (missing !== undefined) {
      latest.forget();
      fail(new Failure(0, 'parameter_missing', texts.query.parameterMissing(missing), texts.query.parameterHint));
      return;
    }
    setPanel(null);
    setOutcome({ ...base, kind: 'running', rows: new Rows(), count: 0 });
    if (explain) {
      void latest.ask(
        (signal) => query<{ PLAN: string; SQL: string | null }>(m.name, EXPLAIN + bound.sql, { signal }),
        ([plan]) => setOutcome({ ...base, kind: 'plan', plan: plan?.PLAN ?? '', generated: plan?.SQL ?? null }),
        fail,
      );
      return;
    }
    remember(m.name, text);
    const onProgress = (signal: AbortSignal) => (rows: Rows) => signal.aborted || setOutcome({ ...base, kind: 'running', rows, count: rows.length });
    const wish = { ontology: m.name, sql: bound.sql, limit, nested, mayChange: confirmed !== undefined };
    void latest.ask(
      async (signal) => {
        try {
          return await readRows({ ...wish, signal, onProgress: onProgress(signal) });
        } finally {
          if (confirmed !== undefined) void changed();
        }
      },
      (rows) => setOutcome({ ...base, kind: 'rows', rows, count: rows.length, ms: performance.now() - begun }),
      fail,
    );
  };
  const run = useRef(start);
  run.current = start;

  useEffect(() => {
    if (host.current === null) return;
    const created = createEditor(host.current, {
      text: current.text,
      label: texts.query.editor,
      empty: texts.query.start,
      product,
      model: () => model.value,
      onChange: (text) => {
        storeText(m.name, current.id, text);
        noteParameters(text);
      },
      onRun: () => run.current(false),
      check: (text) => check(m.name, text),
    });
    editor.current = created;
    noteParameters(current.text);
    created.focus();
    return () => {
      editor.current = null;
      created.destroy();
    };
  }, [m.name, current.id]);

  const open = (sql: string): void => {
    setPanel(null);
    openSheet(m.name, sql);
  };
  return (
    <div class="query">
      <div class="sheets" role="group" aria-label={texts.query.tabs}>
        {all.map((s, i) => (
          <span key={s.id} class={s.id === current.id ? 'current' : ''}>
            <button type="button" aria-pressed={s.id === current.id} onClick={() => chooseSheet(m.name, s.id)}>
              {titleOf(s.text) ?? texts.query.tab(i + 1)}
              {runs.isRunning(s.id) && ' \u2026'}
            </button>
            {all.length > 1 && (
              <button type="button" class="close" aria-label={texts.query.closeTab(texts.query.tab(i + 1))} onClick={() => closeSheet(m.name, s.id)}>
                &times;
              </button>
            )}
          </span>
        ))}
        <button type="button" aria-label={texts.query.newTab} title={texts.query.newTab} onClick={() => openSheet(m.name)}>
          +
        </button>
      </div>
      <div class="editor">
        <div ref={host} />
      </div>
      <div class="bar">
        {runs.isRunning(current.id) ? (
          <button type="button" class="primary" onClick={() => runs.of(current.id).cancel()}>
            {texts.query.cancel}
          </button>
        ) : (
          <button type="button" class="primary" title={texts.query.runHint} onClick={() => start(false)}>
            {texts.query.run}
          </button>
        )}
        <button type="button" onClick={() => start(true)}>
          {texts.query.explain}
        </button>
        <label>
          {texts.query.limit}{' '}
          <select value={String(limit)} onChange={(e) => setLimit(Number(e.currentTarget.value))}>
            {LIMITS.map((n) => (
              <option key={n} value={String(n)}>
                {n.toLocaleString('en')}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" checked={nested} onChange={(e) => setNested(e.currentTarget.checked)} /> {texts.query.nested}
        </label>
        <span class="grow" />
        {(['saved', 'history'] as const).map((one) => (
          <button key={one} type="button" class="plain" aria-expanded={panel === one} onClick={() => setPanel(panel === one ? null : one)}>
            {texts.query[one]}
          </button>
        ))}
        <Copy label={texts.query.share} text={() => shareLink(m.name, editor.current?.text() ?? '')} />
        {names.length > 0 && (
          <fieldset class="parameters" aria-label={texts.query.parameters}>
            {names.map((name) => (
              <label key={name}>
                <code>:{name}</code> <input value={memberOf(values, name) ?? ''} onInput={(e) => setParameter(m.name, name, e.currentTarget.value)} />
              </label>
            ))}
          </fieldset>
        )}
      </div>
      {panel === 'history' ? (
        <History ontology={m.name} choose={open} />
      ) : panel === 'saved' ? (
        <Saved ontology={m.name} current={bind(current.text, values).sql} choose={open} />
      ) : null}
      {/* the results of the other sheets stay in the page, as the user left them */}
      {all.map(({ id }) => (
        <div key={id} class="own-result" hidden={id !== current.id || panel !== null}>
          <Result
            ontology={m.name}
            outcome={runs.outcomeOf(id)}
            reveal={(offset) => editor.current?.reveal(offset)}
            confirm={(text) => start(false, { text, from: 0 })}
            openEntity={(entity) => go({ ontology: m.name, view: 'data', parameters: { entity } })}
          />
        </div>
      ))}
    </div>
  );
}

const sameNames = (before: readonly string[], now: readonly string[]): readonly string[] => (before.join() === now.join() ? before : now);

const EXPLAIN = 'EXPLAIN ';

/** A failure with its position in the text of the editor, of a failure in the SQL that was sent. @param lead the number of characters before that SQL */
function moved(failure: Failure, text: string, bound: Bound, lead: number): Failure {
  if (failure.position === null) return failure;
  const offset = bound.origin(offsetOf(bound.sql, Math.max(1, failure.position - lead)));
  return Object.assign(failure, { position: [...text.slice(0, offset)].length + 1 });
}

/** The first words of a statement, as the title of its sheet. */
function titleOf(text: string): string | null {
  const from = /\bfrom\s+([^\s;,()]+)/i.exec(text)?.[1];
  if (from !== undefined) return from.replace(/^\w+\./, '').slice(0, 24);
  const words = text.trim().split(/\s+/).slice(0, 3).join(' ');
  return words === '' ? null : words.slice(0, 24);
}

const shareLink = (ontology: string, sql: string): string =>
  `${location.origin}${location.pathname}${hashOf({ ontology, view: 'query', parameters: { sql } })}`;

/** Plans a statement without running it. Only texts with one SELECT can be planned; others are not checked. */
async function check(ontology: string, text: string): Promise<Failure | null> {
  const lead = 'EXPLAIN (LOGICAL) ';
  if (!/^\s*(?:--[^\n]*\n\s*)*(?:select|with|values|\()/i.test(text)) return null;
  const bound = bind(text, memberOf(parameterValues.value, ontology) ?? {});
  try {
    await query(ontology, lead + bound.sql.replace(/;\s*$/, ''));
    return null;
  } catch (error) {
    const failure = failureOf(error);
    return failure === null || failure.status !== 400 ? null : moved(failure, text, bound, lead.length);
  }
}
