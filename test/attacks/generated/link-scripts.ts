/** Random scripts of an editor over the model of link-world.ts, and the queries that are run after them. */
import fc from 'fast-check';
import { FIRM, PERSON } from './link-world.ts';

const from = <T>(...of: T[]): fc.Arbitrary<T> => fc.constantFrom(...of);

const KEYS = ['a, b', 'b, a', 'boss_a, boss_b', 'own_a, own_b', 'n, b', 'secret, b', 'k, b'];
const ONE = ['q', 'n', 'a', 'b', 'own_a', 'secret', 'boss_a', 'k'];
const CONCEPTS = ['being', 'person', 'senior', 'busy', 'shut', 'kin', 'own', 'new1', 'new2', 'firm', 'closed'];

const rel = fc
  .tuple(
    from('r1', 'r2'),
    fc.boolean(),
    from(...KEYS),
    from(...KEYS),
    from(...ONE),
    from(...ONE),
    from(...CONCEPTS, 'thing'),
    from(
      '',
      ' SYMMETRIC',
      ' TRANSITIVE',
      ' SYMMETRIC TRANSITIVE(2)',
      ' INVERSEOF back',
      ' INCLUDES (knows, friend)',
      ' INCLUDES (works)',
      ' INCLUDES ("~employs", "~works")',
      ' INCLUDES (r1, r2) TRANSITIVE',
      ' INCLUDES (round, "~knows")',
    ),
  )
  .map(([name, isPair, k1, k2, o1, o2, target, more]) =>
    isPair
      ? `CONSTRAINT ${name} FOREIGN KEY (${k1}) REFERENCES ${target} (${k2})${more}`
      : `CONSTRAINT ${name} FOREIGN KEY (${o1}) REFERENCES ${target} (${o2})${more}`,
  );
const multi = fc
  .tuple(
    from('knows', 'friend', 'works', 'known_by', 'employs', 'round', 'r1', 'r2'),
    from(...CONCEPTS, 'thing'),
    from(
      '',
      ' INVERSEOF back',
      ' SYMMETRIC',
      ' INVERSEOF known_by',
      ' INVERSEOF employs',
      ' INCLUDES (knows)',
      ' INCLUDES (friend, works)',
      ' INCLUDES ("~knows", boss)',
      ' TRANSITIVE',
    ),
  )
  .map(([name, target, more]) => `CONSTRAINT ${name} MULTIREFERENCE ${target}${more}`);
const element = fc.oneof(
  { weight: 3, arbitrary: rel },
  { weight: 3, arbitrary: multi },
  {
    weight: 4,
    arbitrary: from(
      'CONSTRAINT tag MULTIVALUE string',
      'CONSTRAINT ftag MULTIVALUE string',
      'n bigint',
      'grp string',
      'secret bigint',
      'q bigint',
      'a bigint',
      'b bigint',
      'k bigint',
      'reach bigint',
      'size bigint',
      'calc bigint',
      'text string',
      'own_a bigint',
      'own_b bigint',
      'boss_a bigint, boss_b bigint',
      'head MEASURE bigint',
      'sum_n MEASURE bigint',
      'visible boolean',
      'note bigint',
    ),
  },
);
const nameOf = (e: string): string =>
  e
    .split(' ')
    .slice(0, 2)
    .join(' ')
    .replace(/ (bigint|string|boolean|MEASURE)$/, '');
