/** Concepts that inherit from each other and share properties, some of which a reader may query, and tables with changed values where no such concept shows them. */

import { costly } from './costly.ts';

/** Each concept: its parents, the properties that it declares, whether it has a mapping. A row of a mapping has a value for every property of its concept. */
const CONCEPTS: Readonly<
  Record<string, { readonly parents: readonly string[]; readonly own: readonly string[]; readonly mapped?: false; readonly when?: string }>
> = {
  a: { parents: [], own: ['a_id', 'pa'] },
  b: { parents: ['a'], own: ['p', 'q', 'fk'] },
  c: { parents: ['a'], own: ['p', 'r'] },
  d: { parents: ['b', 'c'], own: ['s'] },
  // without a mapping: it has the rows of `c`
  e: { parents: ['c'], own: ['q'], mapped: false },
  g: { parents: ['b'], own: ['r'] },
  f: { parents: [], own: ['f_id', 'p', 'q', 'link'] },
  // a logic concept whose condition all rows meet
  l: { parents: ['a'], own: ['q', 's'], mapped: false, when: 'a_id > 0' },
};
const KEYS = ['a_id', 'f_id'];
export const NAMES = Object.keys(CONCEPTS);
export const PROPERTIES = ['pa', 'p', 'q', 'r', 's', 'fk', 'link'] as const;
export const READ = [...NAMES, 'thing'] as const;
/** Concepts that scripts of editors make. */
export const MADE: readonly string[] = ['n1', 'n2', 'n3'];
/** What a reader may get QUERY on. */
export const GRANTABLE: readonly string[] = [...NAMES.map((n) => `concept.${n}`), 'view.va', 'view.vb'];

const concept = (name: string) => CONCEPTS[name] as (typeof CONCEPTS)[string];
export const parentsOf = (name: string): readonly string[] => concept(name).parents;
const ancestors = (name: string): readonly string[] => [name, ...concept(name).parents.flatMap(ancestors)];
/** The properties of a concept, own and inherited. */
export const properties = (name: string): ReadonlySet<string> => new Set(ancestors(name).flatMap((n) => concept(n).own));
const mapped = NAMES.filter((n) => concept(n).mapped !== false);

/** The mappings (by concept) whose rows a concept has. */
function rows(name: string): readonly string[] {
  if (concept(name).when !== undefined) return concept(name).parents.flatMap(rows);
  const own = mapped.filter((m) => ancestors(m).includes(name));
  return own.length > 0 ? own : concept(name).parents.filter((p) => mapped.includes(p));
}

/** The relations that the views read, with the rights of an administrator. */
const VIEWS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'view.va': rows('a').flatMap((m) => [[m, 'pa'] as const, [m, 'p'] as const]),
  'view.vb': rows('b').flatMap((m) => [[m, 'q'] as const]),
};

/** Whether the reader gets rows of a mapping (by concept) through a relation that it may query. */
const sees = (granted: readonly string[], m: string): boolean =>
  granted.some(
    (g) =>
      VIEWS[g]?.some(([of]) => of === m) || (g.startsWith('concept.') && CONCEPTS[g.replace('concept.', '')] && rows(g.replace('concept.', '')).includes(m)),
  );

/** By concept of a mapping: the properties whose values the reader gets through no relation that it may query; also the key if it gets no row. */
export function closedCells(granted: readonly string[], masked: (m: string, p: string) => boolean = () => false): ReadonlyMap<string, readonly string[]> {
  const open = new Set<string>();
  for (const g of granted) {
    for (const [m, p] of VIEWS[g] ?? []) open.add(`${m}.${p}`);
    const name = g.replace('concept.', '');
    if (CONCEPTS[name]) for (const m of rows(name)) for (const p of properties(name)) open.add(`${m}.${p}`);
  }
  return new Map(mapped.map((m) => [m, [...properties(m)].filter((p) => (KEYS.includes(p) ? !sees(granted, m) : masked(m, p) || !open.has(`${m}.${p}`)))]));
}

const IDS: Readonly<Record<string, readonly number[]>> = { a: [1, 2], b: [11, 12, 13], c: [21, 22], d: [31, 32], g: [41], f: [1, 2, 11, 21, 31, 32] };
/** The table has `q` as a text, which the model casts: a closed value cannot be cast. */
const OTHERS: Readonly<Record<string, string>> = { pa: "'other'", p: '5', q: "'no number'", r: '-1', s: "'0'", fk: '2', link: '32' };
const value = (p: string, id: number): string =>
  ({
    pa: `'n${id}'`,
    p: String(id + 100),
    q: `'${id % 7}'`,
    r: String(id % 5),
    s: `'s${id}'`,
    fk: String([1, 2, 11][id % 3]),
    link: String([1, 11, 12, 21, 31][id % 5]),
  })[p] ?? String(id);

