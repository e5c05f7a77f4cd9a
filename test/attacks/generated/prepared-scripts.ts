/** Changes of the model of link-world.ts that an editor may prepare before rows, links or values are mapped, most of them valid, and the queries that are run after them. */
import fc from 'fast-check';
import { FIRM, PERSON } from './link-world.ts';

const KEY = 'PRIMARY KEY (a, b)';
const ELEMENTS = PERSON.elements;
const without = (i: number): readonly string[] => ELEMENTS.filter((_, j) => j !== i);
const being = (more: readonly string[], key = KEY): string =>
  `CREATE OR REPLACE CONCEPT being (${['a bigint', 'b bigint', 'nm string', ...more, key, 'LABEL (nm)'].join(', ')})`;
const person = (elements: readonly string[], parents = ' INHERITS (being)', properties = PERSON.properties): string =>
  `CREATE OR REPLACE CONCEPT person (${[properties, ...elements].join(', ')})${parents}`;
const firm = (elements: readonly string[], properties = FIRM.properties): string => `CREATE OR REPLACE CONCEPT firm (${[properties, ...elements].join(', ')})`;
const kin = (element: string): string => `CREATE OR REPLACE CONCEPT kin (${element}) INHERITS (being)`;

/** Parts of the elements of `person`, and what replaces them. */
const REPLACED: readonly (readonly [string, string])[] = [
  ['INVERSEOF known_by TRANSITIVE(3)', 'SYMMETRIC'],
  ['INVERSEOF known_by TRANSITIVE(3)', 'INVERSEOF known_by INCLUDES (friend)'],
  ['knows MULTIREFERENCE person', 'knows MULTIREFERENCE being'],
  ['knows MULTIREFERENCE person', 'knows MULTIREFERENCE senior'],
  ['person SYMMETRIC', 'person'],
  ['person SYMMETRIC', 'person SYMMETRIC INCLUDES (knows)'],
  ['person SYMMETRIC', 'being SYMMETRIC'],
  ['firm INVERSEOF employs', 'firm INVERSEOF employs INCLUDES (w2), CONSTRAINT w2 FOREIGN KEY (n) REFERENCES firm (q)'],
  ['MULTIREFERENCE firm', 'MULTIREFERENCE closed'],
  ['MULTIREFERENCE firm', 'MULTIREFERENCE thing'],
  ['KEY (boss_a, boss_b)', 'KEY (n, boss_b)'],
  ['KEY (boss_a, boss_b)', 'KEY (secret, boss_b)'],
  ['person (a, b) INVERSEOF staff', 'person (n, b) INVERSEOF staff'],
  ['person (a, b) INVERSEOF staff', 'person (secret, b) INVERSEOF staff'],
  ['person (a, b) INVERSEOF staff', 'being (a, b) INVERSEOF staff'],
  ['INCLUDES (knows, friend, boss)', 'INCLUDES (knows)'],
  ['INCLUDES (knows, friend, boss)', 'INCLUDES (knows, friend, "~boss")'],
  ['INCLUDES (knows, friend, boss)', 'INCLUDES ("~knows", r1), CONSTRAINT r1 FOREIGN KEY (secret, b) REFERENCES person (a, b)'],
];
const ADDED = [
  'r1 FOREIGN KEY (secret, b) REFERENCES person (a, b)',
  'r1 FOREIGN KEY (a, b) REFERENCES person (secret, b)',
  'r1 FOREIGN KEY (n, b) REFERENCES person (a, b)',
  'r1 FOREIGN KEY (n) REFERENCES firm (secret)',
  'r2 FOREIGN KEY (secret) REFERENCES firm (q)',
  'r1 FOREIGN KEY (calc) REFERENCES firm (q), calc bigint',
  'r1 MULTIREFERENCE firm INCLUDES (works)',
  'r1 MULTIREFERENCE kin INCLUDES (knows)',
];
const BELOW = ['', ' (secret bigint)', ' (CONSTRAINT tag MULTIVALUE string)', ' (k bigint, CONSTRAINT r1 FOREIGN KEY (k) REFERENCES person (n))'];
const VALUES = ['secret', 'n', 'a', 'COUNT("knows[person].a")', 'MAX("works[firm].secret")', 'COUNT(tag)'];
const CONDITIONS = ['n > 0', 'secret > 2', "grp = 'open'", '"works[firm].n" > 0', "tag LIKE 'h%'", '"round[person].n" > 1', 'false', 'a > 4'];

