/** Errors about names in a query, and their positions. */
import { describe, expect, it } from 'vitest';
import { faultOf } from '../company.ts';

describe('an error about a name', () => {
  it.each([
    ['SELECT name FROM «svc.emploee»', 'unknown_concept: unknown concept `emploee`; did you mean `employee`?'],
    ['SELECT name FROM «svc.zzzzz»', 'unknown_concept: unknown concept `zzzzz`'],
    ['SELECT name FROM «emploee»', 'unknown_concept: unknown concept `emploee`; did you mean `employee`?'],
    ['SELECT name FROM «vsvc.staf»', 'unknown_view: unknown view `staf`; did you mean `staff`?'],
    ['SELECT name FROM «vsvc.employee»', 'unknown_view: unknown view `employee`'],
    ['SELECT name FROM «dvc.employee»', 'unknown_schema: unknown schema `dvc`; did you mean `svc`?'],
    ['SELECT name FROM «public.employee»', expect.stringMatching(/^unknown_schema: /)],
    ...[
      'SELECT name FROM svc.employee WHERE EXISTS (SELECT 1 FROM svc.town employee WHERE «salary» > 1)',
      'SELECT name FROM svc.employee WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS a) employee WHERE «salary» > a)',
      'SELECT name FROM (SELECT salary FROM svc.employee) e, svc.firm WHERE EXISTS (WITH e AS (SELECT 1 AS a) SELECT 1 FROM e WHERE «salary» > a)',
      'SELECT name FROM dsvc.employee WHERE EXISTS (SELECT 1 FROM svc.employee WHERE «"works_for[firm].name"» = name)',
    ].map((sql): [string, unknown] => [
      sql,
      expect.stringMatching(/^ambiguous_alias: .*is a column of the outer `e(mployee)?`, which a relation of the sub-query/),
    ]),
    ['SELECT «naem» FROM svc.employee', 'unknown_property: unknown property `naem` of concept `employee`; did you mean `name`?'],
    ['SELECT 1 AS a FROM svc.employee WHERE «naem» = 1', 'unknown_property: unknown property `naem` of concept `employee`; did you mean `name`?'],
    ['SELECT e.name, «e.naem» FROM svc.employee e', 'unknown_property: unknown property `naem` of concept `employee`; did you mean `name`?'],
    ['SELECT «f.name» FROM svc.employee e', expect.stringMatching(/^unknown_alias: `f` is not a relation in FROM/)],
    ['SELECT «employee.name» FROM svc.employee e', expect.stringMatching(/^unknown_alias: /)],
    ['SELECT name FROM svc.employee ORDER BY «sallary»', 'unknown_property: unknown property `sallary` of concept `employee`; did you mean `salary`?'],
    ['SELECT count(*) AS n FROM svc.employee GROUP BY «sallary»', 'unknown_property: unknown property `sallary` of concept `employee`; did you mean `salary`?'],
    ['SELECT name FROM svc.employee LIMIT «salary»', expect.stringMatching(/^unknown_column: /)],
    [
      'SELECT «"works_fro[firm].name"» FROM dsvc.employee',
      'unknown_relationship: unknown relationship `works_fro` of concept `employee`; did you mean `works_for`?',
    ],
    [
      'SELECT «"works_for[firm].naem"» FROM dsvc.employee',
      expect.stringMatching(/^unknown_property: unknown property `naem` of concept `firm`.*did you mean `name`\?/),
    ],
    ['SELECT \'äöü🜁\', «"works_for[firm].naem"» FROM dsvc.employee', expect.stringMatching(/^unknown_property: /)],
    ['SELECT /* ü */ «`works_for[firm].naem`» FROM dsvc.employee', expect.stringMatching(/^unknown_property: /)],
    ['SELECT name FROM svc.person WHERE party_id IN (SELECT «xx» FROM svc.employee)', expect.stringMatching(/^unknown_/)],
    ['WITH x AS (SELECT name FROM svc.town) SELECT «nmae» FROM x', 'unknown_column: unknown column `nmae` of `x`; did you mean `name`?'],
    ['SELECT x.a, «x.bb» FROM (SELECT 1 AS a, 2 AS b) x', expect.stringMatching(/^unknown_column: unknown column `bb`/)],
    ['SELECT «salary» FROM svc.person', expect.stringMatching(/^\w+: .*salary/)],
    ['SELECT «"works_for[firm].name"» FROM svc.employee', expect.stringMatching(/^wrong_schema: /)],
    ['SELECT «name» FROM svc.employee, svc.town', expect.stringMatching(/^ambiguous_column: `name` is ambiguous: [^(]*$/)],
    [
      'SELECT name FROM svc.town UNION SELECT name FROM svc.firm ORDER BY «nome»',
      'unknown_column: the set operation has no column `nome`; did you mean `name`?',
    ],
    ['SELECT name FROM svc.town, (SELECT «town.name») x', expect.stringMatching(/^unknown_alias: /)],
  ])('%s', (marked, expected) => expect(faultOf(marked)).toEqual(expected));

  it('names both columns if two columns have the same name', () => {
    expect(faultOf('SELECT name, name FROM svc.town')).toMatch(/^duplicate_column: .*name/);
    expect(faultOf('SELECT name, town_id AS name FROM svc.town')).toMatch(/^duplicate_column: .*name/);
    expect(faultOf('SELECT a.name, b.name FROM svc.town a, svc.town b')).toMatch(/^duplicate_column: .*name/);
  });

  it('names an alias that is used twice', () => {
    expect(faultOf('SELECT 1 AS a FROM svc.town t, svc.firm t WHERE t.name IS NULL')).toMatch(/^duplicate_alias: /);
  });
});
