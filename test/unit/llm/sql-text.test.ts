import { describe, expect, it } from 'vitest';
import { literalsOf, sameSql, sqlIn, statement } from '../../../src/llm/sql-text.ts';

describe('SQL in what a model says', () => {
  it('is found inside a fence, or where the text begins as a query', () => {
    expect(sqlIn('Sure!\n```sql\nSELECT 1;\n```\nDone.')).toBe('SELECT 1');
    expect(sqlIn('```\nWITH a AS (SELECT 1) SELECT * FROM a\n```')).toBe('WITH a AS (SELECT 1) SELECT * FROM a');
    expect(sqlIn('select 1 ;\n')).toBe('select 1');
  });

  it('is not found in prose or broken JSON', () => {
    for (const text of ['', 'I am sorry', '{"sql": "SELECT SUM(freight', '{"foo":[1]}', 'selection is hard', '```\n```']) expect(sqlIn(text)).toBeUndefined();
  });

  it('loses semicolons and a fence round it, nothing else', () => {
    expect(statement("  SELECT ';' ; ;\n")).toBe("SELECT ';'");
    expect(statement('```sql\nSELECT 1\n```')).toBe('SELECT 1');
    expect(statement('SELECT 1; DROP TABLE t')).toBe('SELECT 1; DROP TABLE t');
  });

  it('is the same whatever the space and case outside of quotes', () => {
    expect(sameSql('SELECT  a\nFROM t', 'select a from T')).toBe(true);
    expect(sameSql("SELECT 'A'", "SELECT 'a'")).toBe(false);
    expect(sameSql('SELECT `A`', 'SELECT `a`')).toBe(false);
    expect(sameSql("SELECT 'a  b'", "SELECT 'a b'")).toBe(false);
  });

  it('tells its literals', () => {
    expect(literalsOf("SELECT 1 WHERE a = 'it''s' AND b IN ('x', '')")).toEqual(["it's", 'x', '']);
  });
});
