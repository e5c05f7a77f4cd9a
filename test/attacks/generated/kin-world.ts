/** Concepts that share a key, their relationships and values, random policies on them, and tables that differ only in what the policies hide. */
import type { Rng } from '../../integration/differential/rng.ts';
import { costly } from './costly.ts';
import { hash } from './partial-values.ts';

/** Concepts that may have policies. */
const GUARDED = ['being', 'cat', 'pet', 'elder', 'town', 'memo'] as const;
type Guarded = (typeof GUARDED)[number];

/** A concept to which links may refer. */
type Referred = 'being' | 'cat' | 'pet' | 'elder';

interface MaskOf {
  readonly prop: string;
  readonly concept: string | null;
  readonly mask: string;
}

/** A random model with its policies. */
export interface KinWorld {
  /** Row policies: the rows with `open`, or those whose home is a town with a low number. */
  readonly rows: ReadonlyMap<Guarded, 'open' | 'home'>;
  readonly masks: readonly MaskOf[];
  /** The concept that the values of `nick` are mapped into. */
  readonly nickInto: 'being' | 'cat' | 'pet';
  /** The concepts that links refer to: those of `friend` at both ends, and those of `visits`. */
  readonly linked: readonly [Referred, Referred, Referred];
  /** The concepts that the reader may query; null: all. */
  readonly reads: ReadonlySet<string> | null;
  /** The tables of which the mappings only have the rows with `open`. */
  readonly filtered: ReadonlySet<string>;
  readonly base: number;
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  n: ['NULL', 'FULL', 'WITH (3)'],
  tag: ['NULL', 'FULL', "WITH ('k1')", "PARTIAL(1, 'x', 0)"],
  nick: ['NULL', 'FULL', "WITH ('k1')"],
  rank: ['NULL', "WITH ('k2')"],
  code: ['NULL', 'FULL', "WITH ('k2')"],
  txt: ['NULL', 'FULL'],
  id: ['NULL', 'FULL', 'WITH (7)'],
  no: ['NULL', 'FULL', 'WITH (2)'],
};
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  n: ['being', 'cat', 'pet', 'elder'],
  tag: ['being', 'cat', 'pet', 'elder'],
  nick: ['being', 'cat', 'pet'],
  rank: ['town'],
  code: ['being', 'town', 'pet'],
  txt: ['memo'],
};

const READABLE = ['being', 'cat', 'pet', 'elder', 'mayor', 'tame', 'grand', 'town', 'memo'] as const;

export function genKin(r: Rng, base: number): KinWorld {
  const rows = new Map<Guarded, 'open' | 'home'>();
  for (const c of r.some([...GUARDED], r.pick([0, 1, 1, 2, 2, 3]))) rows.set(c, c === 'town' || c === 'memo' || r.chance(65) ? 'open' : 'home');
  const masks: MaskOf[] = r.some(Object.keys(KINDS), r.pick([0, 1, 2, 3])).map((prop) => ({
    prop,
    concept: OWNERS[prop] !== undefined && r.chance(50) ? r.pick(OWNERS[prop]) : null,
    mask: r.pick(KINDS[prop] as readonly string[]),
  }));
  // policies over the number of a town need its true value
  const reads = [...rows.values()].includes('home') ? masks.filter((m) => m.prop !== 'no') : masks;
  // what refers to a masked key is masked too
  if (reads.some((m) => m.prop === 'id')) reads.push({ prop: 'boss', concept: null, mask: 'NULL' });
  if (reads.some((m) => m.prop === 'no')) reads.push({ prop: 'home', concept: null, mask: 'NULL' });
  if (reads.some((m) => m.prop === 'code')) reads.push({ prop: 'ref', concept: null, mask: 'NULL' });
  const end = (): Referred => r.pick(['being', 'being', 'cat', 'pet', 'elder', 'elder']);
  return {
    rows,
    masks: reads,
    nickInto: r.pick(['being', 'cat', 'pet']),
    linked: [end(), end(), end()],
    reads: r.chance(50) ? null : new Set(READABLE.filter(() => r.chance(55))),
    filtered: new Set(['cat', 'pet', 'town', 'memo'].filter(() => r.chance(20))),
    base,
  };
}

