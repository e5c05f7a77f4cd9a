/** The edit view: the script of an object or of the whole model, what a change would do, and the versions of the ontology. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { change, type Failure, failureOf, identifier, isLocal, product } from '../api/http.ts';
import { credential } from '../api/session.ts';
import { DiffView } from '../edit/diff-view.tsx';
import { apply, applyAsCurl, dropStatement, type Plan, plan, scriptOf, statementsOf } from '../edit/requests.ts';
import { Versions } from '../edit/versions.tsx';
import { model, reloadModel } from '../model/current.ts';
import type { Model } from '../model/model.ts';
import { useAttempt } from '../parts/attempt.ts';
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
  const [objects, setObjects] = useState<Plan['unlisted'] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [open, setOpen] = useState<Open | null>(null);
  const [tab, setTab] = useState<'script' | 'versions' | 'tables'>('script');
  const load = (): void => {
    // a plan without files lists everything that the ontology has
    plan(m.name, '').then(
      (found) => setObjects(found.unlisted),
      (error: unknown) => setFailure(failureOf(error)),
    );
  };
  useEffect(load, [m.detail.version]);
  const choose = async (kind: string, name: string): Promise<void> => {
    setFailure(null);
    try {
      setOpen({ kind, name, script: await scriptOf(m.name, kind, name) });
      setTab('script');
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const begin = (script: Open): void => {
    setOpen(script);
    setTab('script');
  };
  if (failure?.status === 403 && objects === null)
    return (
      <div class="empty">
        <p>{texts.edit.forbidden}</p>
        <Code text={`GRANT EDIT ON ALL ontology.${identifier(m.name)} TO USER ${identifier(credential.value?.user ?? 'you')}`} />
        {isLocal && <p>{texts.local.admin}</p>}
        <p class="muted">{failure.message}</p>
      </div>
    );
  if (objects === null) return failure === null ? <Loading /> : <FailureBox failure={failure} retry={load} />;
  return (
    <div class="columns">
      <aside class="list">
        <button type="button" class="item" aria-pressed={open?.kind === 'ontology'} onClick={() => void choose('ontology', m.name)}>
          {texts.edit.whole}
        </button>
        <button type="button" class="item" aria-pressed={open?.kind === 'new'} onClick={() => begin({ kind: 'new', name: '', script: '' })}>
          {texts.edit.fresh}
        </button>
        <button type="button" class="item" aria-pressed={tab === 'versions'} onClick={() => setTab('versions')}>
          {texts.edit.versions}
        </button>
        <button type="button" class="item" aria-pressed={tab === 'tables'} onClick={() => setTab('tables')}>
          {texts.tables.title}
        </button>
        {[...Map.groupBy(objects, (o) => o.kind)].map(([kind, of]) => (
          <section key={kind}>
            <h2>{texts.edit.kinds[kind as keyof typeof texts.edit.kinds] ?? kind}</h2>
            <ul>
              {of.map((o) => (
                <li key={o.name}>
                  <button type="button" class="item" aria-pressed={open?.kind === kind && open.name === o.name} onClick={() => void choose(kind, o.name)}>
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
  const { busy, failure, attempt: attemptOnce } = useAttempt();

  const attempt = (work: () => Promise<void>): Promise<void> => {
    setDone(null);
    return attemptOnce(work);
  };
  const makePlan = (): Promise<void> =>
    attempt(async () => {
      const text = editor.current?.text() ?? '';
      setPlanned(null);
      setPlanned({ text, plan: await plan(m.name, text), version: m.detail.version });
    });
  const validate = (): Promise<void> =>
    attempt(async () => {
      const { warnings } = await plan(m.name, editor.current?.text() ?? '');
      setDone([texts.edit.valid, ...warnings.map(noted)].join('\n'));
    });
  const makeChange = (): Promise<void> =>
    attempt(async () => {
      if (planned === null) return;
      const made = await apply(m.name, planned.text, planned.version);
      setPlanned(null);
      setDone(made.version === null ? texts.edit.nothing : texts.edit.applied(made.version));
      await reloadModel();
    });
  const drop = (): Promise<void> =>
    attempt(async () => {
      await change(m.name, dropStatement(open.kind, open.name));
      setDone(texts.edit.dropped(open.name));
      await reloadModel();
    });
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
      onRun: () => void start.current(),
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
        <button type="button" disabled={busy} onClick={() => void validate()}>
          {texts.edit.validate}
        </button>
        <button type="button" class={planned === null ? 'primary' : ''} disabled={busy} title={texts.query.runHint} onClick={() => void makePlan()}>
          {texts.edit.plan}
        </button>
        {planned !== null && planned.plan.changes.length > 0 && (
          <button type="button" class="primary" disabled={busy} onClick={() => void makeChange()}>
            {texts.edit.apply(planned.plan.changes.length)}
          </button>
        )}
        <span class="grow" />
        {canDrop && <Confirm label={texts.edit.drop} statement={dropStatement(open.kind, open.name)} run={() => void drop()} />}
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
      {made.changes.map((c) => (
        <details key={`${c.kind} ${c.name}`} open={made.changes.length < 6}>
          <summary>
            <b class={c.action}>{texts.edit.actions[c.action]}</b> {c.kind} <code>{c.name}</code>
          </summary>
          <DiffView before={c.before} after={c.after} />
        </details>
      ))}
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
