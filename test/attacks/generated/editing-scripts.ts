/** Random scripts of an editor over the model of hidden-values.ts, and the queries that are run after them. */
import fc from 'fast-check';
import { condition, type Name, value } from './failing-expressions.ts';
import { ITEM, VIEWS } from './hidden-values.ts';

const from = <T>(...of: T[]): fc.Arbitrary<T> => fc.constantFrom(...of);
/** Names of columns without an alias, as in definitions of a model. */
const BARE: Name = (column) => column;
const I: Name = (column) => `i.${column}`;

const PARENTS = ['entry', 'item', 'big', 'shut', 'odd', 'box', 'own', 'entry, box', 'big, shut', 'own, item'];
const SOURCES = ['dsvc.item', 'svc.item', 'dsvc.big', 'dsvc.shut', 'dsvc.entry', 'dsvc.box', 'dsvc.own'];
const REPLACED = ['big', 'odd', 'shut', 'own', 'new1', 'new2'];

/** Elements that an editor adds to a concept, or removes from it. */
const MORE = [
  'own_p bigint',
  'inverse decimal',
  'secret bigint',
  'note string',
  'n bigint',
  'CONSTRAINT tag MULTIVALUE string',
  'CONSTRAINT by_secret FOREIGN KEY (secret) REFERENCES item (id) INVERSEOF secret_of',
  'CONSTRAINT by_n FOREIGN KEY (n) REFERENCES box (box_id) INVERSEOF n_of',
  'CONSTRAINT by_id FOREIGN KEY (id) REFERENCES item (n) INVERSEOF id_of',
  'CONSTRAINT by_own FOREIGN KEY (own_p) REFERENCES item (id) INVERSEOF own_of',
  'CONSTRAINT pairs FOREIGN KEY (next_id) REFERENCES item (id) SYMMETRIC',
  'CONSTRAINT own_pairs FOREIGN KEY (own_p) REFERENCES item (id) SYMMETRIC',
  'CONSTRAINT around FOREIGN KEY (next_id) REFERENCES item (id) INCLUDES (next, "~next") TRANSITIVE(2)',
  'CONSTRAINT any_box FOREIGN KEY (own_p) REFERENCES box (box_id) INCLUDES (lies_in)',
  'inverted MEASURE decimal',
  'tally MEASURE bigint',
];

/** Values of rows to which paths lead. */
const FAR = [
  '"next[item].secret"',
  'MAX("before[item].secret")',
  'MAX("next[item*2].secret")',
  'COUNT("next[item*3].note")',
  'COUNT("pairs[item].id")',
  'MAX("around[item].secret")',
  'COUNT("around[item*].id")',
  'MAX("lies_in[box].has_item[item].secret")',
  'length("next[item].note")',
  'length("lies_in[box].state")',
  'length(entity_label)',
];

const concept: fc.Arbitrary<string> = fc
  .tuple(from(...REPLACED), from(...PARENTS), fc.subarray(MORE, { maxLength: 2 }), from(...SOURCES), condition(), fc.boolean())
  .map(([name, parents, more, source, c, isLogic]) => {
    const elements = more.length === 0 ? '' : ` (${more.join(', ')})`;
    return `CREATE OR REPLACE CONCEPT ${name}${elements} INHERITS (${parents})${isLogic ? ` FROM ${source} WHERE ${c(BARE)}` : ''}`;
  });

const item: fc.Arbitrary<string> = fc
  .tuple(
    fc.subarray(MORE, { maxLength: 3 }),
    fc.subarray([...ITEM.elements]),
    fc.boolean(),
    from('INHERITS (entry)', 'INHERITS (entry, own)', 'INHERITS (entry, box)', 'INHERITS (own)', ''),
    fc.oneof(
      { weight: 4, arbitrary: from('TRANSITIVE(3)') },
      from('', 'TRANSITIVE(5)', 'SYMMETRIC', 'SYMMETRIC TRANSITIVE(3)', 'TRANSITIVE(3) INCLUDES (pairs)'),
    ),
  )
  .map(([more, some, isWhole, inherits, steps]) => {
    const kept = (isWhole ? ITEM.elements : some).map((e) => e.replace('TRANSITIVE(3)', steps));
    const added = more.filter((m) => !kept.some((k) => k.split(' ').slice(0, 2).join(' ') === m.split(' ').slice(0, 2).join(' ')));
    return `CREATE OR REPLACE CONCEPT item (${[ITEM.properties, ...kept, ...added].join(', ')}) ${inherits}`;
  });

const entry: fc.Arbitrary<string> = fc
  .subarray(['id bigint', 'state string', ...MORE], { minLength: 1, maxLength: 4 })
  .chain((elements) =>
    from('PRIMARY KEY (id), LABEL (state)', 'PRIMARY KEY (id)', 'PRIMARY KEY (state)').map(
      (key) => `CREATE OR REPLACE CONCEPT entry (${elements.join(', ')}, ${key})`,
    ),
  );

