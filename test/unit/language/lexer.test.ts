import fc from 'fast-check';
import { loadModule, scanSync } from 'libpg-query';
import { beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { significant, tokenize } from '../../../src/language/lexer.ts';
import { cpuSeconds } from '../../support/cpu.ts';
import { generated } from '../../support/generated.ts';
import { sql } from './arbitrary.ts';

const kinds = (text: string): string[] => significant(tokenize(text)).map((t) => t.kind);
const values = (text: string): string[] => significant(tokenize(text)).map((t) => t.value);

function fault(text: string): SvcError {
  try {
    tokenize(text);
  } catch (e) {
    if (e instanceof SvcError) return e;
    throw e;
  }
  throw new Error(`lexed: ${text}`);
}

describe('strings', () => {
  it.each([
    ["'it''s'", "it's"],
    ["'a\\nb'", 'a\\nb'],
    ["''", ''],
    ["E'a\\nb\\t\\'x\\'\\\\ \\x41\\101\\u00e4\\U0001F701 ''q'''", "a\nb\t'x'\\ AAä🜁 'q'"],
    ["E'\\xc3\\xa4 \\303\\244'", 'ä ä'],
    ["U&'d\\0061t\\+01F701 \\\\'", 'dat🜁 \\'],
    ["U&'\\D83D\\DE00'", '😀'],
    ["U&'d!0061t!!' UESCAPE '!'", 'dat!'],
    ["U&'d!0061t' /* c */ -- d\n uescape '!'", 'dat'],
    ["N'n'", 'n'],
    ["b'01'", '01'],
    ["X'1f'", '1f'],
    ["'a'\n'b'", 'ab'],
    ["'a' \r\n\t'b'", 'ab'],
    ["E'a'\n'b\\'c'", "ab'c"],
    ['$$it\'s "x"$$', 'it\'s "x"'],
    ['$a$ $$ $b$ $a$', ' $$ $b$ '],
    ['$größe$x$größe$', 'x'],
  ])('%s is one string', (text, value) => {
    expect(kinds(text)).toEqual(['string']);
    expect(values(text)).toEqual([value]);
  });

  it('are two without a line break between them', () => {
    expect(values("'a' 'b'")).toEqual(['a', 'b']);
    expect(values("'a' /* \n */ 'b'")).toEqual(['a', 'b']);
    expect(values("'a' -- c\n 'b'")).toEqual(['a', 'b']);
  });
});

describe('names', () => {
  it.each([
    ['"a""b"', 'a"b'],
    ['`a``b`', 'a`b'],
    ['`say "hi"`', 'say "hi"'],
    ['"back`quote"', 'back`quote'],
    ['U&"d\\0061t"', 'dat'],
    ['U&"d!0061t" UESCAPE \'!\'', 'dat'],
    ['""', ''],
  ])('%s is one quoted name', (text, value) => {
    expect(kinds(text)).toEqual(['name']);
    expect(values(text)).toEqual([value]);
  });

  it('without quotes keep their case', () => {
    expect(values('SELECT Größe, naïve_$1, _x, 東京🜁')).toEqual(['SELECT', 'Größe', ',', 'naïve_$1', ',', '_x', ',', '東京🜁']);
    expect(kinds('Größe 東京🜁')).toEqual(['word', 'word']);
  });

  it('do not begin with a letter that only looks like a prefix', () => {
    expect(kinds("index 'a'")).toEqual(['word', 'string']);
    expect(kinds("be'a'")).toEqual(['word', 'string']);
    expect(kinds('b`a`')).toEqual(['word', 'name']);
    expect(kinds('u & "a"')).toEqual(['word', 'operator', 'name']);
  });
});

describe('numbers, parameters, operators', () => {
  it.each(['0', '1_000', '0x1F', '0o17', '0b1_0', '1.', '.5', '1.5', '1e5', '1.5e-3', '1.e+2'])('%s is a number', (text) =>
    expect(kinds(text)).toEqual(['number']),
  );
  it('do not include other dots', () => expect(values('1..2 a.1')).toEqual(['1', '.', '.2', 'a', '.1']));
  it('$1 is a parameter', () => expect(kinds('$1 + $23')).toEqual(['param', 'operator', 'param']));
  it.each([
    ['a=-1', ['a', '=', '-', '1']],
    ['a@-1', ['a', '@-', '1']],
    ['a*-- c\n1', ['a', '*', '1']],
    ['a+/* c */1', ['a', '+', '1']],
    ['a->>b', ['a', '->>', 'b']],
    ['=`a`', ['=', 'a']],
    ['a::int[]', ['a', '::', 'int', '[', ']']],
  ])('%s', (text, tokens) => expect(values(text)).toEqual(tokens));
});

describe('unterminated tokens', () => {
  it.each([
    ["SELECT 'abc", 7, 'unterminated quoted string'],
    ["SELECT E'abc\\'", 7, 'unterminated quoted string'],
    ["SELECT 'a'\n 'b", 7, 'unterminated quoted string'],
    ['SELECT "abc', 7, 'unterminated quoted identifier'],
    ['SELECT `abc``', 7, 'unterminated quoted identifier'],
    ['SELECT /* a /* b */', 7, 'unterminated /* comment'],
    ['SELECT $a$ $b$', 7, 'unterminated dollar-quoted string'],
    [`SELECT ${'+'.repeat(64)}1`, 7, 'operator too long'],
    ['SELECT 1a', 7, 'trailing junk after numeric literal'],
    ['SELECT 0x', 7, 'trailing junk after numeric literal'],
    ["SELECT U&'\\00'", 7, 'invalid Unicode escape'],
    ['SELECT 1\0', 8, 'a statement cannot contain a NUL character'],
    ["'🜁' '\ud800'", 6, 'a statement cannot contain an unpaired surrogate'],
  ])('%s', (text, offset, message) => expect(fault(text)).toMatchObject({ status: 400, code: 'syntax_error', offset, message }));
});

describe('all texts', () => {
  beforeAll(loadModule);

  // quadratic time would take minutes
  it('are read in linear time', () => {
    const before = process.cpuUsage();
    const whole = 2 ** 18;
    const long = ['+ ', "'", '"a"', '`', '/*', '$', '$a', '$a$', "U&'a' ", '-', '(', 'é', '1_', "'a'\n", 'a.', '~!', '\\'].map((piece) =>
      piece.repeat(whole / piece.length),
    );
    for (const text of long) {
      try {
        tokenize(text);
      } catch (e) {
        expect(e).toBeInstanceOf(SvcError);
      }
    }
    expect(cpuSeconds(before)).toBeLessThan(30);
  });

  it('equal their tokens joined', () => {
    fc.assert(
      fc.property(sql, (text) => {
        const tokens = tokenize(text);
        expect(tokens.map((t) => text.slice(t.start, t.end)).join('')).toBe(text);
        for (const t of tokens) expect(t.end).toBeGreaterThan(t.start);
      }),
      generated(500),
    );
  });

  it('of any characters equal their tokens joined, or are an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'\'"`$/*-eEuU&bxX\\ \n;.:1a0[](_é🜁') }), (text) => {
        try {
          expect(
            tokenize(text)
              .map((t) => text.slice(t.start, t.end))
              .join(''),
          ).toBe(text);
        } catch (e) {
          if (!(e instanceof SvcError)) throw e;
          expect(e.code).toBe('syntax_error');
          expect(e.offset).toBeGreaterThanOrEqual(0);
          expect(e.offset).toBeLessThan(text.length);
        }
      }),
      generated(2000),
    );
  });

  // PostgreSQL's own scanner as an independent check, on texts without back-quotes, which it does not know
  it('have strings, names and comments where PostgreSQL has them', () => {
    let compared = 0;
    const agree = (text: string): void => {
      // PostgreSQL refuses an invalid escape, and an escape character continued on the next line, after its scanner
      if (/uescape '.'\s*\n\s*'|u&['"].*\\/i.test(text)) return;
      const bytes = Buffer.from(text);
      let theirs: { start: number; end: number }[];
      try {
        theirs = scanSync(text).tokens;
      } catch {
        return;
      }
      const ours = tokenize(text)
        .filter((t) => ['string', 'name', 'comment'].includes(t.kind))
        .map((t) => ({ start: Buffer.byteLength(text.slice(0, t.start)), end: Buffer.byteLength(text.slice(0, t.end)) }))
        // it has the N of N'..' and the UESCAPE of U&'..' as separate tokens
        .map(({ start, end }) => ({ start: /^n/i.test(bytes.toString('utf8', start)) ? start + 1 : start, end }));
      const expected = theirs.filter((t) => QUOTED.test(bytes.toString('utf8', t.start, t.end)) && !ours.some((o) => o.start < t.start && o.end >= t.end));
      expect(ours.map((t) => t.start)).toEqual(expected.map((t) => t.start));
      for (const [i, { start, end }] of ours.entries()) if (!/uescape/i.test(bytes.toString('utf8', start, end))) expect(end).toBe(expected[i]?.end);
      compared++;
    };
    const QUOTED = /^(["']|--|\/\*|\$\D|[ebx]'|u&["'])/i;
    fc.assert(
      fc.property(sql, (text) => agree(text.replaceAll('`', ''))),
      generated(500),
    );
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(..."''\"$$/*-eEuU&bxn\\ \n;.1a[é"), maxLength: 14 }), agree), generated(3000));
    expect(compared).toBeGreaterThan(800);
  });
});