const elements = fc.uniqueArray(element, { maxLength: 4, selector: nameOf });
const key = fc.oneof(
  { weight: 20, arbitrary: from('') },
  from(
    'PRIMARY KEY (a, b)',
    'PRIMARY KEY (q)',
    'PRIMARY KEY (own_a, own_b)',
    'PRIMARY KEY (b)',
    'PRIMARY KEY (a)',
    'LABEL (secret)',
    'LABEL (text)',
    'LABEL (nm)',
  ),
);
const condition = from(
  'n > 1',
  'secret > 2',
  'n > 0',
  '"works[firm].n" > 0',
  '"knows[person].n" > 0',
  '"~knows[person].secret" > 1',
  '"works[firm]_note" > 12',
  '"works[firm]_secret" > 2',
  "tag = 't11'",
  "tag LIKE 'h%'",
  '"friend[person].tag" IS NOT NULL',
  'a > 0',
  "grp = 'open'",
  '"round[person].n" > 1',
  'EXISTS (SELECT 1 FROM dsvc.person x WHERE x."knows[person].n" > 4)',
  'reach > 1',
);
/** Mostly concepts that have the properties in conditions. */
const SOURCES = fc.oneof({ weight: 5, arbitrary: from('person', 'senior', 'busy', 'new2', 'shut') }, from(...CONCEPTS));
const parents = from(
  'being',
  'person',
  'senior',
  'busy',
  'kin',
  'own',
  'firm',
  'closed',
  'shut',
  'being, own',
  'person, own',
  'person, firm',
  'kin, own',
  'new1',
  'new1, being',
  '',
);
/** A list of elements, with the properties that relationships in it lead from. */
const withSources = (parts: readonly string[], known: string): readonly string[] => {
  const names = new Set([...known.split(/[ ,]+/), ...parts.map(nameOf)]);
  const sources = parts.flatMap((part) => /FOREIGN KEY \(([^)]*)\) REFERENCES/.exec(part)?.[1]?.split(', ') ?? []);
  return [...parts, ...[...new Set(sources)].filter((name) => !names.has(name)).map((name) => `${name} bigint`)];
};
const list = (parts: readonly string[]): string => (parts.filter(Boolean).length === 0 ? '' : ` (${parts.filter(Boolean).join(', ')})`);
const concept = fc
  .tuple(from('new1', 'new2', 'kin', 'own', 'senior', 'busy', 'shut'), elements, key, parents, from('svc', 'dsvc'), SOURCES, condition, fc.boolean())
  .map(([name, parts, k, of, schema, source, c, isLogic]) => {
    const body = list([...withSources(parts, ''), k]) || (of === '' ? ' (own_a bigint)' : '');
    return `CREATE OR REPLACE CONCEPT ${name}${body}${of === '' ? '' : ` INHERITS (${of})`}${isLogic ? ` FROM ${schema}.${source} WHERE ${c}` : ''}`;
  });
/** A concept without some of its declarations, and with others. */
const replaced = (name: string, { properties, elements: known }: typeof PERSON, of: fc.Arbitrary<string>) =>
  fc.tuple(fc.subarray([...known], { minLength: 2 }), fc.boolean(), elements, of).map(([some, isWhole, more, parent]) => {
    const kept = isWhole ? known : some;
    const names = new Set([...properties.split(', ').map(nameOf), ...kept.map(nameOf)]);
    const added = more.filter((m) => !m.split(', ').some((e) => names.has(nameOf(e))));
    return `CREATE OR REPLACE CONCEPT ${name} (${[properties, ...kept, ...withSources(added, properties)].join(', ')})${parent === '' ? '' : ` INHERITS (${parent})`}`;
  });
const person = replaced('person', PERSON, from('being', 'being', 'being', 'being, own', 'being, new1', 'kin', 'own'));
const firm = replaced('firm', FIRM, from('', '', '', 'own', 'being', 'new1'));
const being = fc
  .tuple(elements, from('PRIMARY KEY (a, b)', 'PRIMARY KEY (a, b)', 'PRIMARY KEY (a)', 'PRIMARY KEY (b, a)', 'PRIMARY KEY (nm)', ''))
  .map(
    ([more, k]) =>
      `CREATE OR REPLACE CONCEPT being (${['a bigint', 'b bigint', 'nm string', ...more.filter((m) => !['a', 'b'].includes(nameOf(m))), k].filter(Boolean).join(', ')})`,
  );
const value = from(
  '"works[firm].n"',
  'MAX("works[firm].n")',
  'MAX("works[firm].secret")',
  'MAX("works[firm]_note")',
  'MAX("works[firm]_secret")',
  'COUNT("works[firm]_q")',
  'SUM("knows[person]_note")',
  'COUNT("knows[person].a")',
  'COUNT("knows[person*].a")',
  'COUNT("~knows[person].a")',
  'COUNT("friend[person].a")',
  'COUNT("round[person*].a")',
  'MAX("employs[person].n")',
  'MAX("employs[person]_note")',
  'COUNT("~works[person].tag")',
  'COUNT(tag)',
  'COUNT("boss[person*].tag")',
  'MAX("staff[person].secret")',
  'COUNT("r1[person].a")',
  'COUNT("r1[firm].q")',
  'COUNT("r2[kin].a")',
  'n + 1',
  'secret',
  'secret % 2',
  'length(entity_label)',
  'length(nm)',
);
const piece = fc
  .tuple(from('calc', 'k', 'own_a', 'own_b', 'reach', 'size', 'n', 'boss_a', 'q', 'a', 'visible', 'secret', 'tag', 'note'), value, condition)
  .chain(([name, v, c]) =>
    from(
      `CREATE OR REPLACE PROPERTY ${name} bigint AS SELECT ${v}`,
      `CREATE OR REPLACE PROPERTY ${name} bigint AS SELECT ${v}`,
      `CREATE OR REPLACE PROPERTY ${name} bigint`,
      `CREATE OR REPLACE PROPERTY text string AS SELECT nm`,
      `CREATE OR REPLACE PROPERTY text string AS SELECT string_agg(tag, ',' ORDER BY tag)`,
      `CREATE OR REPLACE PROPERTY visible boolean AS SELECT ${c}`,
      `CREATE OR REPLACE MEASURE head bigint AS SELECT COUNT(n) WHERE ${c}`,
      `CREATE OR REPLACE MEASURE sum_n bigint AS SELECT SUM(n) WHERE ${c}`,
    ),
  );