const CHANGES: readonly string[] = [
  ...ELEMENTS.map((_, i) => person(without(i))),
  ...REPLACED.map(([from, to]) => person(ELEMENTS.map((e) => e.replace(from, to)))),
  ...ADDED.map((r) => person([...ELEMENTS, `CONSTRAINT ${r}`])),
  person(ELEMENTS, ' INHERITS (being, own)'),
  person(ELEMENTS, ' INHERITS (kin)'),
  person([...ELEMENTS, KEY, 'LABEL (nm)'], '', `a bigint, b bigint, nm string, ${PERSON.properties}`),
  person([...ELEMENTS, 'LABEL (secret)']),
  ...[0, 1, 2, 3, 5].map((i) => `${being([ELEMENTS[i] as string])}; ${person(without(i))}`),
  ...[0, 1, 2, 5].map((i) => `${kin(ELEMENTS[i] as string)}; ${person(without(i))}`),
  being(['secret bigint', 'n bigint', 'grp string']),
  being(['CONSTRAINT tag MULTIVALUE string']),
  being(['CONSTRAINT r1 FOREIGN KEY (a, b) REFERENCES person (secret, b)']),
  being([], 'PRIMARY KEY (b, a)'),
  being([], 'PRIMARY KEY (a)'),
  firm([]),
  firm([...FIRM.elements, 'CONSTRAINT r1 FOREIGN KEY (q) REFERENCES firm (secret)']),
  firm([...FIRM.elements, 'CONSTRAINT r1 FOREIGN KEY (q) REFERENCES person (secret)']),
  firm(FIRM.elements, FIRM.properties.replace('PRIMARY KEY (q)', 'PRIMARY KEY (n)')),
  firm(FIRM.elements, FIRM.properties.replace('LABEL (nm)', 'LABEL (secret)')),
  ...['kin', 'new1', 'new2', 'own'].flatMap((c) =>
    BELOW.flatMap((e) => ['being', 'person', 'senior', 'firm'].map((p) => `CREATE OR REPLACE CONCEPT ${c}${e} INHERITS (${p})`)),
  ),
  ...['calc', 'k', 'reach', 'size', 'n', 'boss_a', 'q'].flatMap((p) => VALUES.map((v) => `CREATE OR REPLACE PROPERTY ${p} bigint AS SELECT ${v}`)),
  ...['n > 2', 'secret > 0', "nm = 'open'", 'true'].map((c) => `CREATE OR REPLACE PROPERTY visible boolean AS SELECT ${c}`),
  "CREATE OR REPLACE PROPERTY grp string AS SELECT 'open'",
  'CREATE OR REPLACE PROPERTY grp string AS SELECT nm',
  ...['senior', 'busy', 'shut'].flatMap((c) => CONDITIONS.map((w) => `CREATE OR REPLACE CONCEPT ${c} INHERITS (person) FROM dsvc.person WHERE ${w}`)),
  ...['shut', 'closed'].flatMap((c) => ['being', 'own'].map((p) => `CREATE OR REPLACE CONCEPT ${c} INHERITS (${p})`)),
  'CREATE OR REPLACE CONCEPT closed INHERITS (firm) FROM dsvc.firm WHERE q > 5',
  'CREATE OR REPLACE MEASURE head bigint AS SELECT COUNT(n) WHERE secret > 3',
  'DROP CONCEPT senior',
];
const change = fc.constantFrom(...CHANGES);

/** A script of one or two changes. */
export const script: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: change },
  { weight: 1, arbitrary: fc.tuple(change, change).map((both) => both.join('; ')) },
);

const PATHS = [
  'knows[person].a',
  'knows[person]_note',
  'knows[person]_secret',
  'known_by[person].a',
  'friend[person].a',
  'works[firm].q',
  'works[firm]_secret',
  'round[person].a',
  'round[person*].nm',
  'boss[person].nm',
  'boss[person*].a',
  'staff[person].a',
  'r1[thing].entity_id',
  'r2[thing].entity_id',
  '~r1[thing].entity_id',
  'tag',
  'ftag',
  'calc',
  'reach',
  'k',
  'visible',
];
const OF_FIRM = ['employs[person].a', 'employs[person]_secret', '~works[person].tag', '~r1[thing].entity_id', '~r2[thing].entity_id', 'ftag', 'size', 'tag'];
const column = (concept: string, path: string): string => `SELECT i.entity_id, i."${path}" AS v FROM dsvc.${concept} i ORDER BY 1, 2`;

/** Run after each script, valid or not. */
export const PROBES: readonly string[] = [
  ...['being', 'person', 'senior', 'busy', 'shut', 'kin', 'own', 'new1', 'new2', 'firm', 'closed', 'thing'].map(
    (c) => `SELECT * FROM dsvc.${c} i ORDER BY i.entity_id, i::text`,
  ),
  ...['person', 'being', 'kin', 'new1'].flatMap((c) => PATHS.map((p) => column(c, p))),
  ...OF_FIRM.map((p) => column('firm', p)),
  'SELECT * FROM vsvc.pairs i ORDER BY i::text',
  'SELECT SUM("measure.head") AS m FROM dsvc.person',
];