/** Policies for every caller: by keys, and masks. */
export const POLICIES: readonly string[] = [
  `CREATE POLICY few ON CONCEPT b TO PUBLIC USING ${costly('a_id NOT IN (12, 31)', (n) => `a_id = ${-n}`)}`,
  `CREATE POLICY some ON CONCEPT f TO PUBLIC USING ${costly('f_id <> 11', (n) => `f_id = ${-n}`)}`,
  'CREATE POLICY veil ON PROPERTY q MASK NULL',
  'CREATE POLICY cover ON PROPERTY p OF CONCEPT c MASK WITH (7)',
];
/** Whether a value is masked, and whether a row is hidden, by these policies. */
export const isMasked = (m: string, p: string): boolean => p === 'q' || (p === 'p' && ancestors(m).includes('c'));
export const isHidden = (m: string, id: number): boolean => (m === 'f' ? id === 11 : ancestors(m).includes('b') && [12, 31].includes(id));

/** Fills the tables; `other`: with other values in the closed cells, and in all cells of hidden rows except their keys. */
export const filled = (
  closed: ReadonlyMap<string, readonly string[]>,
  other: boolean,
  hidden: (m: string, id: number) => boolean = () => false,
): readonly string[] =>
  mapped.flatMap((m) => {
    const columns = [...properties(m)];
    const of = (id: number) =>
      columns
        .map((p) => (other && (closed.get(m)?.includes(p) || (hidden(m, id) && !KEYS.includes(p))) ? (OTHERS[p] ?? String(id + 1)) : value(p, id)))
        .join(', ');
    return [`TRUNCATE partial.t_${m}`, `INSERT INTO partial.t_${m} (${columns.join(', ')}) VALUES ${(IDS[m] ?? []).map((id) => `(${of(id)})`).join(', ')}`];
  });

const TYPES: Readonly<Record<string, string>> = { pa: 'string', s: 'string' };
const listed = (name: string): string =>
  concept(name)
    .own.map((p) => `${p} ${TYPES[p] ?? 'bigint'}`)
    .join(', ');
const MORE: Readonly<Record<string, string>> = {
  a: ', sum_p MEASURE decimal, PRIMARY KEY (a_id)',
  b: ', CONSTRAINT to_f FOREIGN KEY (fk) REFERENCES f (f_id) INVERSEOF of_b, sum_q MEASURE decimal, CONSTRAINT nick MULTIVALUE string',
  f: ', sum_q MEASURE decimal, PRIMARY KEY (f_id), CONSTRAINT to_a FOREIGN KEY (link) REFERENCES a (a_id) INVERSEOF of_a',
};
/** CREATE CONCEPT as in the model; with more elements, or other parents. */
export const create = (name: string, more = '', others?: readonly string[]): string => {
  const { when } = concept(name);
  const parents = others ?? concept(name).parents;
  const inherits = parents.length > 0 ? ` INHERITS (${parents.join(', ')})` : '';
  return `CREATE CONCEPT ${name} (${listed(name)}${MORE[name] ?? ''}${more})${inherits}${when === undefined ? '' : ` FROM dsvc.a WHERE ${when}`}`;
};

export const TABLES = [
  'CREATE SCHEMA partial',
  ...mapped.map((m) => `CREATE TABLE partial.t_${m} (${[...properties(m)].map((p) => `${p} ${['pa', 'q', 's'].includes(p) ? 'text' : 'bigint'}`).join(', ')})`),
  ...filled(new Map(), false),
  'CREATE TABLE partial.t_nick (a_id bigint, nick text)',
  "INSERT INTO partial.t_nick VALUES (11, 'x'), (11, 'y'), (31, 'z')",
];

export const MODEL = [
  'CREATE ONTOLOGY partial',
  'CREATE MEASURE sum_p decimal AS SELECT SUM(p)',
  'CREATE MEASURE sum_q decimal AS SELECT SUM(q)',
  ...NAMES.map((name) => create(name)),
  ...mapped.map((m) => `CREATE MAPPING m_${m} INTO (${m}) AS SELECT ${[...properties(m)].join(', ')} FROM partial.t_${m}`),
  'CREATE MAPPING m_nick INTO (b) MULTIVALUE nick AS SELECT a_id, nick FROM partial.t_nick',
  ...MADE.map((n) => `CREATE CONCEPT ${n} (k2 bigint)`),
  'CREATE PROPERTY calc bigint AS SELECT 1',
  'CREATE PROPERTY walk bigint AS SELECT 2',
  'CREATE MEASURE tally bigint AS SELECT count(p)',
  'CREATE VIEW va AS SELECT pa, p FROM dsvc.a',
  'CREATE VIEW vb AS SELECT q FROM svc.b',
].join(';\n');
