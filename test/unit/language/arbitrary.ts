/** Generators that the tests of the language share. */
import fc from 'fast-check';

/** Complete pieces of SQL, awkward ones first. */
export const PIECES = [
  "'it''s; `x` \"y\"'",
  "'a'\n  'b'",
  "'a' -- c\n 'b;'",
  "E'a\\'b\\\\'",
  "e'\\n''x'",
  "U&'d\\0061t'",
  'U&"d!0061" UESCAPE \'!\'',
  "B'01'",
  "x'1F'",
  "N'n;'",
  '$$ it\'s; "x" `y` $$',
  '$tag$ $$ ; $tag$',
  '$größe$ ; $größe$',
  '"a""b"',
  '"placed[order].name"',
  '"semi;colon"',
  '`a``b`',
  '`say "hi"`',
  '`größe;`',
  '/* ; /* nested \' */ " */',
  '-- it\'s; "\n',
  '/**/',
  '0x1F',
  '1_000',
  '1e5',
  '.5',
  '1.',
  '1.5e-3',
  '$1',
  '$12',
  'größe',
  'naïve_$1',
  '_x',
  'SELECT',
  'from',
  'Ü',
  '東京',
  '🜁',
  '+',
  '-',
  '*',
  '/',
  '<>',
  '->>',
  '@-',
  '!=-',
  '||',
  '::',
  ':',
  '(',
  ')',
  '[',
  ']',
  ',',
  '.',
  '{',
  '\\',
  ' ',
  '\n',
  '\t\r\n',
  '\f',
  ';',
] as const;

/** Texts in which every string, name and comment ends; pieces are separated if they would join to another token. */
export const sql = fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(' ', ' ', '\n', '')), { maxLength: 25 }).map((pieces) => {
  let text = '';
  for (const [piece, gap] of pieces) text += joins(text, piece) ? ` ${piece}${gap}` : piece + gap;
  return text;
});

const joins = (before: string, piece: string): boolean =>
  /[\w$"'`\u0080-\uffff.&]$/.test(before) && /^[\w$"'`\u0080-\uffff.&]/.test(piece) ? true : /[-/*+<>=|!@&:~]$/.test(before) && /^[-/*+<>=|!@&:]/.test(piece);

/** Any text that may be a name (docs/design/statements-and-versions.md#names-of-things). */
export const name = fc
  .oneof(
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'a',
        'Order',
        'name',
        'key',
        'label',
        'primary',
        'constraint',
        'measure',
        'select',
        'AS',
        'a b',
        'quo`te',
        'say "hi"',
        "it's",
        'größe',
        '東京 🜁',
        'semi;colon',
        '--x',
        '/* x',
        '$$',
        'a.b',
        '1',
        'x\\y',
        '(',
        "';--",
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme-composite', minLength: 1, maxLength: 20 }) },
  )
  .filter((text) => !/[[\]]|\p{Cc}/u.test(text) && !/^(~|measure\.|_type_of_)/i.test(text) && text.isWellFormed() && [...text].length <= 128);

/** Any text between single quotes. */
export const text = fc
  .oneof(fc.constantFrom('', "it's", 'a\nb', '`', '"', '-- no comment', ';', '\\', "E'", '東京 🜁'), fc.string({ unit: 'grapheme' }))
  .filter((t) => !t.includes('\0') && t.isWellFormed());
