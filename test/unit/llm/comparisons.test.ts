import { describe, expect, it } from 'vitest';
import { comparisonsOf, relationsOf } from '../../../src/llm/comparisons.ts';

const of = (sql: string) => comparisonsOf(sql).map(({ column, target, value }) => `${target === null ? '' : `${target}.`}${column}=${value}`);

describe('comparisons of a statement', () => {
  it.each([
    ["SELECT 1 FROM svc.t WHERE status = 'a'", ['status=a']],
    ["WHERE o.status <> 'it''s' AND `x y` != 'b'", ["status=it's", 'x y=b']],
    ["WHERE `a[b].c[d].name` IN ('x', 'y') OR \"p[q*3].r\" NOT IN ('z')", ['d.name=x', 'd.name=y', 'q.r=z']],
    ["WHERE o.`placed_by[customer].segment`='b2b'", ['customer.segment=b2b']],
    ["WHERE LOWER(status) = 'a'", []],
    ["WHERE status LIKE 'a%' AND n > 3 AND day = DATE '2026-01-01'", []],
    ["SELECT 'a = ''b'''", []],
    ["WHERE 'a' = status", []],
  ])('are read: %s', (sql, expected) => {
    expect(of(sql)).toEqual(expected);
  });

  it('are limited, and read in linear time', () => {
    expect(comparisonsOf(`WHERE a IN (${Array.from({ length: 500 }, (_, i) => `'${i}'`).join(', ')})`)).toHaveLength(50);
    for (const part of ["a = '", 'a IN (', '`', '"', "a IN ('x', ", ' ', '\u0000']) expect(comparisonsOf(part.repeat(10_000)).length).toBeLessThanOrEqual(50);
  });
});

describe('a long comment of one character', () => {
  // quadratic time would take minutes
  it.each(['a', 'A1_', '`', '"', '""', 'é', "'"])('is skipped: %s', (part) => {
    const sql = `SELECT 1 FROM svc.t /* ${part.repeat(400_000 / part.length)} */ WHERE a = 'b'`;
    expect(comparisonsOf(sql).length).toBeLessThanOrEqual(1);
    expect(relationsOf(sql, 'svc')).toContain('t');
  });
});

describe('relations of a statement', () => {
  it('are the names after a schema of the product', () => {
    const sql = 'SELECT o.status, \'dshop.no\' FROM dshop.`order line` o JOIN SHOP.customer c ON c.id = o.c JOIN vshop."v" USING (id)';
    expect(relationsOf(sql, 'shop')).toEqual(['order line', 'customer', 'v']);
  });
});
