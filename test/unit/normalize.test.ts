/** Unicode normalisation sorts the marks of a letter in quadratic time, so src normalises in one place, which limits them. */
import { scryptSync } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { verifyPassword } from '../../src/auth/passwords.ts';
import { plain } from '../../src/llm/words.ts';
import { normalized } from '../../src/normalize.ts';
import { questionKey } from '../../src/service/describe/examples.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const FORMS = ['NFC', 'NFKC', 'NFKD'] as const;

/** Pairs of marks in the wrong order, of several scripts, and letters that decompose to marks. */
const PAIRS = ['\u0301\u0323', '\u0344\u0323', '\u064b\u0653\u05b0', '\uff9e\u0301', '\u{1d16d}\u0301', '\u3099\u0301', '\u0f71\u0f74\u0f72'];
/** With quadratic time each of them would take seconds. */
const LONG = 40_000;

/** A hash that costs little. */
const stored = (text: string): string => {
  const salt = Buffer.alloc(16, 7);
  const encoded = [salt, scryptSync(text, salt, 32, { N: 2, r: 1, p: 1 })].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$scrypt$ln=1,r=1,p=1$${encoded.join('$')}`;
};

it('is linear in texts of marks', () => {
  for (const pair of PAIRS)
    for (const form of FORMS) {
      const text = normalized(pair.repeat(LONG / pair.length), form);
      expect(text.length).toBeGreaterThan(LONG / 8);
      // no more marks in a row than 256 letters can decompose to
      expect(Math.max(...text.split('\u034f').map((part) => part.length))).toBeLessThan(1600);
    }
});

it('is that of Unicode for texts of languages', () => {
  const texts = [
    '',
    'plain',
    'Ame\u0301lie',
    'a\u0301\u0323',
    '\u1e69\u0323',
    '\ufb03',
    'ﾊﾞ',
    '\u0e33',
    'שָׁלוֹם',
    'مُحَمَّد',
    `z${'\u0301\u0323'.repeat(15)}`,
    '\ud800x',
    '👩‍👩‍👧',
    '한국어',
    'Tiếng Việt',
    'हिन्दी में',
    'ภาษาไทยน้ำ',
    'བོད་ཡིག',
    // a short text may have more marks than a language
    '\u0301\u0323'.repeat(128),
    `a\u0344${'\u0301\u0323'.repeat(120)}z`,
  ];
  for (const text of texts) for (const form of FORMS) expect(normalized(text, form)).toBe(text.normalize(form));
});

it('is linear for passwords, questions and names', async () => {
  const text = '\u0301\u0323'.repeat(LONG / 2);
  expect(await verifyPassword(text, stored(normalized(text, 'NFC')))).toBe(true);
  expect(questionKey(`${text}?`)).toBe(questionKey(text));
  expect(plain('\u064b\u0653\u05b0'.repeat(LONG / 3)).length).toBeGreaterThan(0);
});

it('does not change the passwords that were hashed without a limit of marks', async () => {
  for (const password of [`x${'\u0301\u0323'.repeat(20)}`, `${'x'.repeat(300)}${'\u0301\u0323'.repeat(128)}`, `e\u0301${'x\u0323'.repeat(40_000)}`])
    for (const form of ['NFC', 'NFD']) expect(await verifyPassword(password.normalize(form), stored(password.normalize('NFC')))).toBe(true);
});

it('is used by every file of src', () => {
  const others = globSync('**/*.ts', { cwd: SRC }).filter((file) => /\.normalize\(/.test(readFileSync(join(SRC, file), 'utf8')));
  expect(others).toEqual(['normalize.ts']);
});