const view = fc
  .tuple(
    from(...CONCEPTS),
    from(
      'works[firm].q',
      'works[firm]_note',
      'knows[person]_secret',
      'knows[person].tag',
      'round[person].nm',
      'r1[person].nm',
      'friend[person].n',
      'employs[person].nm',
      'known_by[person].secret',
      'tag',
      'ftag',
    ),
    condition,
  )
  .chain(([c, p, when]) =>
    from(
      `CREATE OR REPLACE VIEW pairs AS SELECT entity_id, "${p}" AS v FROM dsvc.${c}`,
      `CREATE OR REPLACE VIEW pairs AS SELECT count(*) AS n, max("${p}") AS v FROM dsvc.${c} WHERE ${when}`,
    ),
  );
const other = from(
  'DROP MAPPING m_tag',
  'DROP MAPPING m_knows',
  'DROP MAPPING m_works',
  'DROP CONCEPT kin',
  'DROP VIEW pairs',
  'DROP CONCEPT senior',
  'DROP PROPERTY reach',
  'DROP MAPPING m_person; DROP MAPPING m_knows',
);

/** A script of one to four statements. */
export const script: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: concept },
      { weight: 5, arbitrary: person },
      { weight: 2, arbitrary: firm },
      { weight: 3, arbitrary: being },
      { weight: 4, arbitrary: piece },
      { weight: 1, arbitrary: view },
      { weight: 1, arbitrary: other },
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((statements) => statements.join(';\n'));

const PATHS = [
  'knows[person].a',
  'knows[person]_note',
  'knows[person]_secret',
  'knows[person*].nm',
  'known_by[person].a',
  'known_by[person]_note',
  '~knows[being].a',
  'friend[person].a',
  'friend[person*].nm',
  'works[firm].q',
  'works[firm]_note',
  'works[firm]_secret',
  '~employs[person].a',
  'round[person].a',
  'round[person*].nm',
  'boss[person].nm',
  'boss[person*].a',
  'staff[person].a',
  'r1[thing].entity_id',
  'r2[thing].entity_id',
  'r1[person].a',
  'r2[person].tag',
  'r1[firm].nm',
  'r2[kin].nm',
  'r1[kin].tag',
  'tag',
  'ftag',
  'calc',
  'reach',
  'text',
  'k',
  'knows[kin].nm',
  'works[thing].entity_id',
  'friend[thing].entity_id',
  'round[thing].entity_id',
  'round[firm].nm',
];
/** Run after each script, valid or not. */
export const PROBES: readonly string[] = [
  ...[...CONCEPTS, 'thing'].flatMap((c) => [`SELECT * FROM dsvc.${c} i ORDER BY i.entity_id, i::text`, `SELECT count(*) AS n FROM svc.${c}`]),
  ...['person', 'kin', 'own', 'new1', 'new2', 'being', 'senior', 'busy'].flatMap((c) =>
    PATHS.map((p) => `SELECT i.entity_id, i."${p}" AS v FROM dsvc.${c} i ORDER BY 1, 2`),
  ),
  ...[
    'employs[person].a',
    'employs[person]_note',
    'employs[person]_secret',
    '~works[person].tag',
    'back[thing].entity_id',
    '~r1[thing].entity_id',
    '~r2[thing].entity_id',
    'ftag',
    'size',
    'calc',
    'r1[thing].entity_id',
  ].map((p) => `SELECT i.entity_id, i."${p}" AS v FROM dsvc.firm i ORDER BY 1, 2`),
  ...['person', 'firm', 'new1', 'kin', 'own'].flatMap((c) => ['head', 'sum_n'].map((m) => `SELECT SUM("measure.${m}") AS m FROM dsvc.${c}`)),
  'SELECT * FROM vsvc.pairs i ORDER BY i::text',
];
