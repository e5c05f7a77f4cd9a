/** Hints for syntax errors. */
import { describe, expect, it } from 'vitest';
import { barePaths, nameAt, syntaxHint } from '../../../src/language/hints.ts';

describe('unquoted paths', () => {
  it.each([
    ['SELECT owns[car].plate FROM dsvc.owner', 'owns[car].plate', 7],
    ['SELECT o.owns[car].plate FROM dsvc.owner o', 'owns[car].plate', 7],
    ['SELECT owns [ car ] . plate', 'owns[car].plate', 7],
    ['SELECT owns[car].has_job[job].hours', 'owns[car].has_job[job].hours', 7],
    ['SELECT up[area*].name', 'up[area*].name', 7],
    ['SELECT up[area*3].name', 'up[area*3].name', 7],
    ['SELECT 1, knows[person]_since', 'knows[person]_since', 10],
  ])('%s', (text, path, start) => {
    expect(barePaths(text)).toEqual([expect.objectContaining({ path, start })]);
  });

  it('are neither array elements nor quoted names', () => {
    expect(barePaths('SELECT a[1], b[i], c[i][j], "lives_in[city].name", \'x[y].z\' -- a[b].c')).toEqual([]);
  });

  it('are found in one pass over the text', () => {
    const names = Array(200_000).fill('a').join('.');
    expect(barePaths(`SELECT ${names}, rel[c].x`).map((p) => p.path)).toEqual(['rel[c].x']);
  });

  it('are all found', () => {
    expect(barePaths('SELECT a[b].c, d[e].f').map((p) => p.path)).toEqual(['a[b].c', 'd[e].f']);
  });
});

describe('hints for syntax of other dialects', () => {
  it.each([
    ['SELECT TOP 5 name FROM t', 'LIMIT n'],
    ['SELECT DISTINCT TOP (5) name FROM t', 'LIMIT n'],
    ["SELECT 1 WHERE t ILIKE ANY ('a', 'b')", "ILIKE ANY (ARRAY['a', 'b'])"],
    ["SELECT 1 WHERE t LIKE ANY ('a', 'b')", "Write LIKE ANY (ARRAY['a', 'b'])"],
    ['SELECT 1 FROM t LIMIT 5, 10', 'OFFSET'],
    ['SELECT d + INTERVAL 1 DAY', "interval '1 day'"],
    ["SELECT 1 WHERE t REGEXP 'a'", 'text ~ pattern'],
    ['SELECT 1 FROM t QUALIFY row_number() OVER () = 1', 'sub-query'],
    ['SELECT 1 FROM t CROSS APPLY f(t.a)', 'LATERAL'],
    ['SELECT try_cast(a AS int)', 'cast(value AS type)'],
    ['SELECT * EXCEPT (a) FROM t', 'List the columns'],
    ["SELECT group_concat(a SEPARATOR ';')", 'string_agg'],
    ['SELECT 1 MINUS SELECT 2', 'EXCEPT'],
    ['SELECT 1 WHERE a == 1', 'Write =.'],
    ['SELECT rel[c*].x', '"rel[c*].x"'],
  ])('%s', (text, said) => {
    expect(syntaxHint(text)).toContain(said);
  });

  it('are not given for other texts', () => {
    for (const text of ['SELECT 1 2', 'SELECT topping FROM t', "SELECT 'SELECT TOP 5' x y", 'SELECT "TOP" 5 x']) expect(syntaxHint(text)).toBeUndefined();
  });
});

describe('the name at an offset', () => {
  it('has its quotes and qualifiers', () => {
    expect(nameAt('SELECT hours, x', 7)).toBe('hours');
    expect(nameAt('SELECT j."of[c].w" + 1', 7)).toBe('j."of[c].w"');
    expect(nameAt('SELECT 1', 7)).toBeUndefined();
    expect(nameAt('SELECT hours', 8)).toBeUndefined();
  });
});
