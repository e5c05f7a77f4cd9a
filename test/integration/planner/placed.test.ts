/** Unions of mappings over distributed tables: with the distributing column in each part, statements have the same rows. Any database can have the column. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { SvcError } from '../../../src/errors.ts';
import { type Placements, type PlanContext, planSelect } from '../../../src/planner/index.ts';
import { decorrelate } from '../../../src/planner/lower/decorrelate.ts';
import { keyUnions } from '../../../src/planner/lower/placed.ts';
import { verify } from '../../../src/planner/verify/index.ts';
import { forms } from '../../support/corpora/forms.ts';
import { written } from '../../support/corpora/written.ts';
import { PlannedTables } from '../../support/planned.ts';

const parser = await loadNodeParser();

const KINDS = ['guest', 'staff', 'firm'];
const TABLES = `CREATE SCHEMA s; CREATE TABLE s.town (tid integer PRIMARY KEY, name text); INSERT INTO s.town VALUES (1, 'a'), (2, 'b');
  ${KINDS.map((k, i) => `CREATE TABLE s.${k} (id integer PRIMARY KEY, label text, town integer, boss integer, v numeric); INSERT INTO s.${k} SELECT ${100 * i} + n, '${k}' || n % 3, n % 4, ${100 * i} + n / 2, n FROM generate_series(1, 9) n;`).join('\n')}`;
const MODEL = `CREATE ONTOLOGY kinds;
  CREATE CONCEPT town (tid integer, name string, PRIMARY KEY (tid));
  CREATE CONCEPT party (id bigint, label string, town bigint, boss bigint, v decimal, PRIMARY KEY (id),
    CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (tid) INVERSEOF houses, CONSTRAINT under FOREIGN KEY (boss) REFERENCES party (id) INVERSEOF over TRANSITIVE);
  CREATE CONCEPT rich INHERITS (party) FROM svc.party WHERE v > 3;
  CREATE MAPPING m_town INTO town AS SELECT tid, name FROM s.town;
  ${KINDS.map((k) => `CREATE MAPPING m_${k} INTO party AS SELECT ${k === 'firm' ? 'f.id, f.label, f.town, f.boss, f.v FROM s.firm f' : `id, label, town, boss, v FROM s.${k}`};`).join('\n')}`;

const placements = (groups: Readonly<Record<string, number>>): Placements =>
  new Map(Object.entries(groups).map(([table, group]) => [JSON.stringify(['s', table]), { column: 'id', group }]));
const placed = (by: Placements): Partial<PlanContext> => ({ target: () => ({ apply: (statement, declared) => keyUnions(statement, by, declared) }) });
const TOGETHER = placed(placements({ guest: 1, staff: 1, firm: 1 }));

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'kinds');
});
afterAll(() => tables?.close());

/** The keys in a plan. Its rows are those of the plan without them. */
async function keysIn(query: string, changes: Partial<PlanContext> = TOGETHER): Promise<number> {
  const { sql, declared } = tables.plan(query, changes);
  verify(parser, sql, declared);
  expect(await tables.rows(query, changes), query).toEqual(await tables.rows(query));
  const both = { ...changes, rewrite: decorrelate };
  verify(parser, tables.plan(query, both).sql, tables.plan(query, both).declared);
  expect(await tables.rows(query, both), query).toEqual(await tables.rows(query));
  return sql.match(/(guest|staff|f)\.id AS "~d"/g)?.length ?? 0;
}

describe('a union of mappings', () => {
  it.each([
    ['SELECT label, COUNT(*) AS n FROM svc.party GROUP BY label', 3],
    ['SELECT COUNT(*) AS n FROM svc.party', 3],
    ['SELECT label, v FROM svc.party WHERE v > 3 ORDER BY v LIMIT 4', 3],
    ['SELECT * FROM svc.party', 3],
    ['SELECT label, v FROM svc.rich', 3],
    ["SELECT id, label FROM svc.party WHERE entity_type = 'party'", 3],
    ['SELECT "lives_in[town].name" AS t, SUM(v) AS v FROM dsvc.party GROUP BY "lives_in[town].name"', 3],
    ['SELECT label, "under[party].label" AS boss FROM dsvc.party', 6],
    ['SELECT name, COUNT("houses[party].id") AS n, MAX("houses[party].over[party].v") AS v FROM dsvc.town GROUP BY name', 9],
    ['SELECT label FROM svc.party p WHERE EXISTS (SELECT 1 FROM svc.rich r WHERE r.town = p.town AND r.v > p.v)', 6],
    ['SELECT label FROM svc.party UNION ALL SELECT name FROM svc.town', 3],
    ['SELECT label FROM svc.party UNION SELECT label FROM svc.rich', 6],
    ['SELECT p.label, q.n FROM svc.party p JOIN (SELECT town, COUNT(*) AS n FROM svc.party GROUP BY town) q USING (town)', 6],
    ['WITH q AS (SELECT * FROM svc.party) SELECT q.* FROM q WHERE v = 2', 3],
    ['SELECT x.* FROM (SELECT label, v FROM svc.party UNION ALL SELECT label, v FROM svc.rich) x', 6],
  ])('yields the key of each table: %s', async (query, keys) => {
    expect(await keysIn(query)).toBe(keys);
  });

  it('has the same rows where columns are joined by their names, and in walks', async () => {
    await keysIn('SELECT label FROM svc.party NATURAL JOIN (SELECT id FROM svc.rich) r');
    await keysIn('SELECT label, n FROM svc.party NATURAL JOIN (SELECT label, COUNT(*) AS n FROM svc.party GROUP BY label) r');
    await keysIn('SELECT id, "under[party*].id" AS up FROM dsvc.party WHERE id > 5');
    await keysIn('SELECT id, "over[party*2].id" AS down, "over[party*2]_transitivity_level" AS level FROM dsvc.party');
  });

  it.each([
    ['a table of another group', { guest: 1, staff: 1, firm: 2 }],
    ['a table that is not distributed', { guest: 1, staff: 1 }],
    ['no distributed table', {}],
  ])('with %s stays as it is', (_, groups) => {
    const query = 'SELECT label, COUNT(*) AS n FROM svc.party GROUP BY label';
    expect(tables.plan(query, placed(placements(groups))).sql).toBe(tables.plan(query).sql);
  });
});

it('SQL of the corpora is the same without knowledge, and passes the verifier with it', () => {
  const everywhere: Placements = { get: (table: string) => (table.startsWith('[""') ? undefined : { column: 'id', group: 1 }) } as unknown as Placements;
  let [n, keyed] = [0, 0];
  for (const corpus of [forms(parser), ...written(parser, 50)]) {
    for (const { text, plan, context, declared } of corpus.planned()) {
      const again = (changes: Partial<PlanContext>) => {
        try {
          return planSelect({ ...context, ...changes }, { text, offset: 0 }, plan.nested ? { nested: true, limit: 3, offset: 1 } : {});
        } catch (error) {
          // a filter of a URL has other options
          if (error instanceof SvcError) return undefined;
          throw error;
        }
      };
      const before = again({});
      if (!before) continue;
      n++;
      for (const changes of [{ target: () => undefined }, placed(new Map())]) expect(again(changes)?.sql, text).toBe(before.sql);
      const after = again(placed(everywhere));
      if (after) for (const d of [declared, after.declared]) verify(parser, after.sql, d);
      if (after?.sql !== before.sql) keyed++;
      again({ ...placed(everywhere), rewrite: decorrelate });
      expect(again({})?.sql, text).toBe(before.sql);
    }
  }
  expect(n).toBeGreaterThan(500);
  expect(keyed).toBeGreaterThan(20);
});
