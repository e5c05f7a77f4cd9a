/** In words: which rows and values of a concept policies hide from the user. */
import { product, query } from '../api/http.ts';
import type { Model } from '../model/model.ts';
import { perModel } from '../model/per-model.ts';
import { texts } from '../texts.ts';
import { useAnswer } from './attempt.ts';
import { Code, FailureBox, Loading } from './basics.tsx';

interface Line {
  readonly concept: string | null;
  readonly property: string | null;
  readonly kind: 'rows' | 'mask';
  readonly rule: string | null;
}

const linesOf = perModel((model) => query<Line>(model.name, `SELECT concept, property, kind, rule FROM ${product}.SYS_RESTRICTIONS`));

/** @param name a concept; null: all of them, each with its own name */
export function Restrictions({ model, name }: { readonly model: Model; readonly name: string | null }) {
  const { answer: lines, failure } = useAnswer(() => linesOf(model), [model]);
  if (failure !== null) return <FailureBox failure={failure} />;
  if (lines === null) return <Loading />;
  const concerned = lines.filter((line) => name === null || concerns(line, model, name));
  if (concerned.length === 0) return <p class="muted">{texts.restrictions.nothing}</p>;
  return <Lines lines={concerned} name={name} />;
}

const Lines = ({ lines, name }: { readonly lines: readonly Line[]; readonly name: string | null }) => (
  <ul class="facts">
    {lines.map((line) => (
      <li key={`${line.concept} ${line.property}`}>
        <p>{words(line, name)}</p>
        {line.rule !== null && /\W/.test(line.rule) && <Code text={line.rule} />}
      </li>
    ))}
  </ul>
);

function concerns({ concept, property }: Line, model: Model, name: string): boolean {
  const hasProperty = property === null || model.concepts.get(name)?.properties.some((p) => p.name === property) === true;
  return hasProperty && (concept === null || model.isOfKind(name, concept) || model.isOfKind(concept, name));
}

/** Where rows are shown: what policies hide of the concepts that they come from, in words; nothing if policies hide nothing. */
export function Hidden({ model, concepts, open = true }: { readonly model: Model; readonly concepts: readonly string[]; readonly open?: boolean }) {
  const { answer } = useAnswer(() => linesOf(model), [model]);
  const lines = (answer ?? []).filter((line) => concepts.some((name) => concerns(line, model, name)));
  if (lines.length === 0) return null;
  return (
    <details class="hides" open={open}>
      <summary>{texts.restrictions.link}</summary>
      <Lines lines={lines} name={null} />
      <p class="muted">{texts.restrictions.who}</p>
    </details>
  );
}

/** The concepts that a statement names. */
export function namedIn(model: Model, sql: string): readonly string[] {
  const words = new Set(sql.match(/[\p{L}\p{N}_$]+/gu));
  return [...model.concepts.keys()].filter((name) => words.has(name));
}

function words({ concept, property, kind, rule }: Line, name: string | null): string {
  const { rows, noRows, someRows, masks, of } = texts.restrictions;
  if (kind === 'rows') return (rule === null ? someRows : rule === 'false' ? noRows : rows)(concept ?? name ?? '');
  const mask = masks[(/^\w+/.exec(rule ?? '')?.[0] ?? '').toUpperCase() as keyof typeof masks] ?? masks.WITH;
  return mask(property ?? '') + (concept === null || concept === name ? '' : of(concept));
}
