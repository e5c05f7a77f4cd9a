/** In words: which rows and values of a concept policies hide from the user. */
import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOf, product, query } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { texts } from '../texts.ts';
import { Code, FailureBox, Loading } from './basics.tsx';

interface Line {
  readonly concept: string | null;
  readonly property: string | null;
  readonly kind: 'rows' | 'mask';
  readonly rule: string | null;
}

/** One request for each model: the lines are the same for all of its concepts. */
const loaded = new WeakMap<Model, Promise<readonly Line[]>>();
function linesOf(model: Model): Promise<readonly Line[]> {
  const known = loaded.get(model) ?? query<Line>(model.name, `SELECT concept, property, kind, rule FROM ${product}.SYS_RESTRICTIONS`);
  loaded.set(model, known);
  known.catch(() => loaded.delete(model));
  return known;
}

export function Restrictions({ model, name }: { readonly model: Model; readonly name: string }) {
  const [lines, setLines] = useState<readonly Line[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    linesOf(model).then(setLines, (error: unknown) => setFailure(failureOf(error)));
  }, [model]);
  if (failure !== null) return <FailureBox failure={failure} />;
  if (lines === null) return <Loading />;
  const properties = new Set(model.concepts.get(name)?.properties.map((p) => p.name));
  const concerned = lines.filter(
    ({ concept, property }) =>
      (property === null || properties.has(property)) && (concept === null || model.isOfKind(name, concept) || model.isOfKind(concept, name)),
  );
  if (concerned.length === 0) return <p class="muted">{texts.restrictions.nothing}</p>;
  return (
    <ul class="facts">
      {concerned.map((line) => (
        <li key={`${line.concept} ${line.property}`}>
          <p>{words(line, name)}</p>
          {line.rule !== null && /\W/.test(line.rule) && <Code text={line.rule} />}
        </li>
      ))}
    </ul>
  );
}

function words({ concept, property, kind, rule }: Line, name: string): string {
  const { rows, noRows, someRows, masks, of } = texts.restrictions;
  if (kind === 'rows') return (rule === null ? someRows : rule === 'false' ? noRows : rows)(concept ?? name);
  const mask = masks[(/^\w+/.exec(rule ?? '')?.[0] ?? '').toUpperCase() as keyof typeof masks] ?? masks.WITH;
  return mask(property ?? '') + (concept === null || concept === name ? '' : of(concept));
}
