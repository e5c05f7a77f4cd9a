/** Completion of SQL over the graph, computed from the model. Pure: no DOM, no request. */
import { ALLOWED_FUNCTIONS, CASTS } from '../../../src/planner/guard/functions.ts';
import { memberOf } from '../api/names.ts';
import type { Model } from '../model/model.ts';

export interface Proposal {
  readonly label: string;
  /** What is written; the label by default. */
  readonly apply?: string;
  readonly type: 'class' | 'property' | 'method' | 'function' | 'variable' | 'namespace' | 'constant';
  readonly detail?: string;
  readonly info?: string;
  /** Higher ones come first. */
  readonly boost: number;
}

export interface Completion {
  /** Where the replaced text begins. */
  readonly from: number;
  readonly proposals: readonly Proposal[];
}

/** A relation in FROM. `concept` is null for views, common table expressions and anything unknown. */
export interface Source {
  readonly alias: string;
  readonly concept: string | null;
  readonly view: string | null;
}

/** Functions that most queries use: they are proposed before the others that are allowed. */
const COMMON_FUNCTIONS: ReadonlySet<string> = new Set(
  `count sum avg min max coalesce nullif round lower upper length concat substring date_trunc extract now array_agg string_agg row_number rank lag lead greatest
  least abs trim replace split_part to_char`.split(/\s+/),
);
/** Without casts, whose names are those of types. */
const OTHER_FUNCTIONS: readonly string[] = [...ALLOWED_FUNCTIONS].filter((name) => !COMMON_FUNCTIONS.has(name) && !CASTS.includes(name));

const functions = (names: Iterable<string>, boost: number): readonly Proposal[] =>
  Array.from(names, (name) => ({ label: name, apply: `${name}(`, type: 'function', boost }));
const FUNCTIONS: readonly Proposal[] = [...functions(COMMON_FUNCTIONS, -5), ...functions(OTHER_FUNCTIONS, -15)];

/** The statement around a position: texts with several statements are separated by semicolons outside of quotes. */
export function statementAt(text: string, position: number): { readonly from: number; readonly to: number } {
  let from = 0;
  for (const { at, kind } of marks(text)) {
    if (kind !== ';') continue;
    if (at >= position) return { from, to: at };
    from = at + 1;
  }
  return { from, to: text.length };
}

/** Semicolons and quoted parts of a text. An unfinished quote ends with the text. */
function* marks(text: string): Generator<{ readonly at: number; readonly kind: ';' | '"' | '`' | "'" | '-'; readonly end: number }> {
  const pattern = /;|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|--[^\n]*/g;
  for (const m of text.matchAll(pattern)) yield { at: m.index, kind: m[0][0] as ';' | '"' | '`' | "'" | '-', end: m.index + m[0].length };
}

/** The quoted identifier that contains a position; null outside of one. `comment`: in a comment or a text, where nothing is completed. */
function quoteAt(text: string, position: number): { readonly from: number; readonly mark: '"' | '`' } | 'comment' | null {
  for (const { at, kind, end } of marks(text)) {
    if (kind === ';' || at >= position) continue;
    const closed = end - at > 1 && text[end - 1] === text[at];
    if (closed ? position >= end : position > end) continue;
    if (kind === "'" || kind === '-') return 'comment';
    return { from: at + 1, mark: kind };
  }
  return null;
}