const pieces: fc.Arbitrary<string> = fc
  .tuple(value(), condition(), from('inverse', 'far', 'visible', 'own_p', 'new_p'), from(...FAR))
  .chain(([v, c, name, far]) =>
    from(
      `CREATE OR REPLACE PROPERTY own_p bigint AS SELECT ${far}`,
      `CREATE OR REPLACE PROPERTY own_p bigint AS SELECT coalesce(${far}, 0) + 1`,
      `CREATE OR REPLACE PROPERTY lowest bigint AS SELECT ${far}`,
      `CREATE PROPERTY IF NOT EXISTS visible boolean AS SELECT true`,
      `CREATE OR REPLACE PROPERTY ${name} string AS SELECT ${v(BARE)}`,
      `CREATE OR REPLACE PROPERTY ${name} boolean AS SELECT ${c(BARE)}`,
      `CREATE OR REPLACE PROPERTY visible boolean AS SELECT ${c(BARE)}`,
      `CREATE OR REPLACE PROPERTY visible boolean AS SELECT true`,
      `CREATE OR REPLACE PROPERTY own_p bigint AS SELECT length(${v(BARE)})`,
      `CREATE OR REPLACE PROPERTY own_p bigint AS SELECT secret`,
      `CREATE OR REPLACE PROPERTY state string AS SELECT 'open'`,
      `CREATE OR REPLACE PROPERTY own_p bigint`,
      `CREATE OR REPLACE MEASURE inverted decimal AS SELECT sum(length(${v(BARE)})) WHERE ${c(BARE)}`,
      `CREATE OR REPLACE MEASURE tally bigint AS SELECT count(id) WHERE ${c(BARE)}`,
      `CREATE OR REPLACE MEASURE tally bigint AS SELECT max(length(${v(BARE)}))`,
    ),
  );

const view: fc.Arbitrary<string> = fc
  .tuple(from(...VIEWS), from(...SOURCES, 'vsvc.items', 'vsvc.casts', 'svc.thing'), value(true), condition(true))
  .chain(([name, source, v, c]) =>
    from(
      `CREATE OR REPLACE VIEW ${name} AS SELECT * FROM ${source} i`,
      `CREATE OR REPLACE VIEW ${name} AS SELECT i.id, ${v(I)} AS n FROM ${source} i`,
      `CREATE OR REPLACE VIEW ${name} AS SELECT i.id, i.state FROM ${source} i WHERE ${c(I)}`,
      `CREATE OR REPLACE VIEW ${name} AS SELECT count(*) AS n, max(${v(I)}) AS m FROM ${source} i`,
      `CREATE OR REPLACE VIEW ${name} AS SELECT box_id FROM svc.box`,
      `CREATE OR REPLACE VIEW ${name} AS SELECT i.box_id FROM dsvc.item i WHERE ${c(I)}`,
      `CREATE OR REPLACE VIEW ${name} AS SELECT id, state FROM gen.t_item`,
      `CREATE ONTOLOGY CUBE cube1 AS SELECT state, count(id) AS n, max(${v(BARE)}) AS m FROM dsvc.item GROUP BY state`,
      `CREATE ONTOLOGY CUBE cube1 AS SELECT state, SUM("measure.inverted") AS n FROM dsvc.item`,
    ),
  );

const other = from(
  'CREATE OR REPLACE CONCEPT box (box_id bigint, box_name string, state string, PRIMARY KEY (box_id))',
  "CREATE OR REPLACE CONCEPT box (box_id bigint, box_name string, PRIMARY KEY (box_id)); CREATE OR REPLACE PROPERTY state string AS SELECT 'open'",
  'CREATE OR REPLACE CONCEPT box (box_id bigint, box_name string, state string, secret bigint, PRIMARY KEY (box_id), CONSTRAINT by_box FOREIGN KEY (box_id) REFERENCES item (secret) INVERSEOF box_of)',
  'CREATE CONCEPT box INHERITS (item)',
  'DROP VIEW open_boxes',
  'DROP CONCEPT shut',
  'DROP CONCEPT box',
  'DROP MAPPING m_item',
  'DROP MAPPING m_box',
  'DROP MAPPING m_tag',
  'DROP PROPERTY visible',
  'DROP CONCEPT item',
);

/** A script of one to three statements. */
export const script: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: concept },
      { weight: 3, arbitrary: item },
      { weight: 2, arbitrary: entry },
      { weight: 3, arbitrary: pieces },
      { weight: 2, arbitrary: view },
      other,
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((list) => list.join(';\n'));

/** Run after each script, valid or not: all rows of all relations, and the relationships between them. */
export const PROBES: readonly string[] = [
  ...['entry', 'item', 'big', 'odd', 'shut', 'own', 'new1', 'new2', 'box', 'thing'].flatMap((c) => [
    `SELECT * FROM svc.${c} i ORDER BY i.entity_id, i::text`,
    `SELECT * FROM dsvc.${c} i ORDER BY i.entity_id, i::text`,
    `SELECT count(*) AS n FROM dsvc.${c}`,
  ]),
  ...['item', 'own', 'big', 'new1', 'new2', 'entry'].flatMap((c) => [
    `SELECT sum("measure.inverted") AS m FROM dsvc.${c}`,
    `SELECT sum("measure.tally") AS m FROM dsvc.${c}`,
    `SELECT i.id, i.own_p FROM dsvc.${c} i ORDER BY 1, 2`,
    `SELECT i.id, i.tag FROM dsvc.${c} i ORDER BY 1, 2`,
    ...[
      'by_secret[item].id',
      'by_n[box].box_id',
      'by_id[item].n',
      'by_own[item].id',
      'secret_of[item].id',
      'own_of[item].id',
      'next[item].id',
      'lies_in[box].state',
      'pairs[item].id',
      'own_pairs[item].id',
      'around[item].id',
      'around[item*].id',
      'any_box[box].state',
    ].map((p) => `SELECT i.id, i."${p}" AS v FROM dsvc.${c} i ORDER BY 1, 2`),
  ]),
  'SELECT i.box_id, i."n_of[item].id" AS v FROM dsvc.box i ORDER BY 1, 2',
  'SELECT i.box_id, i."by_box[item].id" AS v FROM dsvc.box i ORDER BY 1, 2',
  ...VIEWS.map((v) => `SELECT * FROM vsvc.${v} i ORDER BY i::text`),
  'SELECT state, SUM(n) AS n FROM vsvc.cube1 GROUP BY state ORDER BY 1',
];
