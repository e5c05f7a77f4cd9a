/** Everything about one concept. */
import { useState } from 'preact/hooks';
import { identifier, product, query } from '../api/http.ts';
import type { Row } from '../api/rows.ts';
import type { Model } from '../model/model.ts';
import type { Concept } from '../model/types.ts';
import { mentions, usesOf } from '../model/used-by.ts';
import { hashOf } from '../router.ts';
import { texts } from '../texts.ts';
import { useAnswer, useAttempt } from './attempt.ts';
import { Code, FailureBox, Loading } from './basics.tsx';
import { Questions } from './questions.tsx';
import { Restrictions } from './restrictions.tsx';
import { SmallTable } from './small-table.tsx';

interface Props {
  readonly model: Model;
  readonly name: string;
  choose(name: string): void;
  focus(): void;
  close(): void;
}

export function ConceptDetails({ model, name, choose, focus, close }: Props) {
  const concept = model.concepts.get(name);
  if (concept === undefined) return null;
  const properties = concept.properties.filter((p) => !p.is_measure);
  const measures = concept.properties.filter((p) => p.is_measure);
  const children = model.children.get(name) ?? [];
  const uses = usesOf(model, name);
  return (
    <aside class="details" aria-label={name}>
      <div class="head">
        <h2>{name}</h2>
        <button type="button" class="plain" onClick={close} aria-label={texts.close}>
          &times;
        </button>
      </div>
      {concept.description !== null && <p>{concept.description}</p>}
      <p class="actions">
        <a class="button" href={hashOf({ ontology: model.name, view: 'query', parameters: { sql: selectOf(concept) } })}>
          {texts.model.query}
        </a>
        <a class="button" href={hashOf({ ontology: model.name, view: 'data', parameters: { concept: name } })}>
          {texts.model.data}
        </a>
        <button type="button" onClick={focus}>
          {texts.model.focus}
        </button>
      </p>
      <dl>
        {Object.entries(concept.tags).map(([tag, value]) => (
          <Entry key={tag} term={tag}>
            {value}
          </Entry>
        ))}
        {concept.inheritance.length > 0 && (
          <Entry term={texts.model.parents}>
            <Names names={concept.inheritance} known={(n) => model.concepts.has(n)} choose={choose} />
          </Entry>
        )}
        {children.length > 0 && (
          <Entry term={texts.model.children}>
            <Names names={children} known={() => true} choose={choose} />
          </Entry>
        )}
        {concept.primary_keys.length > 0 && <Entry term={texts.model.key}>{concept.primary_keys.join(', ')}</Entry>}
        {concept.label_keys.length > 0 && <Entry term={texts.model.label}>{concept.label_keys.join(', ')}</Entry>}
      </dl>
      {concept.query !== null && (
        <>
          <h3>{texts.model.logic}</h3>
          <Code text={concept.query} />
        </>
      )}
      <h3>{texts.restrictions.title}</h3>
      <Restrictions model={model} name={name} />
      <h3>{texts.model.properties}</h3>
      <ul class="facts">
        {properties.map((p) => (
          <li key={p.name}>
            <b>{p.name}</b> <span class="type">{p.type}</span>
            {p.is_multi && <span class="chip">{texts.model.multi}</span>}
            {p.inherited_from !== null && <span class="muted"> {texts.model.inherited(p.inherited_from)}</span>}
            {p.description !== null && <p>{p.description}</p>}
            {Object.entries(model.detail.properties[p.name]?.tags ?? {}).map(([tag, value]) => (
              <p key={tag} class="muted">
                {tag}: {value}
              </p>
            ))}
            {model.detail.properties[p.name]?.expression != null && <Code text={model.detail.properties[p.name]!.expression!} />}
          </li>
        ))}
      </ul>
      {measures.length > 0 && (
        <>
          <h3>{texts.model.measures}</h3>
          <ul class="facts">
            {measures.map((p) => (
              <li key={p.name}>
                <b>{p.name}</b> <span class="type">{p.type}</span>
                {p.description !== null && <p>{p.description}</p>}
                {model.detail.properties[p.name]?.expression != null && <Code text={model.detail.properties[p.name]!.expression!} />}
              </li>
            ))}
          </ul>
        </>
      )}
      {concept.relationships.length > 0 && (
        <>
          <h3>{texts.model.relations}</h3>
          <ul class="facts">
            {concept.relationships.map((r) => (
              <li key={`${r.name} ${r.target}`}>
                <code>
                  {r.name}[{r.target}]
                </code>{' '}
                <button type="button" class="link" onClick={() => choose(r.target)}>
                  {r.target}
                </button>
                {r.transitivity !== null && <span class="chip">{texts.model.transitive}</span>}
                {r.inherited_from !== null && <span class="muted"> {texts.model.inherited(r.inherited_from)}</span>}
                {r.description !== null && <p>{r.description}</p>}
              </li>
            ))}
          </ul>
        </>
      )}
      {Object.values(uses).some((names) => names.length > 0) && (
        <>
          <h3>{texts.model.usedBy}</h3>
          <ul class="facts">
            {uses.concepts.length > 0 && (
              <li>
                {texts.ontologies.concepts(uses.concepts.length)}: <Names names={uses.concepts} known={() => true} choose={choose} />
              </li>
            )}
            {uses.views.map((view) => (
              <li key={view}>
                <a href={hashOf({ ontology: model.name, view: 'model', parameters: { view } })}>{view}</a>
              </li>
            ))}
            {uses.properties.length > 0 && <li>{uses.properties.join(', ')}</li>}
          </ul>
        </>
      )}
      <Questions model={model} names={mentions(name)} />
      {concept.mappings.length > 0 && <Mappings ontology={model.name} names={concept.mappings} />}
      <h3>{texts.model.examples}</h3>
      <Examples ontology={model.name} concept={name} />
    </aside>
  );
}

