import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { significant, tokenize } from '../../../src/language/lexer.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { parsePrepared, prepareSelect } from '../../../src/language/prepare.ts';
import { generated } from '../../support/generated.ts';
import { sql } from './arbitrary.ts';

let parser: SqlParser;
beforeAll(async () => {
  parser = await loadNodeParser();
});

const LONG = 'placed[order].includes[product].in_category[category].part_of[category].name';
const prepare = (text: string, offset = 0) => prepareSelect({ text, offset });

describe('prepareSelect', () => {
  it('does not change a text without back-quotes and long names', () => {
    const text = 'SELECT "a b", \'`x`\'\n FROM svc.city';
    expect(prepare(text).text).toBe(text);
    expect(prepare(text, 10).toSource(7)).toBe(17);
  });

  it.each([
    ['SELECT `a`', 'SELECT "a"'],
    ['SELECT `a``b`', 'SELECT "a`b"'],
    ['SELECT `say "hi"`', 'SELECT "say ""hi"""'],
    ['SELECT a`b`', 'SELECT a"b"'],
    ['SELECT U&`b`', 'SELECT U& "b"'],
    ['SELECT "a"`b`', 'SELECT "a" "b"'],
    ['SELECT `a`"b"', 'SELECT "a" "b"'],
    ['SELECT `a` `b`', 'SELECT "a" "b"'],
    ['SELECT 1/* `y` */+-- `y`\n 2', 'SELECT 1 + \n 2'],
    ["SELECT 'a' -- c\n /* d */ 'b'", "SELECT 'a' /**/\n   'b'"],
  ])('%s -> %s', (text, prepared) => expect(prepare(text).text).toBe(prepared));

  it('replaces each name over 63 bytes by one short name', () => {
    const { text, standIns } = prepare(`SELECT "${LONG}", \`${LONG}\`, "${LONG}2" FROM dsvc.c`);
    expect(text).toBe('SELECT "~1~", "~1~", "~2~" FROM dsvc.c');
    expect([...standIns]).toEqual([
      ['~1~', LONG],
      ['~2~', `${LONG}2`],
    ]);
  });

  it('counts bytes, not characters', () => {
    const ascii = 'x'.repeat(63);
    expect(prepare(`SELECT "${ascii}"`).standIns.size).toBe(0);
    expect(prepare(`SELECT "${ascii}x"`).standIns.size).toBe(1);
    expect(prepare(`SELECT "${'東'.repeat(21)}"`).standIns.size).toBe(0);
    expect(prepare(`SELECT "${'東'.repeat(22)}"`).standIns.get('~1~')).toBe('東'.repeat(22));
  });

  it('keeps unquoted names in lower case', () => {
    const { text, standIns } = prepare(`SELECT ${'AbÄ'.repeat(30)} AS x`);
    expect(text).toBe('SELECT "~1~" AS x');
    expect(standIns.get('~1~')).toBe('abÄ'.repeat(30));
  });

  it('never uses a name of the text as a short name', () => {
    const { text, standIns } = prepare(`SELECT "~1~", U&"\\007e~1~", "${LONG}"`);
    expect(text).toBe('SELECT "~~~1~", "~~~2~", "~~~3~"');
    expect([...standIns.values()]).toEqual(['~1~', '~~1~', LONG]);
  });

  it("replaces names like the planner's, but not paths, and not in a text about tables", () => {
    const text = 'SELECT "~5", `~5`, "~knows[c].p", "~", a."~x" FROM c';
    const { text: prepared, standIns } = prepare(text);
    expect(prepared).toBe('SELECT "~1~", "~1~", "~knows[c].p", "~2~", a."~3~" FROM c');
    expect([...standIns.values()]).toEqual(['~5', '~', '~x']);
    expect(prepareSelect({ text, offset: 0 }, true).text).toBe(text.replaceAll('`', '"'));
  });

  it('maps each byte to its origin', () => {
    const text = `SELECT '🜁é' AS \`gr"ö\`, "${LONG}", naem FROM c`;
    const prepared = prepare(text, 100);
    const at = (needle: string) => prepared.toSource(Buffer.byteLength(prepared.text.slice(0, prepared.text.indexOf(needle))));
    expect(at('naem')).toBe(100 + text.indexOf('naem'));
    expect(at('"gr')).toBe(100 + text.indexOf('`gr'));
    expect(at('r""')).toBe(100 + text.indexOf('`gr'));
    expect(at('~1~')).toBe(100 + text.indexOf(`"${LONG}`));
    expect(prepared.toSource(Buffer.byteLength(prepared.text))).toBe(100 + text.length);
  });

  it('reports the position of an unterminated token', () => {
    expect(() => prepare("SELECT 'x", 50)).toThrow(expect.objectContaining({ code: 'syntax_error', offset: 57 }));
  });

  it('removes thousands of comments before parsing', () => {
    for (const comments of ['/**/'.repeat(16_000), '/*'.repeat(16_000) + '*/'.repeat(16_000), '--\n'.repeat(16_000)]) {
      const prepared = prepare(`SELECT ${comments} 1 AS a`);
      expect(prepared.text).not.toMatch(/--|\/\*/);
      expect(parsePrepared(parser, prepared).stmts).toHaveLength(1);
      expect(prepared.toSource(prepared.text.indexOf('1 AS'))).toBe(8 + comments.length);
    }
  });

  it('prepares a text in the same way without and with a comment after it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(sql, fc.constantFrom(LONG.replaceAll(/\W/g, '_'), ` "${LONG}" `)), { maxLength: 4 }).map((parts) => parts.join(' ')),
        (text) => {
          const [alone, commented] = [prepare(text), prepare(`${text} /**/`)];
          expect(commented.text).toBe(`${alone.text}  `);
          expect(commented.standIns).toEqual(alone.standIns);
        },
      ),
      generated(200),
    );
  });

  it('keeps every token at its position', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(sql, fc.constantFrom(LONG.replaceAll(/\W/g, '_'), ` "${LONG}" `, ` \`${LONG}\` `)), { maxLength: 6 }),
        fc.nat(1000),
        (parts, offset) => {
          const text = parts.join(' ');
          const prepared = prepare(text, offset);
          const before = significant(tokenize(text));
          const after = significant(tokenize(prepared.text));
          const undone = after.map((t) => prepared.standIns.get(t.value) ?? t.value);
          expect(undone.map((v) => v.toLowerCase())).toEqual(before.map((t) => t.value.toLowerCase()));
          expect(after.map((t) => prepared.toSource(Buffer.byteLength(prepared.text.slice(0, t.start))))).toEqual(before.map((t) => offset + t.start));
        },
      ),
      generated(500),
    );
  });
});