export const KIN_TABLES = [
  'CREATE SCHEMA kin',
  ...['cat', 'pet', 'any'].map((t) => `CREATE TABLE kin.t_${t} (id bigint, tag text, n bigint, boss bigint, home int, open boolean, code text, extra text)`),
  'CREATE TABLE kin.t_town (no int, name text, rank text, open boolean, code text)',
  'CREATE TABLE kin.t_memo (mid int, ref text, txt text, open boolean)',
  'CREATE TABLE kin.t_friend (a bigint, b bigint)',
  'CREATE TABLE kin.t_visit (who bigint, place int, since int, tag text, rank text)',
  'CREATE TABLE kin.t_nick (id bigint, nick text)',
];

const KEY_OF: Readonly<Record<string, string>> = { town: 'no', memo: 'mid' };
const isOpen = (key = 'id'): string => costly('open', (n) => `${key} = ${-n}`);

export function kinModel(w: KinWorld): string {
  const where = (table: string): string => (w.filtered?.has(table) ? ` WHERE ${isOpen(KEY_OF[table])}` : '');
  return `CREATE PROPERTY open boolean;
CREATE PROPERTY boss_tag string AS SELECT "reports_to[being].tag";
CREATE PROPERTY friends bigint AS SELECT COUNT("friend[being].id");
CREATE PROPERTY known bigint AS SELECT SUM("knows[being].n");
CREATE PROPERTY nicks string AS SELECT string_agg("nick", ',' ORDER BY "nick");
CREATE PROPERTY sums bigint AS SELECT SUM(100 / ("leads[being].n" - 7));
CREATE PROPERTY home_rank string AS SELECT "lives_in[town].rank";
CREATE PROPERTY tags string AS SELECT string_agg("visits[town]_tag", ',' ORDER BY "visits[town]_tag");
CREATE PROPERTY risk decimal AS SELECT 100 / (n - 7);
CREATE PROPERTY crowd bigint AS SELECT COUNT("houses[being].id");
CREATE MEASURE total bigint AS SELECT SUM(n);
CREATE MEASURE heads bigint AS SELECT COUNT(DISTINCT tag);
CREATE CONCEPT town (no integer, name string, rank string, open boolean, code string, crowd bigint, PRIMARY KEY (no)${w.base % 2 ? ', LABEL (rank)' : ''});
CREATE CONCEPT being (id bigint, tag string, n bigint, boss bigint, home integer, open boolean, code string, boss_tag string, friends bigint, known bigint, nicks string, sums bigint,
 home_rank string, tags string, risk decimal, total MEASURE bigint, heads MEASURE bigint, PRIMARY KEY (id)${w.base % 3 ? ', LABEL (tag)' : ''}, CONSTRAINT nick MULTIVALUE string,
 CONSTRAINT reports_to FOREIGN KEY (boss) REFERENCES being (id) INVERSEOF leads TRANSITIVE(4),
 CONSTRAINT lives_in FOREIGN KEY (home) REFERENCES town (no) INVERSEOF houses,
 CONSTRAINT friend MULTIREFERENCE being SYMMETRIC,
 CONSTRAINT visits MULTIREFERENCE town INVERSEOF visited,
 CONSTRAINT knows MULTIREFERENCE being INCLUDES (reports_to, friend) TRANSITIVE(3));
CREATE CONCEPT cat (extra string) INHERITS (being);
CREATE CONCEPT pet (extra string) INHERITS (being);
CREATE CONCEPT elder INHERITS (being) FROM dsvc.being WHERE n > 3;
CREATE CONCEPT mayor INHERITS (being) FROM dsvc.being WHERE "lives_in[town].no" < 3;
CREATE CONCEPT tame INHERITS (cat, pet);
CREATE CONCEPT grand INHERITS (pet) FROM dsvc.being WHERE open;
CREATE CONCEPT memo (mid integer, ref string, txt string, open boolean, PRIMARY KEY (mid), CONSTRAINT about FOREIGN KEY (ref) REFERENCES thing (code) INVERSEOF noted);
CREATE MAPPING m_town INTO (town) AS SELECT no, name, rank, open, code FROM kin.t_town${where('town')};
CREATE MAPPING m_cat INTO (cat) AS SELECT id, tag, n, boss, home, open, code, extra FROM kin.t_cat${where('cat')};
CREATE MAPPING m_pet INTO (pet) AS SELECT id, tag, n, boss, home, open, code, extra FROM kin.t_pet${where('pet')};
CREATE MAPPING m_any INTO (being) AS SELECT id, tag, n, boss, home, open, code FROM kin.t_any;
CREATE MAPPING m_memo INTO (memo) AS SELECT mid, ref, txt, open FROM kin.t_memo${where('memo')};
CREATE MAPPING m_nick INTO (${w.nickInto}) MULTIVALUE nick AS SELECT id, nick FROM kin.t_nick;
CREATE MAPPING m_friend (CONSTRAINT friend FOREIGN KEY (b) REFERENCES ${w.linked[1]} (id), CONSTRAINT \`~friend\` FOREIGN KEY (a) REFERENCES ${w.linked[0]} (id)) AS SELECT a, b FROM kin.t_friend;
CREATE MAPPING m_visit (CONSTRAINT visits FOREIGN KEY (place) REFERENCES town (no), CONSTRAINT visited FOREIGN KEY (who) REFERENCES ${w.linked[2]} (id))
 AS SELECT who, place, since, tag, rank FROM kin.t_visit;
CREATE VIEW everyone AS SELECT entity_id AS who, tag, n, code FROM svc.being;
CREATE VIEW pairs AS SELECT tag, "friend[being].tag" AS other, "visits[town]_tag" AS seen FROM dsvc.being;
CREATE ONTOLOGY CUBE census AS SELECT "lives_in[town].name" AS place, tag, n, "measure.total" AS total FROM dsvc.being`;
}

