import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { significant, type Token, tokenize } from '../../../src/language/lexer.ts';
import { MAX_STATEMENT_BYTES, splitScript } from '../../../src/language/split.ts';
import { generated } from '../../support/generated.ts';
import { sql } from './arbitrary.ts';

const texts = (script: string): string[] => splitScript(script).map((s) => s.text);

describe('splitScript', () => {
  it('splits at semicolons outside of strings, names and comments', () => {
    expect(texts(`SELECT 'a;b'; SELECT "c;d", \`e;f\` /* ; */ -- ;\n, $$;$$;\n\nSELECT (1;2)`)).toEqual([
      `SELECT 'a;b'`,
      'SELECT "c;d", `e;f` /* ; */ -- ;\n, $$;$$',
      'SELECT (1',
      '2)',
    ]);
  });

  it('omits empty statements and blanks around the others', () => {
    expect(texts(' ; ;; -- a\n /* b */ ;')).toEqual([]);
    expect(texts('-- first\nSELECT 1 -- last\n; /* x */')).toEqual(['SELECT 1']);
    expect(texts('')).toEqual([]);
  });

  it('returns the offset of each statement', () => {
    const script = "SELECT '🜁;東京'; -- x\n  SELECT 2;SELECT 3";
    const found = splitScript(script);
    expect(found.map((s) => s.text)).toEqual(["SELECT '🜁;東京'", 'SELECT 2', 'SELECT 3']);
    for (const s of found) expect(script.slice(s.offset, s.offset + s.text.length)).toBe(s.text);
  });

  it('reports the position of an unterminated token, in every statement', () => {
    expect(() => splitScript("SELECT 1; SELECT 'x; SELECT 2")).toThrow(expect.objectContaining({ code: 'syntax_error', offset: 17 }));
  });

  it('refuses a statement over 64 KiB of UTF-8', () => {
    const long = (bytes: number, c = 'x') => `SELECT '${c.repeat((bytes - 9) / Buffer.byteLength(c))}'`;
    expect(Buffer.byteLength(long(MAX_STATEMENT_BYTES))).toBe(65_536);
    expect(splitScript(`${long(65_536)};${long(65_536)}`)).toHaveLength(2);
    expect(() => splitScript(`SELECT 1; ${long(65_537)}`)).toThrow(expect.objectContaining({ status: 413, code: 'statement_too_long', offset: 10 }));
    expect(() => splitScript(long(65_536 + 3, '東'))).toThrow(expect.objectContaining({ status: 413 }));
    expect(splitScript(long(65_535 - 1, '東'))).toHaveLength(1);
  });

  it('splits joined statements again', () => {
    const statement = sql.map(first).filter((t) => t !== '');
    fc.assert(
      fc.property(fc.array(fc.tuple(statement, fc.constantFrom(';', ' ;\n', '\n;;', '; /* ; */ ', ' -- ;\n;')), { maxLength: 6 }), (parts) => {
        const script = parts.map(([text, separator]) => text + separator).join('');
        const found = splitScript(script);
        expect(found.map((s) => s.text)).toEqual(parts.map(([text]) => text));
        for (const s of found) expect(script.slice(s.offset, s.offset + s.text.length)).toBe(s.text);
      }),
      generated(300),
    );
  });
});

/** The text before the first separating semicolon, without the blanks and comments around it. */
function first(text: string): string {
  const tokens = tokenize(text).filter((t) => t.kind !== 'space' && t.kind !== 'comment');
  const end = tokens.findIndex((t) => t.value === ';' && t.kind === 'punct');
  const kept = end < 0 ? tokens : tokens.slice(0, end);
  return kept.length === 0 ? '' : text.slice(kept[0]?.start, kept.at(-1)?.end);
}

describe('a generated script', () => {
  const PIECES = [
    'a',
    'B9',
    '_x$',
    'é',
    ';',
    ' ',
    '\n',
    "'x;y'",
    "E'\\';'",
    "U&'\\0041;'",
    'U&"a;b"',
    'u&',
    "b'01'",
    "n'a'",
    "zz'q'",
    '"n;m"',
    '`b;c`',
    '$$a;b$$',
    '$t$;$t$',
    '$1',
    '--;\n',
    '/*;*/',
    '-',
    '/',
    '*',
    '<=',
    '(',
    ')',
    ',',
    '.',
    '::',
    '[',
    '12',
    '1.5',
    '.5',
    '&',
    '{',
  ];

  it('is split at the same places as its tokens', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }), (pieces) => {
        const text = pieces.join('');
        expect(outcome(() => splitScript(text))).toEqual(outcome(() => byTokens(text)));
      }),
      generated(2_000),
    );
  });

  /** The statements of a text, from all of its tokens. */
  function byTokens(text: string): { readonly text: string; readonly offset: number }[] {
    const statements: Token[][] = [[]];
    for (const token of significant(tokenize(text))) {
      if (token.kind === 'punct' && token.value === ';') statements.push([]);
      else statements.at(-1)?.push(token);
    }
    return statements.flatMap((tokens) => {
      const [first, last] = [tokens[0], tokens.at(-1)];
      return first && last ? [{ text: text.slice(first.start, last.end), offset: first.start }] : [];
    });
  }

  function outcome(make: () => unknown): unknown {
    try {
      return make();
    } catch (error) {
      return error instanceof SvcError ? [error.code, error.message, error.offset] : error;
    }
  }
});