const NAME = '(?:"(?:[^"]|"")+"|`[^`]+`|[\\p{L}_][\\p{L}\\p{N}_$]*)';
const bare = (name: string): string => (/^["`]/.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase());

/** The relations that a statement names after FROM and JOIN. */
export function sourcesOf(statement: string, model: Model): readonly Source[] {
  const pattern = new RegExp(`\\b(?:from|join)\\s+(?:(${NAME})\\s*\\.\\s*)?(${NAME})(?:\\s+(?:as\\s+)?(?!(?:${AFTER})\\b)(${NAME}))?`, 'giu');
  const concepts = new Map([...model.concepts.keys()].map((n) => [n.toLowerCase(), n]));
  const views = new Map(Object.keys(model.detail.views).map((n) => [n.toLowerCase(), n]));
  return [...statement.matchAll(pattern)].map(([, schema, name = '', alias]) => {
    const relation = bare(name).toLowerCase();
    const isView = schema !== undefined && bare(schema).startsWith('v');
    return {
      alias: alias === undefined ? bare(name) : bare(alias),
      concept: isView || schema === undefined ? null : (concepts.get(relation) ?? null),
      view: isView ? (views.get(relation) ?? null) : null,
    };
  });
}
const AFTER =
  'where|group|order|limit|offset|having|join|left|right|full|inner|cross|on|using|union|intersect|except|window|fetch|for|natural|lateral|tablesample';

/** The proposals at a position; null where nothing is proposed. @param explicit true if the user asked for them */
export function complete(text: string, position: number, model: Model, product: string, explicit = false): Completion | null {
  const { from, to } = statementAt(text, position);
  const statement = text.slice(from, to);
  const sources = sourcesOf(statement, model);
  const quote = quoteAt(text, position);
  if (quote === 'comment') return null;
  if (quote !== null) return inQuotes(text, position, quote.from, sources, model, product);
  const before = text.slice(from, position);
  const qualified = new RegExp(`(${NAME})\\.([\\p{L}_][\\p{L}\\p{N}_$]*)?$`, 'u').exec(before);
  if (qualified !== null) return afterDot(bare(qualified[1] as string), position - (qualified[2]?.length ?? 0), sources, model, product);
  const word = /[\p{L}_][\p{L}\p{N}_$]*$/u.exec(before)?.[0] ?? '';
  if (word === '' && !explicit) return null;
  const start = position - word.length;
  if (/\b(?:from|join)\s+$/i.test(text.slice(from, start))) return { from: start, proposals: [...relations(model, product), ...common(statement)] };
  return {
    from: start,
    proposals: [
      ...sources.flatMap((s) => columnsOf(s, model)),
      ...sources.flatMap((s) => (s.concept === null ? [] : hops(s.concept, model, (path) => `"${path}`))),
      ...sources
        .filter((s) => sources.length > 1 || s.alias !== s.concept)
        .map((s): Proposal => ({ label: s.alias, type: 'variable', detail: s.concept ?? s.view ?? '', boost: 5 })),
      ...common(statement),
      ...FUNCTIONS,
      ...schemas(product).map(({ name, detail }): Proposal => ({ label: name, apply: `${name}.`, type: 'namespace', detail, boost: -10 })),
    ],
  };
}

/** Inside quotes: a path, hop by hop; after FROM a concept. */
function inQuotes(text: string, position: number, start: number, sources: readonly Source[], model: Model, product: string): Completion | null {
  const head = text.slice(0, start - 1);
  const schema = new RegExp(`(${NAME})\\.$`, 'u').exec(head)?.[1];
  const alias = schema === undefined ? null : bare(schema);
  if (alias !== null && schemas(product).some(({ name }) => name === alias)) return afterDot(alias, start, sources, model, product);
  const path = text.slice(start, position);
  const last = /[^.\]]*$/.exec(path)?.[0] ?? '';
  const opened = last.indexOf('[');
  const hopsBefore = [...path.matchAll(/([^.[\]]+)\[([^\]]*)\]/g)].map((m) => ({
    relationship: m[1] as string,
    target: (m[2] as string).replace(/\*\d+$/, ''),
  }));
  const starts = sources.filter((s) => s.concept !== null && (alias === null || s.alias === alias)).map((s) => s.concept as string);
  const ends = starts.map((concept) => walk(concept, hopsBefore, model)).filter((c): c is string => c !== null);
  if (opened >= 0) {
    // after `rel[`: the target, and the concepts below it
    const name = last.slice(0, opened);
    const targets = new Set(ends.flatMap((c) => targetsOf(model, c, name)));
    return {
      from: position - (last.length - opened - 1),
      proposals: [...targets].map((t): Proposal => ({ label: t, apply: `${t}].`, type: 'class', boost: 0 })),
    };
  }
  const from = position - last.length;
  const isStart = hopsBefore.length === 0;
  const proposals = [...new Set(ends)].flatMap((concept) => [
    ...model
      .columns(concept)
      .map((c): Proposal => ({ label: c.name, type: 'property', detail: c.type, ...(c.description === null ? {} : { info: c.description }), boost: 10 })),
    ...(isStart ? measures(concept, model) : []),
    ...hops(concept, model, (p) => p),
  ]);
  return { from, proposals };
}

const walk = (concept: string, path: readonly { readonly relationship: string; readonly target: string }[], model: Model): string | null => {
  let at = concept;
  for (const { relationship, target } of path) {
    if (!targetsOf(model, at, relationship).includes(target)) return null;
    at = target;
  }
  return at;
};

/** The concepts that a relationship of a concept may name in brackets: its target and what inherits from it. */
function targetsOf(model: Model, concept: string, relationship: string): readonly string[] {
  const found: string[] = [];
  const add = (name: string): void => {
    if (found.includes(name) || !model.concepts.has(name)) return;
    found.push(name);
    for (const child of model.children.get(name) ?? []) add(child);
  };
  for (const r of model.concepts.get(concept)?.relationships ?? []) if (r.name === relationship) add(r.target);
  return found;
}

