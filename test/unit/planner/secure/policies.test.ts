/** The SQL of row policies, masks and functions of the caller. test/integration/differential/policies.test.ts checks the resulting rows and values. */
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../../src/errors.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import type { Access, Mask } from '../../../../src/planner/secure/access.ts';
import { context } from '../company.ts';

/** The model with the types of its tables' columns. Salaries are texts, which are cast. */
const typeOf = (name: string): string => (name === 'born' ? 'date' : ['name', 'serial', 'salary'].includes(name) ? 'text' : 'int8');
const typed = compile(
  { ...context.graph.model, mappings: context.graph.model.mappings.map((m) => ({ ...m, columns: m.columns.map((c) => ({ ...c, type: typeOf(c.name) })) })) },
  'company',
);

const caller = { username: 'ann', roles: ['Sales', 'eu'], claims: { dept: 'R&D' } };
const none: Access = { rows: [], masks: [], caller, maskKey: 'secret' };
const rows = (concept: string, ...conditions: string[]): Access => ({
  ...none,
  rows: [{ concept, conditions: conditions.map((condition, i) => ({ policy: `p${i}`, condition })) }],
});
const masked = (property: string, mask: Mask, concept: string | null = null): Access => ({ ...none, masks: [{ policy: 'm', property, concept, mask }] });
const plan = (sql: string, access?: Access) => planSelect({ ...context, access, caller }, { text: sql, offset: 0 });
const fault = (sql: string, access?: Access): string => {
  try {
    return plan(sql, access).sql;
  } catch (e) {
    return e instanceof SvcError ? `${e.status} ${e.code}` : String(e);
  }
};

describe('row policies', () => {
  const own = rows('employee', 'salary > 10', 'name = svc_username()');

  it('apply to the rows of their concept, regardless of the concept that they are read through', () => {
    for (const sql of [
      'SELECT name FROM svc.employee',
      'SELECT name FROM svc.person',
      'SELECT count(*) AS n FROM svc.thing',
      'SELECT "employs[employee].name" FROM dsvc.firm',
      'SELECT name FROM svc.rich',
      'SELECT * FROM vsvc.staff',
    ])
      expect(plan(sql, own).sql, sql).toMatch(/> 10 OR .* = 'ann'::text/);
    expect(plan('SELECT name FROM svc.firm', own).sql).not.toContain('> 10');
  });

  it('hide all rows if no policy is for the caller', () => {
    expect(plan('SELECT name FROM svc.employee', rows('employee')).sql).toMatch(/WHERE false/);
  });

  it('of a logic concept apply only to its rows', () => {
    expect(plan('SELECT name FROM svc.employee', rows('rich', "name <> 'x'")).sql).toMatch(/NOT COALESCE\(.* > 1000, false\) OR .* <> 'x'/);
  });

  it.each([
    ["SELECT name FROM svc.employee WHERE name = 'x' AND party_id IN (1, 2) ORDER BY name LIMIT 3", false],
    ['SELECT upper(name) AS u, count(*) AS n FROM svc.employee GROUP BY 1 HAVING count(*) > 1', false],
    ['SELECT name FROM svc.employee WHERE 1 / party_id > 0', true],
    ['SELECT name FROM svc.employee WHERE name::int = 1', true],
    ["SELECT name FROM svc.employee WHERE name LIKE 'x%'", true],
    ['SELECT name FROM svc.employee WHERE party_id + 1 = 2', true],
    ["SELECT name FROM svc.employee WHERE name ~ 'x'", true],
    ['SELECT name FROM svc.employee e, generate_series(1, e.party_id) g', true],
    ['SELECT salary FROM svc.employee', true],
    // A second row, a negative number of rows, an invalid pattern, records of different types, an overflow: each happens only for some rows.
    ["SELECT name FROM svc.employee e WHERE (SELECT g.v FROM (VALUES (1, 'x'), (2, 'x')) g (v, n) WHERE g.n = e.name) IS NULL", true],
    ['SELECT name FROM svc.employee e WHERE EXISTS (SELECT 1 LIMIT e.party_id)', true],
    ['SELECT name FROM svc.employee e WHERE EXISTS (SELECT 1 OFFSET e.party_id)', true],
    ['SELECT name FROM svc.employee e WHERE EXISTS (SELECT 1 UNION ALL (SELECT 2 LIMIT e.party_id) LIMIT 1)', true],
    ['SELECT name FROM svc.employee e WHERE 1 IN (SELECT count(*) OVER (ROWS e.party_id PRECEDING) FROM (VALUES (1)) g (v))', true],
    ["SELECT g.v FROM (VALUES ('x')) g (v) WHERE g.v ~ ANY (SELECT name FROM svc.employee)", true],
    ["SELECT e.name FROM svc.employee e, (VALUES (1)) g (v), (VALUES ('x')) h (w) WHERE CASE WHEN e.name = 'x' THEN g = h ELSE true END", true],
    ['SELECT name FROM svc.employee e WHERE EXISTS (SELECT 1 FROM (VALUES (0), (1)) g (v) HAVING sum(CASE g.v WHEN 0 THEN e.party_id ELSE 1 END) > 0)', true],
    ['SELECT name FROM svc.employee WHERE JSON_OBJECT(name: 1) IS NOT NULL', true],
    ['SELECT name FROM svc.employee e WHERE EXISTS (SELECT 1 FROM svc.employee o WHERE o.name = e.name LIMIT 1)', false],
    ['SELECT name FROM svc.employee WHERE party_id = ANY (SELECT party_id FROM svc.employee) AND name <> ALL (SELECT name FROM svc.firm)', false],
    ['SELECT avg(party_id) AS a, sum(party_id) AS s FROM svc.employee', false],
  ])('become a barrier if the query may raise an error: %s', (sql, fenced) => {
    const access = rows('employee', 'party_id > 10');
    expect(planSelect({ ...context, graph: typed, access, caller }, { text: sql, offset: 0 }).sql.includes('OFFSET 0')).toBe(fenced);
    // If the types of the tables' columns are not known, every cast may raise an error.
    expect(plan(sql, access).sql).toContain('OFFSET 0');
  });

  it('hide links and multi-values of hidden rows from expressions that may raise an error', () => {
    const access = rows('person', 'party_id > 10');
    for (const sql of ['SELECT name FROM dsvc.employee WHERE 1 / length(nickname) > 0', 'SELECT name FROM dsvc.employee WHERE 1 / "knows[person]_since" > 0'])
      expect(plan(sql, access).sql, sql).toMatch(/WHERE EXISTS \(SELECT .* OFFSET 0\) AS/);
  });
});

