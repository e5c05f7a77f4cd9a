/** The proof that two conditions exclude each other: it must never hold for conditions that one row meets. */
import { expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { excludes, testOf } from '../../../../src/planner/lower/exclusion.ts';
import type { Node } from '../../../../src/planner/plan/tree.ts';

const parser = await loadNodeParser();

function condition(text: string): Node {
  const [statement] = parser.parse(`SELECT WHERE ${text}`).stmts ?? [];
  const stmt = statement?.stmt;
  if (stmt === undefined || !('SelectStmt' in stmt) || stmt.SelectStmt.whereClause === undefined) throw new Error(text);
  return stmt.SelectStmt.whereClause;
}

function isExcluded(a: string, b: string, comparesTexts: boolean): boolean {
  const [one, other] = [testOf(condition(a)), testOf(condition(b))];
  if (one === undefined || other === undefined) return false;
  const [forth, back] = [excludes(one, other, () => comparesTexts), excludes(other, one, () => comparesTexts)];
  expect(forth).toBe(back);
  return forth;
}

it.each([
  ["a = 'car'", "a = 'truck'"],
  ["a = 'car'", "a <> 'car'"],
  ["a = 'car'", "a != 'car'"],
  ["'car' = a", "a IN ('bus', 'truck')"],
  ["a IN ('car', 'bus')", "a NOT IN ('bus', 'car', 'x')"],
  ['a = 1', 'a = 2'],
  ['a = 0', 'a = 1'],
  ['a IS NULL', "a = 'car'"],
  ['a IS NULL', 'a < 4'],
  ['a IS NULL', 'a'],
  ['a', 'NOT a'],
  ['a < 4', 'a >= 4'],
  ['4 > a', 'a >= 4'],
  ['a <= 4', 'a > 4'],
  ['a IS NULL', 'a IS NOT NULL'],
])('%s excludes %s', (a, b) => expect(isExcluded(a, b, true)).toBe(true));

it.each([
  ["a = 'car'", "b = 'truck'"],
  ["a = 'car'", "a = 'CAR'"],
  ["a = 'car'", "a = 'car '"],
  ["a = 'car'", "a = 'c-a-r'"],
  ["a = 'é'", "a = 'e'"],
  ["a = 'strasse'", "a = 'straße'"],
  ["a = ''", "a = ' '"],
  ["a IN ('car', 'bus')", "a IN ('truck', 'bus')"],
  ["a IN ('car', 'bus')", "a NOT IN ('bus')"],
  ["a <> 'car'", "a <> 'truck'"],
  ["a = 'car'", "a <> 'truck'"],
  ['a < 4', 'a >= 5 - 2'],
  ['a < 4', 'a > 2'],
  ['a < 4', 'b >= 4'],
  ['a = 1', "a = '2'"],
  ['a = 1.0', 'a = 1.00'],
  ['a = NULL', 'a = 1'],
  ['a IS NOT NULL', 'a = 1'],
  ['lower(a) = 1', 'lower(a) = 2'],
  ['a = b', 'a <> b'],
  ['a OPERATOR(pg_catalog.=) 1', 'a = 2'],
  ["a LIKE 'x'", "a NOT LIKE 'x'"],
  ['a = ANY (ARRAY[1])', 'a = 2'],
])('%s does not exclude %s', (a, b) => expect(isExcluded(a, b, true)).toBe(false));

it('compares texts only where the type of the column is known', () => {
  expect(isExcluded("a = 'true'", "a = 't'", false)).toBe(false);
  expect(isExcluded("a = 'true'", "a <> 'true'", false)).toBe(true);
});
