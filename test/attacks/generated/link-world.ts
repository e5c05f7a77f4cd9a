/** Tables of two kinds of rows with links between them, of which policies hide a part, and a model with every kind of relationship over them. */

/** Visible rows have these keys, hidden ones the others. */
const PEOPLE = { visible: [1, 2, 3, 4], hidden: [5, 6, 7, 8] };
const FIRMS = { visible: [1, 2, 3], hidden: [4, 5, 6] };

/** A random number below `of`, determined by the seed and by what it is for. */
function pick(seed: number, ...of: readonly number[]): number {
  let x = seed >>> 0;
  for (const n of of) {
    x = Math.imul((x ^ (n + 0x9e3779b9)) >>> 0, 0x45d9f3b) >>> 0;
    x = (x ^ (x >>> 15)) >>> 0;
  }
  return x % (of.at(-1) as number);
}

/** The second part of a person's key. */
const b = (a: number): number => a % 3;
const person = (seed: number, a: number): string => {
  const isHidden = PEOPLE.hidden.includes(a);
  const boss = isHidden ? 1 + pick(seed, a, 1, 8) : 1 + (a % 4);
  const shown = isHidden ? [`'shut'`, `'h${pick(seed, a, 2, 9)}'`, pick(seed, a, 3, 9)] : [`'open'`, `'p${a}'`, a];
  return `(${[a, b(a), ...shown, pick(seed, a, 4, 7), boss, b(boss)].join(', ')})`;
};
const firm = (seed: number, q: number): string => {
  const isHidden = FIRMS.hidden.includes(q);
  const shown = isHidden ? [`'shut'`, `'h${pick(seed, q, 5, 9)}'`, pick(seed, q, 6, 9)] : [`'open'`, `'f${q}'`, q];
  return `(${[q, ...shown, pick(seed, q, 7, 7)].join(', ')})`;
};
const links = (seed: number, left: typeof PEOPLE, right: typeof PEOPLE, kind: number): readonly (readonly [number, number])[] =>
  [...left.visible, ...left.hidden].flatMap((x) =>
    [...right.visible, ...right.hidden].flatMap((y) => {
      const isHidden = left.hidden.includes(x) || right.hidden.includes(y);
      return pick(isHidden ? seed : 4711, x, y, kind, 3) === 0 ? [[x, y] as const] : [];
    }),
  );

/** Which rows change with the seed: those that policies hide, or all of one kind and the links to them. */
export type Hidden = 'some' | 'firms' | 'people';

/** The same visible rows, with other hidden rows, hidden links and masked values. */
export function filled(seed: number, hidden: Hidden = 'some'): readonly string[] {
  if (hidden !== 'some') return apart(seed, hidden);
  const people = [...PEOPLE.visible, ...PEOPLE.hidden];
  const firms = [...FIRMS.visible, ...FIRMS.hidden];
  const tags = (kind: number, of: readonly number[], hidden: readonly number[], row: (id: number, tag: string) => string): string =>
    of.flatMap((id) => [1, 2].map((i) => row(id, hidden.includes(id) ? `'h${pick(seed, id, i, kind, 9)}'` : `'t${id}${i}'`))).join(', ');
  const both = (seed: number, kind: number) =>
    links(seed, PEOPLE, PEOPLE, kind).map(([x, y]) => `(${[x, b(x), y, b(y), x * 10 + y, pick(seed, x, y, kind, 8)].join(', ')})`);
  return [
    'TRUNCATE lk.t_person, lk.t_firm, lk.t_knows, lk.t_friend, lk.t_works, lk.t_tag, lk.t_ftag',
    `INSERT INTO lk.t_person VALUES ${people.map((a) => person(seed, a)).join(', ')}`,
    `INSERT INTO lk.t_firm VALUES ${firms.map((q) => firm(seed, q)).join(', ')}`,
    `INSERT INTO lk.t_knows VALUES ${both(seed, 11).join(', ')}`,
    `INSERT INTO lk.t_friend VALUES ${both(seed, 13).join(', ')}`,
    `INSERT INTO lk.t_works VALUES ${links(seed, PEOPLE, FIRMS, 17)
      .map(([x, q]) => `(${[x, b(x), q, x * 10 + q, pick(seed, x, q, 19, 8)].join(', ')})`)
      .join(', ')}`,
    `INSERT INTO lk.t_tag VALUES ${tags(23, people, PEOPLE.hidden, (a, tag) => `(${a}, ${b(a)}, ${tag})`)}`,
    `INSERT INTO lk.t_ftag VALUES ${tags(29, firms, FIRMS.hidden, (q, tag) => `(${q}, ${tag})`)}`,
  ];
}

