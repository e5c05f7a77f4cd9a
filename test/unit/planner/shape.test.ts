/** The SQL has exactly the tables, columns and joins that a query refers to. */
import { describe, expect, it } from 'vitest';
import { joins, plan, sqlOf, tables } from './company.ts';

describe('the tables of the SQL for', () => {
  it.each([
    ['a concept of one mapping', 'SELECT name FROM svc.employee', ['staff'], 0],
    ['a concept with descendants', 'SELECT name FROM svc.party', ['guests', 'staff', 'firms'], 0],
    ['a logic concept', 'SELECT name FROM svc.rich', ['staff'], 0],
    ['no column', 'SELECT count(*) AS n FROM svc.employee', ['staff'], 0],
    ['a path', 'SELECT "works_for[firm].name" FROM dsvc.employee', ['staff', 'firms'], 1],
    [
      'the same path twice',
      'SELECT "works_for[firm].name", "works_for[firm].party_id" FROM dsvc.employee WHERE "WORKS_FOR[firm].name" > \'a\'',
      ['staff', 'firms'],
      1,
    ],
    [
      'the same path in every clause',
      'SELECT max("works_for[firm].name") AS m FROM dsvc.employee GROUP BY "works_for[firm].name" HAVING count("works_for[firm].name") > 0 ORDER BY "works_for[firm].name"',
      ['staff', 'firms'],
      1,
    ],
    ['a path in a correlated sub-query', 'SELECT (SELECT e."works_for[firm].name") AS a, "works_for[firm].name" FROM dsvc.employee e', ['staff', 'firms'], 1],
    [
      'two paths with a common prefix',
      'SELECT "works_for[firm].name", "works_for[firm].located[town].name" FROM dsvc.employee',
      ['staff', 'firms', 'towns'],
      2,
    ],
    ['two paths', 'SELECT "works_for[firm].name", "located[town].name" FROM dsvc.employee', ['staff', 'firms', 'towns'], 2],
    ['two targets of the same relationship', 'SELECT "works_for[firm].name", "works_for[party].town_id" FROM dsvc.employee', ['staff', 'firms', 'firms'], 2],
    ['a descendant as the target of a path', 'SELECT "houses[firm].name" FROM dsvc.town', ['towns', 'firms'], 1],
    ['all descendants as the target of a path', 'SELECT "houses[party].name" FROM dsvc.town', ['towns', 'guests', 'staff', 'firms'], 1],
    ['a link', 'SELECT "mentors[employee].name" FROM dsvc.employee', ['staff', 'mentoring', 'staff'], 2],
    ['a multi-value property', 'SELECT nickname FROM dsvc.firm', ['firms', 'nicknames'], 1],
    [
      'two aliases of one concept',
      'SELECT a."works_for[firm].name", b."works_for[firm].name" AS other FROM dsvc.employee a JOIN dsvc.employee b ON a.party_id = b.boss_id',
      ['staff', 'firms', 'staff', 'firms'],
      3,
    ],
    ['a view', 'SELECT name FROM vsvc.staff', ['staff'], 0],
    ['a path in ON', 'SELECT 1 AS a FROM dsvc.employee e JOIN svc.town t ON e."works_for[firm].town_id" = t.town_id', ['staff', 'firms', 'towns'], 2],
    ['a path only in ORDER BY', 'SELECT name FROM dsvc.employee ORDER BY "works_for[firm].name"', ['staff', 'firms'], 1],
    ['a star without paths', 'SELECT * FROM dsvc.employee', ['staff'], 0],
  ])('%s', (_what, sql, expected, joined) => {
    expect([tables(sql), joins(sql)], sqlOf(sql)).toEqual([expected, joined]);
  });
});

describe('the columns of the SQL', () => {
  it('are those that the query and its joins use', () => {
    expect(sqlOf('SELECT name FROM svc.employee')).not.toMatch(/\b(pay|born|boss|firm|entity_id)\b/);
    expect(sqlOf('SELECT salary FROM svc.employee WHERE born IS NULL')).toMatch(/\bpay\b.*\bborn\b/);
    expect(sqlOf('SELECT "works_for[firm].name" FROM dsvc.employee')).not.toMatch(/\b(pay|boss|code)\b/);
  });

  it('are cast to the declared type in every branch', () => {
    expect(sqlOf('SELECT party_id, salary FROM esvc.party').match(/::bigint/g)).toHaveLength(3);
    expect(sqlOf('SELECT party_id, salary FROM esvc.party').match(/NULL::numeric\(10, 2\)/g)).toHaveLength(2);
  });

  it('give the keys of the answer in the same order', () => {
    expect(plan('SELECT salary AS "Pay", "works_for[firm].name", NAME, 1 + 1 FROM dsvc.employee').columns).toEqual([
      'Pay',
      'works_for[firm].name',
      'name',
      '?column?',
    ]);
    expect(plan('SELECT * FROM svc.person').columns).toEqual(['entity_id', 'entity_type', 'entity_label', 'party_id', 'name', 'town_id', 'born']);
    expect(plan('SELECT "works_for[firm].*" FROM dsvc.employee').columns).toEqual(
      ['entity_id', 'entity_type', 'entity_label', 'party_id', 'name', 'town_id', 'code'].map((c) => `works_for[firm].${c}`),
    );
    expect(plan('SELECT * FROM svc.town a JOIN svc.town b USING (town_id)').columns.slice(0, 3)).toEqual(['town_id', 'a.entity_id', 'a.entity_type']);
  });

  it('keep the names of the query, however long they are', () => {
    const path = '"reports_to[employee].reports_to[employee].reports_to[employee].works_for[firm].located[town].name"';
    const { sql, columns } = plan(`SELECT ${path}, ${path} AS again FROM dsvc.employee WHERE ${path} IS NOT NULL`);
    expect(columns).toEqual([path.slice(1, -1), 'again']);
    expect(tables(`SELECT ${path} FROM dsvc.employee`)).toEqual(['staff', 'staff', 'staff', 'staff', 'firms', 'towns']);
    // The keys of the answer are texts. PostgreSQL truncates names to 63 bytes.
    for (const [, name] of sql.replaceAll(/'[^']*'/g, '').matchAll(/"([^"]*)"/g)) expect(Buffer.byteLength(name as string)).toBeLessThanOrEqual(63);
  });
});

describe('a plan', () => {
  it.each([
    ['SELECT name FROM svc.town', false],
    ['SELECT random() AS r FROM svc.town', true],
    ['SELECT now() AS n', true],
    ["SELECT name FROM svc.person WHERE born = 'today'::date", true],
  ])('is volatile if it must not be cached: %s', (sql, expected) => expect(plan(sql).volatile).toBe(expected));
});