describe('parsePrepared', () => {
  it.each([
    ["SELECT `größer`, 'it''s' FROM c WHERE GROUP BY 1", 'GROUP'],
    [`SELECT "${LONG}" AS a,, 1`, ', 1'],
    [`SELECT '🜁' AS \`b c\`, \`${LONG}\` \`x\` 2`, '2'],
    ['SELECT `a` FROM `b` ORDER', ''],
  ])('has positions in the whole text: %s', (text, at) => {
    const offset = at === '' ? text.length : text.indexOf(at);
    expect(() => parsePrepared(parser, prepare(text, 30))).toThrow(expect.objectContaining({ code: 'syntax_error', offset: 30 + offset }));
  });

  it('shows names as written', () => {
    expect(() => parsePrepared(parser, prepare(`SELECT 1 2 "${LONG}"`))).toThrow('syntax error at or near "2"');
    expect(() => parsePrepared(parser, prepare(`SELECT a b "${LONG}"`))).toThrow(`syntax error at or near ""${LONG}""`);
  });

  it('hints at quotes for a path without quotes', () => {
    const hint = 'A relationship path is one quoted name. Write "lives_in[city*].name".';
    expect(() => parsePrepared(parser, prepare('SELECT lives_in[city*].name FROM dsvc.person'))).toThrow(expect.objectContaining({ hint }));
    expect(() => parsePrepared(parser, prepare('SELECT 1 2'))).toThrow(expect.objectContaining({ hint: undefined }));
  });

  it('returns the trees with the original names', () => {
    const { stmts } = parsePrepared(parser, prepare('SELECT `say "hi"` FROM `svc`.`order`'));
    expect(stmts[0]?.stmt).toHaveProperty('SelectStmt.targetList.0.ResTarget.val.ColumnRef.fields.0.String.sval', 'say "hi"');
    expect(stmts[0]?.stmt).toHaveProperty('SelectStmt.fromClause.0.RangeVar.relname', 'order');
  });
});
