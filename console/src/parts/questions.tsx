/** The examples of an ontology whose SQL reads a concept. */
import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOf, product, query } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { hashOf } from '../router.ts';
import { texts } from '../texts.ts';
import { FailureBox } from './basics.tsx';

interface Example {
  readonly question: string;
  readonly query: string;
}

const loaded = new WeakMap<Model, Promise<readonly Example[]>>();
function examplesOf(model: Model): Promise<readonly Example[]> {
  const known = loaded.get(model) ?? query<Example>(model.name, `SELECT question, query FROM ${product}.SYS_EXAMPLES WHERE valid ORDER BY question`);
  loaded.set(model, known);
  known.catch(() => loaded.delete(model));
  return known;
}

export function Questions({ model, names }: { readonly model: Model; readonly names: (text: string) => boolean }) {
  const [examples, setExamples] = useState<readonly Example[]>([]);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    examplesOf(model).then(setExamples, (error: unknown) => setFailure(failureOf(error)));
  }, [model]);
  if (failure !== null) return <FailureBox failure={failure} />;
  const own = examples.filter((e) => names(e.query)).slice(0, 10);
  if (own.length === 0) return null;
  return (
    <>
      <h3>{texts.model.questions}</h3>
      <ul>
        {own.map((e) => (
          <li key={e.question}>
            <a href={hashOf({ ontology: model.name, view: 'query', parameters: { sql: e.query } })}>{e.question}</a>
          </li>
        ))}
      </ul>
    </>
  );
}
