/** Rows that a caller reads by a logic concept or a view alone: what may fail must not see the rows that these leave out. */
import { describe, expect, it } from 'vitest';
import { lensOf } from '../../../src/ontology/lens.ts';
import { planSelect } from '../../../src/planner/index.ts';
import { context, graph } from './company.ts';

/** Whoever may read these concepts and views, and sees nothing else. */
const who = (concepts: readonly string[], views: readonly string[] = []) =>
  lensOf(graph, {
    concept: (name) => concepts.includes(name),
    view: (name) => views.includes(name),
    readsConcept: (name) => concepts.includes(name),
    readsView: (name) => views.includes(name),
    columnsOf: () => [],
  });
const isFenced = (sql: string, seen = graph): boolean =>
  planSelect({ ...context, graph: seen, whole: graph }, { text: sql, offset: 0 }).sql.includes('OFFSET 0');

describe('what may fail', () => {
  it.each([
    ['SELECT name FROM svc.rich WHERE 1 / party_id > 0', ['rich'], [], true],
    ['SELECT name FROM svc.rich WHERE party_id > 0', ['rich'], [], false],
    ['SELECT name FROM svc.rich WHERE 1 / party_id > 0', ['rich', 'employee'], [], false],
    ['SELECT name, "located[town].name" FROM dsvc.rich WHERE 1 / party_id > 0', ['rich', 'town'], [], true],
    ["SELECT name FROM vsvc.staff WHERE name LIKE 'x%'", [], ['staff'], true],
    ["SELECT name FROM vsvc.staff WHERE name = 'x'", [], ['staff'], false],
    ['SELECT 1 / party_id AS n FROM svc.town, svc.employee', ['town', 'employee'], [], false],
  ])('%s, for who reads %s %s', (sql, concepts, views, fenced) => expect(isFenced(sql, who(concepts, views))).toBe(fenced));

  it('is not kept from rows that may be read in another way', () => {
    expect(isFenced('SELECT name FROM svc.rich WHERE 1 / party_id > 0')).toBe(false);
    expect(isFenced("SELECT name FROM vsvc.staff WHERE name LIKE 'x%'")).toBe(false);
  });
});
