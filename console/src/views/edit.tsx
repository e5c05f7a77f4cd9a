/** The edit view: the script of an object or of the whole model, what a change would do, and the versions of the ontology. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { change, identifier, isLocal, product } from '../api/http.ts';
import { credential } from '../api/session.ts';
import { ChangeList } from '../edit/diff-view.tsx';
import { apply, applyAsCurl, dropStatement, type Plan, plan, scriptOf, statementsOf } from '../edit/requests.ts';
import { Versions } from '../edit/versions.tsx';
import { model, reloadModel } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { useAnswer, useAttempt } from '../parts/attempt.ts';
import { Code, Copy, FailureBox, Line, Loading } from '../parts/basics.tsx';
import { later } from '../parts/later.tsx';
import { createEditor, type Editor, offsetOf } from '../query/editor.ts';
import { texts } from '../texts.ts';

const OwnTables = later(() => import('../edit/own-tables.tsx'));

export default function EditPage() {
  return model.value === null ? null : <Page model={model.value} />;
}

/** The script that is open, and what is known about it. */
interface Open {
  readonly kind: string;
  readonly name: string;
  readonly script: string;
}

function Page({ model: m }: { readonly model: Model }) {
  // a plan without files lists everything that the ontology has
  const { answer: listed, failure: refused, again } = useAnswer(() => plan(m.name, ''), [m.name], [m.detail.version]);
  const { failure, attempt, forget } = useAttempt();
  const [open, setOpen] = useState<Open | null>(null);
  const [tab, setTab] = useState<'script' | 'versions' | 'tables'>('script');
  const begin = (script: Open): void => {
    forget();
    setOpen(script);
    setTab('script');
  };
  const show = (other: typeof tab): void => {
    forget();
    setTab(other);
  };
  const choose = (kind: string, name: string): void =>
    void attempt(
      () => scriptOf(m.name, kind, name),
      (script) => begin({ kind, name, script }),
    );
  if (refused?.status === 403 && listed === null)
    return (
      <div class="empty">
        <p>{texts.edit.forbidden}</p>
        <Code text={`GRANT EDIT ON ALL ontology.${identifier(m.name)} TO USER ${identifier(credential.value?.user ?? 'you')}`} />
        {isLocal && <p>{texts.local.admin}</p>}
        <p class="muted">{refused.message}</p>
      </div>
    );
  if (listed === null) return refused === null ? <Loading /> : <FailureBox failure={refused} retry={again} />;
  const objects = listed.unlisted;
  const isShown = (kind: string, name = open?.name): boolean => tab === 'script' && open?.kind === kind && open.name === name;
  return (
    <div class="columns">
      <aside class="list">
        <button type="button" class="item" aria-pressed={isShown('ontology')} onClick={() => choose('ontology', m.name)}>
          {texts.edit.whole}
        </button>
        <button type="button" class="item" aria-pressed={isShown('new')} onClick={() => begin({ kind: 'new', name: '', script: '' })}>
          {texts.edit.fresh}
        </button>
        <button type="button" class="item" aria-pressed={tab === 'versions'} onClick={() => show('versions')}>
          {texts.edit.versions}
        </button>
        <button type="button" class="item" aria-pressed={tab === 'tables'} onClick={() => show('tables')}>
          {texts.tables.title}
        </button>
        {[...Map.groupBy(objects, (o) => o.kind)].map(([kind, of]) => (
          <section key={kind}>
            <h2>{texts.edit.kinds[kind as keyof typeof texts.edit.kinds] ?? kind}</h2>
            <ul>
              {of.map((o) => (
                <li key={o.name}>
                  <button type="button" class="item" aria-pressed={isShown(kind, o.name)} onClick={() => choose(kind, o.name)}>
                    {o.name}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </aside>
      <section class="edit">
        {failure !== null && <FailureBox failure={failure} />}
        {tab === 'versions' ? (
          <Versions ontology={m.name} current={m.detail.version} />
        ) : tab === 'tables' ? (
          <OwnTables model={m} open={(name, script) => begin({ kind: 'new', name, script })} />
        ) : open === null ? (
          <div class="empty">
            <p>{texts.edit.start}</p>
            {objects.length === 0 && <p>{texts.tables.hint}</p>}
          </div>
        ) : (
          <Script key={`${open.kind} ${open.name}`} model={m} open={open} />
        )}
      </section>
    </div>
  );
}

/** The editor of a script, its plan, and the button that applies it. */
function Script({ model: m, open }: { readonly model: Model; readonly open: Open }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const [planned, setPlanned] = useState<{ readonly text: string; readonly plan: Plan; readonly version: string } | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const { busy, failure, attempt } = useAttempt();

  const textNow = (): string => editor.current?.text() ?? '';
  const makePlan = (): void => {
    const [text, { version }] = [textNow(), m.detail];
    setDone(null);
    setPlanned(null);
    void attempt(
      () => plan(m.name, text),
      // a text that was changed meanwhile has another plan
      (made) => text === textNow() && setPlanned({ text, plan: made, version }),
    );
  };
  const validate = (): void => {
    const text = textNow();
    setDone(null);
    void attempt(
      () => plan(m.name, text),
      ({ warnings }) => text === textNow() && setDone([texts.edit.valid, ...warnings.map(noted)].join('\n')),
    );
  };
  /** Runs a change, loads the model again, and says what was done. */
  const makeChange = <T,>(run: () => Promise<T>, said: (made: T) => string): void => {
    setDone(null);
    void attempt(
      async () => {
        const made = await run();
        await reloadModel();
        return made;
      },
      (made) => {
        setPlanned(null);
        setDone(said(made));
      },
    );
  };
  const applyPlan = (): void =>
    planned === null
      ? undefined
      : makeChange(
          () => apply(m.name, planned.text, planned.version),
          ({ version }) => (version === null ? texts.edit.nothing : texts.edit.applied(version)),
        );
  const drop = (): void =>
    makeChange(
      () => change(m.name, dropStatement(open.kind, open.name)),
      () => texts.edit.dropped(open.name),
    );
  const start = useRef(makePlan);
  start.current = makePlan;

  useEffect(() => {
    if (host.current === null) return;
    const created = createEditor(host.current, {
      text: open.script,
      label: texts.edit.editor,
      empty: texts.edit.example,
      product,
      language: 'model',
      model: () => model.value,
      onChange: () => setPlanned(null),
      onRun: () => start.current(),
      check: async () => null,
    });
    editor.current = created;
    created.focus();
    return () => created.destroy();
  }, [open.script]);

  const canDrop = open.kind !== 'ontology' && open.kind !== 'new';
  return (
    <>
      <div class="editor">
        <div ref={host} />
      </div>
      <div class="bar">
        <button type="button" disabled={busy} onClick={validate}>
          {texts.edit.validate}
        </button>
        <button type="button" class={planned === null ? 'primary' : ''} disabled={busy} title={texts.query.runHint} onClick={makePlan}>
          {texts.edit.plan}
        </button>
        {planned !== null && planned.plan.changes.length > 0 && (
          <button type="button" class="primary" disabled={busy} onClick={applyPlan}>
            {texts.edit.apply(planned.plan.changes.length)}
          </button>
        )}
        <span class="grow" />
        {canDrop && <Confirm label={texts.edit.drop} statement={dropStatement(open.kind, open.name)} run={drop} />}
      </div>
      <div class="outcome">
        {done !== null && <p role="status">{done}</p>}
        {failure !== null && (
          <FailureBox failure={failure} sql={editor.current?.text() ?? ''}>
            {failure.position !== null && (
              <button type="button" onClick={() => editor.current?.reveal(offsetOf(editor.current.text(), failure.position as number))}>
                {texts.query.at(failure.position)}
              </button>
            )}
          </FailureBox>
        )}
        {planned !== null && <PlanView ontology={m.name} plan={planned.plan} />}
      </div>
    </>
  );
}

const noted = ({ message, hint }: Plan['warnings'][number]): string => (hint == null ? message : `${message}\n${hint}`);

function PlanView({ ontology, plan: made }: { readonly ontology: string; readonly plan: Plan }) {
  if (made.changes.length === 0) return <p role="status">{texts.edit.nothing}</p>;
  return (
    <section aria-label={texts.edit.planned}>
      <p role="status">{texts.edit.changes(made.changes.length)}</p>
      <ChangeList changes={made.changes} />
      {made.warnings.length > 0 && <Code text={made.warnings.map(noted).join('\n')} />}
      <details open>
        <summary>{texts.edit.runs}</summary>
        <Code text={statementsOf(made)} />
      </details>
      <p class="muted">
        {texts.edit.request} <Copy text={applyAsCurl(ontology)} label={texts.query.curl} />
      </p>
    </section>
  );
}

/** A button that shows its statement and asks before it runs. */
function Confirm({ label, statement, run }: { readonly label: string; readonly statement: string; run(): void }) {
  const [asks, setAsks] = useState(false);
  if (!asks)
    return (
      <button type="button" class="plain danger" onClick={() => setAsks(true)}>
        {label}
      </button>
    );
  return (
    <span class="confirm">
      <Line text={statement} />
      <button
        type="button"
        class="danger"
        onClick={() => {
          setAsks(false);
          run();
        }}
      >
        {label}
      </button>
      <button type="button" onClick={() => setAsks(false)}>
        {texts.cancel}
      </button>
    </span>
  );
}
