/** In words: which rows and values of a concept policies hide from the user. */
import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOf, product, query } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { hashOf } from '../router.ts';
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
  const concerned = lines.filter((line) => concerns(line, model, name));
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

function concerns({ concept, property }: Line, model: Model, name: string): boolean {
  const hasProperty = property === null || model.concepts.get(name)?.properties.some((p) => p.name === property) === true;
  return hasProperty && (concept === null || model.isOfKind(name, concept) || model.isOfKind(concept, name));
}

/** For the result of a statement: a link to what policies hide of a concept that it names, if they hide something of one. */
export function Hidden({ model, sql }: { readonly model: Model; readonly sql: string }) {
  const [concept, setConcept] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    const words = new Set(sql.match(/\w+/g));
    const named = [...model.concepts.keys()].filter((name) => words.has(name));
    linesOf(model).then(
      (lines) => current && setConcept(named.find((name) => lines.some((line) => concerns(line, model, name))) ?? null),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [model, sql]);
  if (concept === null) return null;
  return <a href={hashOf({ ontology: model.name, view: 'model', parameters: { concept } })}>{texts.restrictions.link}</a>;
}

function words({ concept, property, kind, rule }: Line, name: string): string {
  const { rows, noRows, someRows, masks, of } = texts.restrictions;
  if (kind === 'rows') return (rule === null ? someRows : rule === 'false' ? noRows : rows)(concept ?? name);
  const mask = masks[(/^\w+/.exec(rule ?? '')?.[0] ?? '').toUpperCase() as keyof typeof masks] ?? masks.WITH;
  return mask(property ?? '') + (concept === null || concept === name ? '' : of(concept));
}
