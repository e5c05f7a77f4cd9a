import { describe, expect, it } from 'vitest';
import { withoutThoughts } from '../../../src/llm/fence.ts';
import { literalsOf, sameSql, sqlIn, statement } from '../../../src/llm/sql-text.ts';

describe('SQL in the answer of a model', () => {
  it('is found inside a fence, or if the text begins like a query', () => {
    expect(sqlIn('Sure!\n```sql\nSELECT 1;\n```\nDone.')).toBe('SELECT 1');
    expect(sqlIn('```\nWITH a AS (SELECT 1) SELECT * FROM a\n```')).toBe('WITH a AS (SELECT 1) SELECT * FROM a');
    expect(sqlIn('select 1 ;\n')).toBe('select 1');
  });

  it('is not found in prose or broken JSON', () => {
    for (const text of ['', 'I am sorry', '{"sql": "SELECT SUM(freight', '{"foo":[1]}', 'selection is hard', '```\n```']) expect(sqlIn(text)).toBeUndefined();
  });

  it('loses semicolons and a fence around it, nothing else', () => {
    expect(statement("  SELECT ';' ; ;\n")).toBe("SELECT ';'");
    expect(statement('```sql\nSELECT 1\n```')).toBe('SELECT 1');
    expect(statement('SELECT 1; DROP TABLE t')).toBe('SELECT 1; DROP TABLE t');
  });

  it('is complete or not used: a part of a long statement would be another one', () => {
    const long = `SELECT a FROM t WHERE a IN (${'1, '.repeat(9000)}2) AND b = 3`;
    expect([statement(long), sqlIn(long), sqlIn(`\`\`\`sql\n${long}\n\`\`\``)]).toEqual(['', undefined, undefined]);
    expect([statement(`SELECT 1${' '.repeat(200_000)}`), sqlIn(`SELECT 1 -- ${'x'.repeat(200_000)}`)]).toEqual(['', undefined]);
  });

  it('is the final one: not a draft, and without a fence', () => {
    expect(sqlIn('<think>```sql\nSELECT 0\n```</think>\n```sql\nSELECT 1\n```')).toBe('SELECT 1');
    expect(sqlIn('Either ```sql\nSELECT 1\n``` or ```sql\nSELECT 2\n```')).toBeUndefined();
    expect(sqlIn('```sql\nSELECT 1\n``` that is ```select 1;```')).toBe('SELECT 1');
    expect(statement("SELECT '```sql x```' AS a FROM t")).toBe("SELECT '```sql x```' AS a FROM t");
  });

  it('is found after unterminated reasoning, in linear time', () => {
    // quadratic time would take minutes
    expect(withoutThoughts(`${'<think>'.repeat(100_000)}</thinkx`)).toHaveLength(700_008);
    expect(withoutThoughts('<think>a</thinking>b</thinkx>')).toBe('b</thinkx>');
  });

  it('has no control characters, and is read in linear time', () => {
    expect(statement("SELECT\u0000 '\u001b[2J\ud800'\r\n\tFROM t")).toBe("SELECT  ' [2J\ufffd'\n\tFROM t");
    const hostile = `SELECT 1${' ;'.repeat(9000)}x`;
    for (let i = 0; i < 300; i++) expect(statement(hostile).length).toBe(hostile.length);
  });

  it('is the same for any white space and case outside of quotes', () => {
    expect(sameSql('SELECT  a\nFROM t', 'select a from T')).toBe(true);
    expect(sameSql("SELECT 'A'", "SELECT 'a'")).toBe(false);
    expect(sameSql('SELECT `A`', 'SELECT `a`')).toBe(false);
    expect(sameSql("SELECT 'a  b'", "SELECT 'a b'")).toBe(false);
  });

  it('has its literals listed', () => {
    expect(literalsOf("SELECT 1 WHERE a = 'it''s' AND b IN ('x', '')")).toEqual(["it's", 'x', '']);
  });
});