const hops = (concept: string, model: Model, write: (path: string) => string): readonly Proposal[] =>
  (model.concepts.get(concept)?.relationships ?? [])
    .filter((r) => model.concepts.has(r.target))
    .map((r) => ({
      label: `${r.name}[${r.target}].`,
      apply: write(`${r.name}[${r.target}].`),
      type: 'method',
      detail: r.transitivity === null ? 'path' : 'transitive path',
      ...(r.description === null ? {} : { info: r.description }),
      boost: 0,
    }));

const measures = (concept: string, model: Model): readonly Proposal[] =>
  (model.concepts.get(concept)?.properties ?? [])
    .filter((p) => p.is_measure)
    .map((p) => ({ label: `measure.${p.name}`, type: 'constant', detail: 'measure', ...(p.description === null ? {} : { info: p.description }), boost: 3 }));

function columnsOf(source: Source, model: Model): readonly Proposal[] {
  if (source.view !== null)
    return (memberOf(model.detail.views, source.view)?.columns ?? []).map((c) => ({
      label: c.name,
      apply: asIdentifier(c.name),
      type: 'property',
      detail: c.type,
      boost: 10,
    }));
  if (source.concept === null) return [];
  return [
    ...model.columns(source.concept).map(
      (c): Proposal => ({
        label: c.name,
        apply: asIdentifier(c.name),
        type: 'property',
        detail: c.type,
        ...(c.description === null ? {} : { info: c.description }),
        boost: c.name.startsWith('entity_') ? 8 : 10,
      }),
    ),
    ...measures(source.concept, model).map((p): Proposal => ({ ...p, apply: `"${p.label}"` })),
  ];
}

function afterDot(qualifier: string, from: number, sources: readonly Source[], model: Model, product: string): Completion {
  const schema = schemas(product).find(({ name }) => name === qualifier);
  if (schema === undefined) return { from, proposals: sources.filter((s) => s.alias === qualifier).flatMap((s) => columnsOf(s, model)) };
  const names = schema.views
    ? Object.entries(model.detail.views).map(([name, v]) => ({ name, info: v.description }))
    : model.detail.ontology.map((c) => ({ name: c.concept, info: c.description }));
  return {
    from,
    proposals: names.map(({ name, info }) => ({ label: name, apply: asIdentifier(name), type: 'class', ...(info === null ? {} : { info }), boost: 0 })),
  };
}

const schemas = (product: string): readonly { readonly name: string; readonly detail: string; readonly views: boolean }[] => [
  { name: `d${product}`, detail: 'concepts, with paths and measures', views: false },
  { name: product, detail: 'concepts', views: false },
  { name: `e${product}`, detail: 'concepts, with properties of descendants', views: false },
  { name: `v${product}`, detail: 'views and cubes', views: true },
];

const relations = (model: Model, product: string): readonly Proposal[] => [
  ...model.detail.ontology.map(
    (c): Proposal => ({
      label: `d${product}.${c.concept}`,
      apply: `d${product}.${asIdentifier(c.concept)}`,
      type: 'class',
      ...(c.description === null ? {} : { info: c.description }),
      boost: 5,
    }),
  ),
  ...Object.entries(model.detail.views).map(
    ([name, v]): Proposal => ({
      label: `v${product}.${name}`,
      apply: `v${product}.${asIdentifier(name)}`,
      type: 'class',
      detail: v.is_cube ? 'cube' : 'view',
      ...(v.description === null ? {} : { info: v.description }),
      boost: 3,
    }),
  ),
];

/** The names of common table expressions. */
const common = (statement: string): readonly Proposal[] =>
  [...statement.matchAll(/(?:\bwith\s+(?:recursive\s+)?|,\s*)([\p{L}_][\p{L}\p{N}_$]*)\s*(?:\([^()]*\)\s*)?as\s+(?:(?:not\s+)?materialized\s+)?\(/giu)].map(
    (m) => ({
      label: m[1] as string,
      type: 'variable',
      detail: 'WITH',
      boost: 6,
    }),
  );

/** A name as SQL: in quotes if PostgreSQL would read it otherwise. */
const asIdentifier = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`);
const RESERVED = new Set(
  'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create current_date current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral leading limit localtime localtimestamp not null offset on only or order placing primary references returning select session_user some symmetric table then to trailing true union unique user using variadic when where window with'.split(
    ' ',
  ),
);
