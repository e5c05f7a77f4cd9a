/** The list of ontologies, and the form that creates one. */
import { useEffect, useState } from 'preact/hooks';
import { change, data, type Failure, failureOf, identifier, literal, product, query, seenAs } from '../api/http.ts';
import { credential } from '../api/session.ts';
import type { Detail } from '../model/types.ts';
import { Code, FailureBox, Loading } from '../parts/basics.tsx';
import { go, hashOf } from '../router.ts';
import { texts } from '../texts.ts';

/** The list of ontologies as cards. */
export function Ontologies() {
  const [names, setNames] = useState<readonly string[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setFailure(null);
    data<readonly string[]>('/get_ontologies').then(setNames, (error: unknown) => setFailure(failureOf(error)));
  }, [tries, seenAs.value, credential.value?.user]);
  if (failure !== null) return <FailureBox failure={failure} retry={() => setTries(tries + 1)} />;
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
      <Create key={`${credential.value?.user} ${seenAs.value}`} />
    </section>
  );
}

/** Creates an ontology, for users with the right to. */
function Create() {
  const [isAllowed, setAllowed] = useState(false);
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    query(null, `SELECT 1 AS one FROM ${product}.SYS_PERMISSIONS WHERE permission = 'EDIT' AND resource = '\`ontology\`'`).then(
      (rows) => setAllowed(rows.length > 0),
      () => undefined,
    );
  }, []);
  if (!isAllowed) return null;
  const statement = `CREATE ONTOLOGY ${identifier(name.trim())}`;
  const create = async (): Promise<void> => {
    setFailure(null);
    try {
      await change(null, statement);
      go({ ontology: name.trim(), view: 'edit' });
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <form
      class="create"
      onSubmit={(e) => {
        e.preventDefault();
        void create();
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
  const [figures, setFigures] = useState<Figures | null>(null);
  useEffect(() => {
    let current = true;
    void read(name).then(
      (found) => current && setFigures(found),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [name]);
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