const Entry = ({ term, children }: { readonly term: string; readonly children: preact.ComponentChildren }) => (
  <>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </>
);

const Names = ({ names, known, choose }: { readonly names: readonly string[]; known(name: string): boolean; choose(name: string): void }) => (
  <>
    {names.map((n, i) => (
      <span key={n}>
        {i > 0 && ', '}
        {known(n) ? (
          <button type="button" class="link" onClick={() => choose(n)}>
            {n}
          </button>
        ) : (
          n
        )}
      </span>
    ))}
  </>
);

/** A first SELECT over a concept: its own columns. */
function selectOf({ concept, properties }: Concept): string {
  const columns = properties
    .filter((p) => !p.is_measure && !p.is_multi)
    .slice(0, 8)
    .map((p) => (/^[a-z_][a-z0-9_]*$/.test(p.name) ? p.name : identifier(p.name)));
  return `SELECT ${['entity_label', ...columns].join(', ')}\nFROM d${product}.${/^[a-z_][a-z0-9_]*$/.test(concept) ? concept : identifier(concept)}\nLIMIT 100`;
}

/** The definitions of mappings, for readers who may see them; loaded on demand. */
function Mappings({ ontology, names }: { readonly ontology: string; readonly names: readonly string[] }) {
  const [scripts, setScripts] = useState<readonly string[] | null>(null);
  const { failure, attempt } = useAttempt();
  const load = (): void =>
    void attempt(
      () => Promise.all(names.map((name) => query<{ script: string }>(ontology, `SHOW CREATE MAPPING ${identifier(name)}`))),
      (rows) => setScripts(rows.flatMap((found) => found.map((row) => row.script))),
    );
  return (
    <>
      <h3>{texts.model.mappings}</h3>
      <p>{names.join(', ')}</p>
      {scripts?.map((s) => (
        <Code key={s} text={s} />
      ))}
      {failure !== null && <FailureBox failure={failure} />}
      {scripts === null && failure === null && (
        <button type="button" onClick={load}>
          {texts.show}
        </button>
      )}
    </>
  );
}

function Examples({ ontology, concept }: { readonly ontology: string; readonly concept: string }) {
  const sql = `SELECT * FROM ${product}.${identifier(concept)} LIMIT 5`;
  const { answer: rows, failure } = useAnswer((signal) => query<Row>(ontology, sql, { signal }), [ontology, concept]);
  if (failure !== null) return <FailureBox failure={failure} />;
  if (rows === null) return <Loading />;
  return rows.length === 0 ? <p class="muted">{texts.model.noExamples}</p> : <SmallTable rows={rows} />;
}