describe('masks', () => {
  it('replace the value everywhere', () => {
    const access = masked('name', { kind: 'full' });
    for (const sql of [
      'SELECT name FROM svc.firm',
      'SELECT entity_label FROM svc.thing',
      'SELECT "works_for[firm].name" FROM dsvc.employee',
      "SELECT party_id FROM svc.firm WHERE name = 'x'",
      'SELECT name FROM vsvc.staff',
    ])
      expect(plan(sql, access).sql, sql).toContain("'****'");
  });

  it('replace a key in entity_id by a hash whose key is a parameter', () => {
    const made = plan("SELECT entity_id FROM svc.firm WHERE entity_id = 'party:1'", masked('party_id', { kind: 'null' }));
    expect(made.sql).toMatch(/sha256\(convert_to\(\$1::text/);
    expect(made.sql).not.toContain('secret');
    expect(made.params).toEqual(['secret']);
    expect(made.sql).not.toMatch(/WHERE id = /);
  });

  it('do not change the values by which the model joins', () => {
    expect(plan('SELECT "works_for[firm].code" FROM dsvc.employee', masked('firm_id', { kind: 'null' })).sql).not.toContain('NULL::bigint');
  });

  it('of one concept apply only to its rows', () => {
    const access = masked('name', { kind: 'null' }, 'firm');
    expect(plan('SELECT name FROM svc.employee', access).sql).not.toContain('NULL::text');
    expect(plan('SELECT name FROM svc.party', access).sql).toContain('NULL::text');
  });

  it('refuse logic concepts and _type_of_ that read the property', () => {
    const access = masked('salary', { kind: 'null' });
    expect(fault('SELECT name FROM svc.rich', access)).toBe('403 masked');
    expect(fault('SELECT "_type_of_rich" FROM dsvc.employee', access)).toBe('403 masked');
    expect(fault('SELECT name FROM svc.rich', masked('name', { kind: 'null' }))).toContain('SELECT');
  });
});

describe('functions of the caller', () => {
  it.each([
    ['svc_username()', "'ann'::text"],
    ["svc_has_role('SALES')", 'true'],
    ["svc_has_role('other')", 'false'],
    ["svc_claim('dept')", "'R&D'::text"],
    ["svc_claim('toString')", 'NULL::text'],
  ])('%s is a constant of the plan', (call, constant) => {
    const made = plan(`SELECT ${call} AS x`);
    expect(made.sql).toContain(`SELECT ${constant} AS x`);
    expect(made.readsCaller).toBe(true);
  });

  it('accept columns as arguments', () => {
    expect(plan('SELECT svc_has_role(name) AS x FROM svc.firm').sql).toContain("= ANY (ARRAY['sales', 'eu']::text[])");
    expect(plan('SELECT svc_claim(name) AS x FROM svc.firm').sql).toContain("WHEN 'dept' THEN 'R&D'");
  });

  it('require the right number of arguments', () => {
    for (const sql of ['SELECT svc_username(1)', 'SELECT svc_has_role()', "SELECT svc_claim('a', 'b')", 'SELECT svc_username() OVER ()'])
      expect(fault(sql), sql).toBe('400 bad_call');
  });
});