export const kinPolicies = (w: KinWorld): readonly string[] => [
  ...[...w.rows].map(
    ([c, kind], i) => `CREATE POLICY few${i} ON CONCEPT ${c} TO PUBLIC USING (${kind === 'open' ? isOpen(KEY_OF[c]) : '"lives_in[town].no" < 4'})`,
  ),
  ...w.masks.map((m, i) => `CREATE POLICY veil${i} ON PROPERTY ${m.prop}${m.concept === null ? '' : ` OF CONCEPT ${m.concept}`} MASK ${m.mask}`),
];

const BEINGS = [
  ['cat', [1, 2, 3, 4, 5, 6, 7, 8]],
  ['pet', [5, 6, 7, 8, 9, 10, 11]],
  ['any', [12, 13, 14]],
] as const;
const IDS = Array.from({ length: 14 }, (_, i) => i + 1);
const TOWNS = [1, 2, 3, 4, 5];
const EVIL_N = ['0', '7', '9223372036854775807', '5', 'NULL', '3', '4'];
const EVIL_OLD = ['4', '7', '9223372036854775807', '5'];
const EVIL_TEXT = ["'k0'", "'k1'", "'x'", "'('", "'7'", "'Secret'", 'NULL'];

/** Statements that fill the tables: what the policies leave open is determined by the world, everything else by the seed. */
export function kinFilled(w: KinWorld, seed: number): readonly string[] {
  const fixed = (of: number, ...at: (number | string)[]): number => hash(w.base, ...at) % of;
  const free = (of: number, ...at: (number | string)[]): number => hash(seed, ...at) % of;
  const isMasked = (prop: string, concepts: readonly string[]): boolean =>
    w.masks.some((m) => m.prop === prop && (m.concept === null || concepts.includes(m.concept)));
  // another value for each key if keys are masked
  const renamed = (prop: string, by: number) => (v: number) => (isMasked(prop, []) ? by + ((v * 7 + (hash(seed, prop) % 50) * 3) % 1009) : v);
  const id = renamed('id', 1000);
  const no = renamed('no', 2000);
  const code = (v: string): string => (w.masks.some((m) => m.prop === 'code' && m.concept === null) ? `${v}z${hash(seed, v, 'code') % 997}` : v);
  const homes = (row: number, t: string): number | null => (fixed(8, t, row, 'home') === 0 ? null : 1 + fixed(5, t, row, 'town'));
  const nOf = (row: number, t: string): number | null => (fixed(9, t, row, 'null') === 0 ? null : ([1, 2, 3, 4, 5, 8, 9, 6][fixed(8, t, row, 'n')] as number));
  const conceptsOf = (t: string, n: number | null): string[] => [...(t === 'any' ? ['being'] : ['being', t]), ...(n !== null && n > 3 ? ['elder'] : [])];
  const isOpen = (t: string, row: number): boolean => fixed(3, t, row, 'open') > 0;
  const reads = (...concepts: readonly string[]): boolean => w.reads === null || concepts.some((c) => w.reads?.has(c));
  const named = (c: string): boolean => w.reads?.has(c) ?? false;
  const isMayor = (t: string, row: number): boolean => {
    const home = homes(row, t);
    return home !== null && home < 3 && admits('town', 'town', home);
  };
  const admits = (c: string, t: string, row: number): boolean => {
    if (w.filtered.has(t) && !isOpen(t, row)) return false;
    const rule = w.rows.get(c as Guarded);
    const home = homes(row, t);
    return rule === undefined || (rule === 'open' ? isOpen(t, row) : home !== null && home < 4 && (!w.filtered.has('town') || isOpen('town', home)));
  };
  const visible = new Map<string, Set<number>>();
  const see = (c: string, key: number): void => void visible.set(c, (visible.get(c) ?? new Set()).add(key));
  const allowed = new Map<string, Set<number>>();
  const statements: string[] = [];
  const insert = (table: string, rows: readonly string[]): void => {
    statements.push(`TRUNCATE kin.${table}`);
    if (rows.length > 0) statements.push(`INSERT INTO kin.${table} VALUES ${rows.join(', ')}`);
  };
  const text = (i: number): string => `'k${i % 4}'`;
  for (const [t, ids] of BEINGS) {
    const rows = ids.flatMap((row) => {
      const n = nOf(row, t);
      const concepts = conceptsOf(t, n);
      const allows = concepts.every((c) => admits(c, t, row));
      if (allows) for (const c of concepts) allowed.set(c, (allowed.get(c) ?? new Set()).add(row));
      const shown = allows && reads(...concepts, ...(isMayor(t, row) ? ['mayor'] : []), ...(t === 'any' ? [] : ['tame']), ...(isOpen(t, row) ? ['grand'] : []));
      const only = !shown && concepts.filter((c) => c !== 'elder').every((c) => admits(c, t, row));
      if (shown) for (const c of concepts) see(c, row);
      // under row policies, what belongs to a row of its concept is read, whether its reader may read the concept or not
      if (!shown && !(allows && w.rows.size > 0) && free(4, t, row) === 0) return [];
      const home = homes(row, t);
      const value = (prop: string, benign: string, evil: readonly string[]): string =>
        shown && !isMasked(prop, concepts) ? benign : (evil[free(evil.length, t, row, prop)] as string);
      const isElder = n !== null && n > 3;
      const masksElder = w.masks.some((m) => m.concept === 'elder') || w.rows.has('elder') || named('elder');
      // the condition of the logic concept is the same in both fillings
      const evilN = !masksElder || (!shown && !only && !named('elder')) ? EVIL_N : isElder ? EVIL_OLD : ['0', '3', '1', 'NULL'];
      const tag = text(fixed(9, t, row, 'tag'));
      // PARTIAL shows the first character and the length, FULL and PARTIAL which values are NULL
      const evilText = (prop: string, benign: string): readonly string[] =>
        !shown || w.masks.some((m) => m.prop === prop && /^(NULL|WITH)/.test(m.mask)) ? EVIL_TEXT : benign === 'NULL' ? ['NULL'] : ["'k7'", "'kx'", "'k('"];
      const evilCode = shown ? [`'${code(`c${row}`)}'`] : [`'c${row}'`, "'c1'", "'t2'", 'NULL', "'q'"];
      const boss = shown ? 1 + fixed(14, t, row, 'boss') : 1 + free(14, t, row, 'boss');
      const homeNow = shown || named('mayor') || [...w.rows.values()].includes('home') ? home : 1 + free(5, t, row, 'home');
      return [
        `(${id(row)}, ${value('tag', tag, evilText('tag', tag))}, ${value('n', String(n ?? 'NULL'), evilN)}, ${id(boss)}, ${homeNow === null ? 'NULL' : no(homeNow)}, ${isOpen(t, row)}, ${value('code', evilCode[0] as string, evilCode)}, ${shown && reads(t, 'tame', 'grand') ? text(row) : text(free(9, t, row, 'extra'))})`,
      ];
    });
    insert(`t_${t}`, rows);
  }
  insert(
    't_town',
    TOWNS.flatMap((row) => {
      const shown = admits('town', 'town', row) && reads('town');
      if (shown) see('town', row);
      const policyReads = [...w.rows.values()].includes('home') || named('mayor');
      if (!shown && !policyReads && free(4, 'town', row) === 0) return [];
      const rank = text(fixed(9, 'town', row, 'rank'));
      const name = shown ? `'name${row}'` : `'name${free(99, 'town', row)}'`;
      const ranks = shown && !isMasked('rank', ['town']) ? rank : (EVIL_TEXT[free(EVIL_TEXT.length, 'town', row, 'rank')] as string);
      const isCoded = shown && !w.masks.some((m) => m.prop === 'code' && m.concept === 'town');
      return [`(${no(row)}, ${name}, ${ranks}, ${isOpen('town', row)}, ${isCoded ? `'${code(`t${row}`)}'` : shown ? `'${code(`t${row}`)}'` : "'t1'"})`];
    }),
  );
  const codes = [...[1, 3, 5, 7, 9, 12].map((i) => `c${i}`), 't1', 't3'];
  insert(
    't_memo',
    [1, 2, 3, 4, 5, 6, 7, 8].flatMap((row, i) => {
      const shown = admits('memo', 'memo', row) && reads('memo');
      if (!shown && free(4, 'memo', row) === 0) return [];
      const txt = shown && !isMasked('txt', ['memo']) ? text(row) : shown ? ["'k7'", "'zz'", "'('"][free(3, 'memo', row)] : EVIL_TEXT[free(7, 'memo', row)];
      return [`(${row}, '${code(shown ? (codes[i] as string) : (codes[free(8, 'memo', row, 'ref')] as string))}', ${txt}, ${isOpen('memo', row)})`];
    }),
  );
  const isSeen = (c: string, key: number): boolean => visible.get(c)?.has(key) ?? false;
  // without a row policy on their concept, all values and links are shown with the row of any concept
  const guards = (c: string): boolean => ['being', 'elder', ...(c === 'being' ? ['cat', 'pet'] : [c])].some((g) => w.rows.has(g as Guarded));
  const belongs = (c: string, key: number): boolean => isSeen('being', key) && (!guards(c) || allowed.get(c)?.has(key) === true);
  insert(
    't_friend',
    Array.from({ length: 16 }, (_, i) => i).flatMap((i) => {
      const [a, b] = [1 + fixed(14, 'f', i), 1 + fixed(14, 'g', i)];
      if (belongs(w.linked[0], a) && belongs(w.linked[1], b)) return [`(${id(a)}, ${id(b)})`];
      if (free(3, 'f', i) === 0) return [];
      const hidden = IDS.filter((k) => !isSeen('being', k));
      const other = hidden.length === 0 ? a : (hidden[free(hidden.length, 'h', i)] as number);
      return [[`(${id(a)}, ${id(b)})`, `(${id(a)}, ${id(other)})`, `(${id(other)}, ${id(b)})`][hidden.length === 0 ? 0 : free(3, 'side', i)] as string];
    }),
  );
  const masksTag = w.masks.some((m) => m.prop === 'tag');
  const masksRank = w.masks.some((m) => m.prop === 'rank');
  insert(
    't_visit',
    Array.from({ length: 16 }, (_, i) => i).flatMap((i) => {
      const [a, b] = [1 + fixed(14, 'v', i), 1 + fixed(5, 'p', i)];
      const shown = belongs(w.linked[2], a) && isSeen('town', b);
      if (!shown && free(3, 'v', i) === 0) return [];
      const varied = (prop: string, masked: boolean): string => {
        const benign = text(fixed(9, 'v', i, prop));
        if (shown && !masked) return benign;
        if (!shown) return EVIL_TEXT[free(7, 'v', i, prop)] as string;
        return ["'k7'", "'kx'", "'k('"][free(3, 'v', i, prop)] as string;
      };
      return [`(${id(a)}, ${no(b)}, ${shown ? fixed(9, 'since', i) : free(9, 'since', i)}, ${varied('tag', masksTag)}, ${varied('rank', masksRank)})`];
    }),
  );
  const masksNick = isMasked('nick', w.nickInto === 'being' ? ['being'] : ['being', w.nickInto]);
  insert(
    't_nick',
    Array.from({ length: 18 }, (_, i) => i).flatMap((i) => {
      const key = 1 + fixed(14, 'nick', i);
      const shown = belongs(w.nickInto, key);
      if (!shown && free(3, 'nick', i) === 0) return [];
      const nick = shown && !masksNick ? text(fixed(9, 'nicks', i)) : shown ? ["'k7'", "'zz'", "'('"][free(3, 'nicks', i)] : EVIL_TEXT[free(7, 'nicks', i)];
      return [`(${id(key)}, ${nick})`];
    }),
  );
  return statements;
}
