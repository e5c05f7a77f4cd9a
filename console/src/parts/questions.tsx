/** The examples of an ontology whose SQL reads a concept. */
import { product, query } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { perModel } from '../model/per-model.ts';
import { hashOf } from '../router.ts';
import { texts } from '../texts.ts';
import { useAnswer } from './attempt.ts';
import { FailureBox } from './basics.tsx';

interface Example {
  readonly question: string;
  readonly query: string;
}

const examplesOf = perModel((model) => query<Example>(model.name, `SELECT question, query FROM ${product}.SYS_EXAMPLES WHERE valid ORDER BY question`));

export function Questions({ model, names }: { readonly model: Model; readonly names: (text: string) => boolean }) {
  const { answer: examples, failure } = useAnswer(() => examplesOf(model), [model]);
  if (failure !== null) return <FailureBox failure={failure} />;
  const own = (examples ?? []).filter((e) => names(e.query)).slice(0, 10);
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
