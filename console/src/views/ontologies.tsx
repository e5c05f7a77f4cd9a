import { useEffect, useState } from 'preact/hooks';
import { data, type Failure, failureOf, seenAs } from '../api/http.ts';
import { credential } from '../api/session.ts';
import type { Detail } from '../model/types.ts';
import { FailureBox, Loading } from '../parts/basics.tsx';
import { hashOf } from '../router.ts';
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
    </section>
  );
}

interface Figures {
  readonly description: string | null;
  readonly concepts: number;
  readonly relationships: number;
  readonly measures: number;
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
            ].join(' \u00b7 ')}
      </p>
    </li>
  );
}

async function read(name: string): Promise<Figures> {
  const detail = await data<Detail & { readonly description?: string | null }>(`/get_ontology/${encodeURIComponent(name)}`);
  const own = detail.ontology.flatMap((c) => c.relationships.filter((r) => !r.is_inverse && r.inherited_from === null));
  const measures = new Set(detail.ontology.flatMap((c) => c.properties.filter((p) => p.is_measure).map((p) => p.name)));
  return { description: detail.description ?? null, concepts: detail.ontology.length, relationships: own.length, measures: measures.size };
}