/** All rows of one kind, and the links to them, depend on the seed; those of the other kind and the links between them do not. */
function apart(seed: number, hidden: Hidden): readonly string[] {
  const [fixed, changed] = [filled(4711), filled(seed)];
  const ofFirms = /lk.t_(firm|ftag|works) /;
  const ofPeople = /lk.t_(person|knows|friend|tag|works) /;
  const all = hidden === 'firms' ? ofFirms : ofPeople;
  // also the rows that are the same for all seeds
  const other = (statement: string): string => statement.replaceAll(/'(open|f|p|t)(\d*)'/g, (_m, a, n) => `'${a}${n}${seed}'`);
  return fixed.map((statement, i) => (all.test(statement) && i > 0 ? other(changed[i] as string) : statement));
}

export const TABLES = [
  'CREATE SCHEMA lk',
  'CREATE TABLE lk.t_person (a bigint, b bigint, grp text, nm text, n bigint, secret bigint, boss_a bigint, boss_b bigint, PRIMARY KEY (a, b))',
  'CREATE TABLE lk.t_firm (q bigint PRIMARY KEY, grp text, nm text, n bigint, secret bigint)',
  ...['knows', 'friend'].map((t) => `CREATE TABLE lk.t_${t} (a1 bigint, b1 bigint, a2 bigint, b2 bigint, note bigint, secret bigint)`),
  'CREATE TABLE lk.t_works (a bigint, b bigint, q bigint, note bigint, secret bigint)',
  'CREATE TABLE lk.t_tag (a bigint, b bigint, tag text)',
  'CREATE TABLE lk.t_ftag (q bigint, ftag text)',
];

/** The concept `person`: its properties, and declarations that an editor may leave out. */
export const PERSON = {
  properties: 'grp string, n bigint, secret bigint, boss_a bigint, boss_b bigint',
  elements: [
    'CONSTRAINT knows MULTIREFERENCE person INVERSEOF known_by TRANSITIVE(3)',
    'CONSTRAINT friend MULTIREFERENCE person SYMMETRIC',
    'CONSTRAINT works MULTIREFERENCE firm INVERSEOF employs',
    'CONSTRAINT boss FOREIGN KEY (boss_a, boss_b) REFERENCES person (a, b) INVERSEOF staff TRANSITIVE(3)',
    'CONSTRAINT round MULTIREFERENCE person INCLUDES (knows, friend, boss) TRANSITIVE(2)',
    'CONSTRAINT tag MULTIVALUE string',
    'head MEASURE bigint',
    'reach bigint',
    'visible boolean',
  ],
};
export const FIRM = {
  properties: 'q bigint, nm string, grp string, n bigint, secret bigint, PRIMARY KEY (q), LABEL (nm)',
  elements: ['CONSTRAINT ftag MULTIVALUE string', 'size bigint', 'head MEASURE bigint'],
};

