/** A policy or a mask covers the same rows and values whichever concept the rows are read through. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestService } from '../support/service.ts';
import { Crew } from './editors-crew.ts';

let crew: Crew;
let s: TestService;
beforeAll(async () => {
  crew = await Crew.open();
  s = crew.service;
});
afterAll(() => s?.close());

/** `chief` calculates `twice`; no worker is mapped into it, but `rich` are chiefs among the workers. */
const CHIEFS = `CREATE PROPERTY twice decimal(12,2) AS SELECT salary * 2;
CREATE CONCEPT chief (twice decimal(12,2)) INHERITS (worker);
CREATE CONCEPT rich INHERITS (chief) FROM dsvc.worker WHERE grade >= 6`;
const SCHEMAS = ['svc', 'dsvc'];
const CONCEPTS = ['being', 'worker', 'rich'];

async function read(ontology: string, column: string): Promise<Record<string, unknown[]>> {
  const seen: Record<string, unknown[]> = {};
  for (const schema of SCHEMAS)
    for (const concept of CONCEPTS) {
      const { status, json } = await s.query(
        `SELECT ${column} AS v FROM ${schema}.${concept} WHERE entity_type = 'worker' ORDER BY 1`,
        ontology,
        crew.tokens.rob,
      );
      seen[`${schema}.${concept}`] = status === 200 ? json.data.map(({ v }: { v: unknown }) => v) : [status, json.code];
    }
  return seen;
}

it.each([
  ['that a property of the concept meets', 'twice >= 14000', [101, 102]],
  ['that the value of no row meets', 'twice IS NULL', []],
])('a policy on a logic concept with a condition %s', async (_, condition, rich) => {
  const ontology = await crew.ontology(CHIEFS, `CREATE POLICY few ON CONCEPT rich TO PUBLIC USING (${condition})`);
  const others = [104, 105, 106];
  const seen = await read(ontology, 'being_id');
  for (const [relation, ids] of Object.entries(seen)) expect(ids, relation).toEqual(relation.endsWith('rich') ? rich : [...rich, ...others]);
});

it('a policy on a concept with a descendant that calculates a property', async () => {
  const ontology = await crew.ontology(CHIEFS, 'CREATE POLICY few ON CONCEPT worker TO PUBLIC USING (twice IS NULL AND being_id < 103)');
  const seen = await read(ontology, 'being_id');
  for (const [relation, ids] of Object.entries(seen)) expect(ids, relation).toEqual([101, 102]);
});

it('a policy on a logic concept whose condition reads a property that only descendants calculate', async () => {
  const own = `${CHIEFS}; CREATE CONCEPT some INHERITS (chief) FROM dsvc.worker WHERE twice IS NULL AND grade >= 7`;
  const ontology = await crew.ontology(own, 'CREATE POLICY few ON CONCEPT some TO USER nobody USING (true)');
  const seen = await read(ontology, 'being_id');
  for (const [relation, ids] of Object.entries(seen)) expect(ids, relation).toEqual(relation.endsWith('rich') ? [103] : [103, 104, 105, 106]);
  expect((await s.query('SELECT count(*) AS n FROM svc.some', ontology, crew.tokens.rob)).json.data).toEqual([{ n: 0 }]);
  expect((await s.query('SELECT being_id AS v FROM svc.some ORDER BY 1', ontology)).json.data).toEqual([{ v: 101 }, { v: 102 }]);
});

it('a mask that reads a property of its concept', async () => {
  const masks = 'CREATE POLICY veil ON PROPERTY given OF CONCEPT rich MASK WITH (CASE WHEN twice > 1 THEN NULL ELSE given END)';
  const ontology = await crew.ontology(CHIEFS, masks);
  const seen = await read(ontology, 'given');
  for (const [relation, names] of Object.entries(seen))
    expect(names, relation).toEqual(relation.endsWith('rich') ? [null, null, null] : ['Dee', 'Eve', 'Fay', null, null, null]);
});
