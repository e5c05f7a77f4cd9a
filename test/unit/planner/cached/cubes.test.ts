/** What a plan knows of a cached cube is what it knows of the live one. */
import { expect, it } from 'vitest';
import { graphOf } from '../../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import type { ColumnDef } from '../../../../src/ontology/model.ts';
import { CachedCubes } from '../../../../src/planner/cached/reading.ts';
import { type PlanContext, planSelect } from '../../../../src/planner/index.ts';

const MODEL = `CREATE ONTOLOGY o;
CREATE CONCEPT sale (id integer, price decimal, at timestamp, city string, PRIMARY KEY (id));
CREATE MAPPING m_sale INTO sale AS SELECT id, price, at, city FROM s.sale;
CREATE CONCEPT secret (id integer, weight double, day date, PRIMARY KEY (id));
CREATE MAPPING m_secret INTO secret AS SELECT id, weight, day FROM s.secret;
CREATE CONCEPT named (id integer, name string, PRIMARY KEY (id));
CREATE MAPPING m_named INTO named AS SELECT id, name FROM s.secret;
CREATE ONTOLOGY CUBE prices AS SELECT MAX(price) AS top FROM dsvc.sale;
CREATE ONTOLOGY CUBE times AS SELECT at, COUNT(id) AS n FROM dsvc.sale;
CREATE ONTOLOGY CUBE counts AS SELECT city, COUNT(id) AS n FROM dsvc.sale`;
const TYPES: Readonly<Record<string, Omit<ColumnDef, 'name'>>> = {
  id: { type: 'int4' },
  price: { type: 'numeric' },
  at: { type: 'timestamp' },
  city: { type: 'text', collation: '"C"' },
  weight: { type: 'float8' },
  day: { type: 'date' },
  name: { type: 'text', collation: '"POSIX"' },
};
const parser = await loadNodeParser();
const { model } = graphOf(MODEL, 'o', parser);
const typed = model.mappings.map((m) => ({ ...m, columns: m.columns.map(({ name }) => ({ name, ...TYPES[name] })) }));
const CONTEXT: PlanContext = {
  graph: compile({ ...model, mappings: typed }, 'o'),
  parser,
  product: 'svc',
  activeDatasource: 'main',
  access: {
    rows: ['secret', 'named'].map((concept) => ({ concept, conditions: [{ policy: 'p', condition: 'id < 5' }] })),
    masks: [],
    caller: { username: 'x', roles: [], claims: {} },
    maskKey: 'secret',
  },
};
const cubes = new CachedCubes(new Set(['prices', 'times', 'counts']), ({ name }) => ({
  mapping: name,
  of: 'cube',
  schema: 'cached',
  name: `t_${name}`,
  asOf: 0,
}));

it.each([
  [
    'a float is compared with a decimal of the cube',
    'SELECT s.id FROM svc.secret s JOIN (SELECT MAX(top) AS top FROM vsvc.prices) q ON s.weight = q.top',
    true,
  ],
  ['a date becomes a time of the cube', 'SELECT s.id FROM svc.secret s CROSS JOIN (SELECT at, n FROM vsvc.times) q WHERE COALESCE(s.day, q.at) > s.day', true],
  ['the collation is another one than that of the cube', 'SELECT s.name FROM svc.named s JOIN (SELECT city, n FROM vsvc.counts) q ON s.id = q.n', true],
  ['nothing may raise an error', 'SELECT s.id FROM svc.secret s JOIN (SELECT at, n FROM vsvc.times) q ON s.id = q.n', false],
])('whether a condition may raise an error on rows that a policy hides: %s', (_what, text, expected) => {
  for (const known of [{}, { cubes }]) {
    const plan = planSelect({ ...CONTEXT, ...known }, { text, offset: 0 });
    expect([plan.caches.length, plan.sql.includes('OFFSET 0')]).toEqual(['cubes' in known ? 1 : 0, expected]);
  }
});
