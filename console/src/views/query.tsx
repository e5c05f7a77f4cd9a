/** The query view: an editor with several sheets, and the result as table, JSON or chart. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, failureOf, product, query } from '../api/http.ts';
import { Rows, readRows } from '../api/rows.ts';
import { model } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { Copy } from '../parts/basics.tsx';
import { createEditor, type Editor, offsetOf } from '../query/editor.ts';
import { type Outcome, Result } from '../query/result.tsx';
import { chooseSheet, closeSheet, forget, openSheet, past, remember, sheetsChanged, sheetsOf, storeText } from '../query/sheets.ts';
import { go, hashOf, place } from '../router.ts';
import { texts } from '../texts.ts';

export const LIMITS = [100, 1000, 10_000, 100_000, 1_000_000] as const;

export default function QueryPage() {
  return model.value === null ? null : <Page model={model.value} />;
}

function Page({ model: m }: { readonly model: Model }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const running = useRef<AbortController | null>(null);
  const [limit, setLimit] = useState<number>(1000);
  const [nested, setNested] = useState(false);
  const [showsHistory, setShowsHistory] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  void sheetsChanged.value;
  const { all, current } = sheetsOf(m.name);

  // a link may contain a statement
  const given = place.value.parameters.sql;
  useEffect(() => {
    if (given === undefined) return;
    openSheet(m.name, given);
    go({ ontology: m.name, view: 'query' }, true);
  }, [given]);

  const start = async (explain: boolean): Promise<void> => {
    const ed = editor.current;
    if (ed === null) return;
    const { text, from } = ed.selected();
    if (text.trim() === '') return;
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    const begun = performance.now();
    const base = { sql: text, limit, begun };
    const fail = (error: unknown): void => {
      if (running.current !== stop) return;
      const failure = failureOf(error);
      setOutcome(failure === null ? { ...base, kind: 'cancelled' } : { ...base, kind: 'failed', failure, offset: from });
    };
    try {
      if (explain) {
        setOutcome({ ...base, kind: 'running', rows: new Rows(), count: 0 });
        const [plan] = await query<{ PLAN: string; SQL: string | null }>(m.name, `EXPLAIN ${text}`, { signal: stop.signal });
        if (running.current === stop) setOutcome({ ...base, kind: 'plan', plan: plan?.PLAN ?? '', sql: text, generated: plan?.SQL ?? null });
        return;
      }
      remember(m.name, text);
      setOutcome({ ...base, kind: 'running', rows: new Rows(), count: 0 });
      const rows = await readRows({
        ontology: m.name,
        sql: text,
        limit,
        nested,
        signal: stop.signal,
        onProgress: (arrived) => running.current === stop && setOutcome({ ...base, kind: 'running', rows: arrived, count: arrived.length }),
      });
      if (running.current === stop) setOutcome({ ...base, kind: 'rows', rows, count: rows.length, ms: performance.now() - begun });
    } catch (error) {
      fail(adjust(error, text, from));
    } finally {
      if (running.current === stop) running.current = null;
    }
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
      onChange: (text) => storeText(m.name, current.id, text),
      onRun: () => void run.current(false),
      check: (text) => check(m.name, text),
    });
    editor.current = created;
    created.focus();
    return () => {
      editor.current = null;
      created.destroy();
    };
    // the text of an empty sheet that a link filled is new
  }, [m.name, current.id, given]);

  const isRunning = outcome?.kind === 'running';
  return (
    <div class="query">
      <div class="sheets" role="group" aria-label={texts.query.tabs}>
        {all.map((s, i) => (
          <span key={s.id} class={s.id === current.id ? 'current' : ''}>
            <button type="button" aria-pressed={s.id === current.id} onClick={() => chooseSheet(m.name, s.id)}>
              {titleOf(s.id === current.id ? (editor.current?.text() ?? s.text) : s.text) ?? texts.query.tab(i + 1)}
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
        {isRunning ? (
          <button type="button" class="primary" onClick={() => running.current?.abort()}>
            {texts.query.cancel}
          </button>
        ) : (
          <button type="button" class="primary" title={texts.query.runHint} onClick={() => void start(false)}>
            {texts.query.run}
          </button>
        )}
        <button type="button" onClick={() => void start(true)}>
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
        <button type="button" class="plain" aria-expanded={showsHistory} onClick={() => setShowsHistory(!showsHistory)}>
          {texts.query.history}
        </button>
        <Copy label={texts.query.share} text={() => shareLink(m.name, editor.current?.text() ?? '')} />
      </div>
      {showsHistory ? (
        <History
          ontology={m.name}
          choose={(sql) => {
            setShowsHistory(false);
            openSheet(m.name, sql);
          }}
        />
      ) : (
        <Result
          ontology={m.name}
          outcome={outcome}
          reveal={(offset) => editor.current?.reveal(offset)}
          openEntity={(id) => go({ ontology: m.name, view: 'data', parameters: { entity: id } })}
        />
      )}
    </div>
  );
}

/** The position of an error in the editor's text, if only a part of it was run. */
function adjust(error: unknown, text: string, from: number): unknown {
  const failure = failureOf(error);
  if (failure === null || failure.position === null) return error;
  return Object.assign(failure, { offset: from + offsetOf(text, failure.position) });
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
  const sql = text.replace(/;\s*$/, '');
  try {
    await query(ontology, lead + sql);
    return null;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === null || failure.status !== 400) return null;
    return Object.assign(failure, { position: failure.position === null ? null : Math.max(1, failure.position - lead.length) });
  }
}

function History({ ontology, choose }: { readonly ontology: string; choose(sql: string): void }) {
  const own = past.value.filter((p) => p.ontology === ontology);
  return (
    <section class="result">
      {own.length === 0 ? (
        <p class="empty">{texts.query.noHistory}</p>
      ) : (
        <div class="body">
          <ul class="history">
            {own.map((p) => (
              <li key={p.sql}>
                <button type="button" title={p.sql} onClick={() => choose(p.sql)}>
                  {p.sql}
                </button>
              </li>
            ))}
          </ul>
          <p class="bar">
            <button type="button" onClick={forget}>
              {texts.query.clearHistory}
            </button>
          </p>
        </div>
      )}
    </section>
  );
}
