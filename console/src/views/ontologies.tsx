/** The list of ontologies, and the form that creates one. */
import { useState } from 'preact/hooks';
import { change, data, eyes, identifier, literal, product, query } from '../api/http.ts';
import type { Detail } from '../model/types.ts';
import { useAnswer, useAttempt } from '../parts/attempt.ts';
import { Code, FailureBox, Loading } from '../parts/basics.tsx';
import { go, hashOf } from '../router.ts';
import { texts } from '../texts.ts';

/** The list of ontologies as cards. */
export function Ontologies() {
  const { answer: names, failure, again } = useAnswer(() => data<readonly string[]>('/get_ontologies'), [eyes.value]);
  if (failure !== null) return <FailureBox failure={failure} retry={again} />;
  if (names === null) return <Loading />;
  return (
    <section class="ontologies">
      <h1>{texts.ontologies.title}</h1>
      {names.length === 0 && (
        <div class="empty">
          <p>{texts.ontologies.none}</p>
          <p class="muted">{texts.ontologies.noneHint}</p>
        </div>
      )}
      <ul class="cards">
        {names.map((name) => (
          <Card key={name} name={name} />
        ))}
      </ul>
      <Create key={eyes.value} />
    </section>
  );
}

/** Creates an ontology, for users with the right to. */
function Create() {
  const allowed = `SELECT 1 AS one FROM ${product}.SYS_PERMISSIONS WHERE permission = 'EDIT' AND resource = '\`ontology\`'`;
  const { answer: rights } = useAnswer(() => query(null, allowed), [eyes.value]);
  const [name, setName] = useState('');
  const { failure, attempt } = useAttempt();
  if (rights === null || rights.length === 0) return null;
  const statement = `CREATE ONTOLOGY ${identifier(name.trim())}`;
  const create = (): void =>
    void attempt(
      () => change(null, statement),
      () => go({ ontology: name.trim(), view: 'edit' }),
    );
  return (
    <form
      class="create"
      onSubmit={(e) => {
        e.preventDefault();
        create();
      }}
    >
      <h2>{texts.ontologies.create}</h2>
      <p class="actions">
        <label>
          {texts.access.name} <input value={name} autocomplete="off" onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <button type="submit" disabled={name.trim() === ''}>
          {texts.ontologies.create}
        </button>
      </p>
      {name.trim() !== '' && <Code text={statement} />}
      {failure !== null && <FailureBox failure={failure} />}
    </form>
  );
}

interface Figures {
  readonly description: string | null;
  readonly concepts: number;
  readonly relationships: number;
  readonly measures: number;
  /** When its newest version was made. */
  readonly changed: string | null;
}

function Card({ name }: { readonly name: string }) {
  const { answer: figures } = useAnswer(() => read(name), [name, eyes.value]);
  return (
    <li class="card">
      <h2>
        <a href={hashOf({ ontology: name })}>{name}</a>
      </h2>
      {figures?.description != null && <p>{figures.description}</p>}
      <p class="muted">
        {figures === null
          ? '\u00a0'
          : [
              texts.ontologies.concepts(figures.concepts),
              texts.ontologies.relationships(figures.relationships),
              texts.ontologies.measures(figures.measures),
              ...(figures.changed === null ? [] : [texts.ontologies.changed(new Date(figures.changed).toLocaleDateString('en', { dateStyle: 'medium' }))]),
            ].join(' \u00b7 ')}
      </p>
    </li>
  );
}

async function read(name: string): Promise<Figures> {
  const [detail, [version], described] = await Promise.all([
    data<Detail>(`/get_ontology/${encodeURIComponent(name)}`),
    query<{ created: string }>(name, 'SHOW VERSION'),
    query<{ description: string | null }>(name, `SELECT description FROM ${product}.SYS_ONTOLOGIES WHERE ontology = ${literal(name)}`),
  ]);
  const own = detail.ontology.flatMap((c) => c.relationships.filter((r) => !r.is_inverse && r.inherited_from === null));
  const measures = new Set(detail.ontology.flatMap((c) => c.properties.filter((p) => p.is_measure).map((p) => p.name)));
  return {
    description: described[0]?.description ?? null,
    concepts: detail.ontology.length,
    relationships: own.length,
    measures: measures.size,
    changed: version?.created ?? null,
  };
}
