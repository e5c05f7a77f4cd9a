/** Hints for functions of other SQL dialects. */
import { describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { SvcError } from '../../../../src/errors.ts';
import { EQUIVALENTS, equivalentOf } from '../../../../src/planner/guard/dialects.ts';
import { ALLOWED_FUNCTIONS } from '../../../../src/planner/guard/functions.ts';
import { guardSelect } from '../../../../src/planner/guard/index.ts';

const parser = await loadNodeParser();
const names = EQUIVALENTS.flatMap(([, functions]) => functions.split(' '));
/** Words before a parenthesis that are syntax, not functions. */
const SYNTAX = new Set(['filter', 'cast', 'extract', 'coalesce', 'nullif', 'any', 'substring']);

function refusal(sql: string): SvcError {
  try {
    guardSelect(parser.parse(sql).stmts[0] ?? {}, {});
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error(`not refused: ${sql}`);
}

describe('functions of other dialects', () => {
  it('are in one hint each, and are not functions that may be called', () => {
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(names.filter((name) => ALLOWED_FUNCTIONS.has(name))).toEqual([]);
  });

  it('have hints that name only functions that may be called', () => {
    const called = EQUIVALENTS.flatMap(([hint]) => [...hint.matchAll(/\b([a-z_]+)\(/g)].map((m) => m[1] as string));
    expect(called.filter((name) => !SYNTAX.has(name) && !ALLOWED_FUNCTIONS.has(name))).toEqual([]);
  });

  it.each([
    ['YEAR(d)', 'Write extract(year FROM d).'],
    ["IFNULL(t, 'x')", 'Write coalesce(value, other).'],
    ['GETDATE()', 'Write now() or current_timestamp.'],
    ['COUNTIF(n > 1)', 'Write count(*) FILTER (WHERE condition).'],
    ['SAFE_DIVIDE(a, b)', 'Write a / nullif(b, 0).'],
  ])('%s names the equivalent', (call, hint) => {
    const error = refusal(`SELECT ${call} FROM t`);
    expect([error.code, error.hint]).toEqual(['forbidden_function', hint]);
    expect(error.message).not.toContain('did you mean');
  });

  it('of other schemas, and unknown functions, have the general hint', () => {
    expect(refusal('SELECT app.year(d) FROM t').hint).toContain('allowed_functions');
    expect(refusal('SELECT nothing_such(d) FROM t').hint).toContain('allowed_functions');
    expect(equivalentOf('nothing_such')).toBeUndefined();
  });
});