export const MODEL = `CREATE PROPERTY reach bigint AS SELECT COUNT("knows[person].works[firm].q");
CREATE PROPERTY size bigint AS SELECT COUNT("employs[person].a");
CREATE PROPERTY visible boolean AS SELECT grp = 'open';
CREATE PROPERTY calc bigint AS SELECT n + 1;
CREATE PROPERTY text string AS SELECT nm;
CREATE PROPERTY k bigint;
CREATE MEASURE head bigint AS SELECT COUNT(n);
CREATE MEASURE sum_n bigint AS SELECT SUM(n);
CREATE CONCEPT being (a bigint, b bigint, nm string, PRIMARY KEY (a, b), LABEL (nm));
CREATE CONCEPT firm (${[FIRM.properties, ...FIRM.elements].join(', ')});
CREATE CONCEPT person (${[PERSON.properties, ...PERSON.elements].join(', ')}) INHERITS (being);
CREATE CONCEPT senior INHERITS (person) FROM dsvc.person WHERE n > 1;
CREATE CONCEPT busy INHERITS (person) FROM dsvc.person WHERE "works[firm].n" > 1;
CREATE CONCEPT shut INHERITS (person) FROM dsvc.person WHERE grp = 'shut';
CREATE CONCEPT closed INHERITS (firm) FROM dsvc.firm WHERE grp = 'shut';
CREATE CONCEPT kin INHERITS (being);
CREATE CONCEPT own (own_a bigint, own_b bigint, PRIMARY KEY (own_a, own_b));
CREATE CONCEPT new1 INHERITS (being);
CREATE CONCEPT new2 (k bigint) INHERITS (person);
CREATE MAPPING m_person INTO (person) AS SELECT a, b, grp, nm, n, secret, boss_a, boss_b FROM lk.t_person;
CREATE MAPPING m_firm INTO (firm) AS SELECT q, grp, nm, n, secret FROM lk.t_firm;
CREATE MAPPING m_tag INTO (person) MULTIVALUE tag AS SELECT a, b, tag FROM lk.t_tag;
CREATE MAPPING m_ftag INTO (firm) MULTIVALUE ftag AS SELECT q, ftag FROM lk.t_ftag;
CREATE MAPPING m_knows (CONSTRAINT knows FOREIGN KEY (a2, b2) REFERENCES person (a, b), CONSTRAINT known_by FOREIGN KEY (a1, b1) REFERENCES person (a, b)) AS SELECT a1, b1, a2, b2, note, secret FROM lk.t_knows;
CREATE MAPPING m_friend (CONSTRAINT friend FOREIGN KEY (a2, b2) REFERENCES person (a, b), CONSTRAINT \`~friend\` FOREIGN KEY (a1, b1) REFERENCES person (a, b)) AS SELECT a1, b1, a2, b2, note, secret FROM lk.t_friend;
CREATE MAPPING m_works (CONSTRAINT works FOREIGN KEY (q) REFERENCES firm (q), CONSTRAINT employs FOREIGN KEY (a, b) REFERENCES person (a, b)) AS SELECT a, b, q, note, secret FROM lk.t_works;
CREATE VIEW pairs AS SELECT a, "knows[person].a" AS other, "knows[person]_note" AS note FROM dsvc.person`;

const MASK = 'CREATE POLICY veil ON PROPERTY secret MASK NULL';
const rows = (name: string, concept: string, condition: string): string => `CREATE POLICY ${name} ON CONCEPT ${concept} TO PUBLIC USING (${condition})`;
const OPEN_FIRMS = rows('firms', 'firm', 'q < 4');

/** The model for callers who may query one kind of rows: what they may read does not depend on the other kind. */
export const APART = MODEL.replace('COUNT("knows[person].works[firm].q")', 'COUNT("knows[person].a")')
  .replace('COUNT("employs[person].a")', 'COUNT(ftag)')
  .replace('"works[firm].n" > 1', '"friend[person].n" > 1');

/** Policies that hide the same rows, links and values. */
export const POLICIES: readonly (readonly [string, readonly string[]])[] = [
  ['comparisons', [rows('few', 'person', 'a < 5'), OPEN_FIRMS, MASK]],
  ['a policy of an ancestor', [rows('few', 'being', 'a < 5'), OPEN_FIRMS, MASK]],
  ['a calculated property', [rows('few', 'person', 'visible'), OPEN_FIRMS, MASK]],
  [
    'logic concepts',
    ['CREATE POLICY few ON CONCEPT shut TO USER nobody USING (true)', 'CREATE POLICY firms ON CONCEPT closed TO USER nobody USING (true)', MASK],
  ],
  ['a sub-query', [rows('few', 'person', "a IN (SELECT x.a FROM svc.person x WHERE x.grp = 'open')"), OPEN_FIRMS, MASK]],
  [
    'masks of concepts',
    [
      rows('few', 'person', 'a < 5'),
      OPEN_FIRMS,
      'CREATE POLICY veil ON PROPERTY secret OF CONCEPT person MASK NULL',
      'CREATE POLICY veil2 ON PROPERTY secret OF CONCEPT firm MASK WITH (0)',
    ],
  ],
];
