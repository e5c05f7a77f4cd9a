/**
 * No regular expression of the service takes quadratic time on a text that a caller sends. recheck searches for texts on which each
 * regular expression literal of src backtracks; expressions for which it finds one must only read texts of limited length.
 *
 * `npm test` searches a little: for the known slow expressions, which it must find, and for some of the others. It proves nothing. `npm run test:deep` analyses
 * each expression as an automaton, or searches as long as recheck does by default.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from 'recheck';
import { parseSync } from 'vite';
import { expect, it } from 'vitest';
import { DEEP, patience } from '../support/generated.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('unit/regular-expressions');
const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Slow expressions that read only texts of limited length, by their beginnings, with the reason. */
const BOUNDED: readonly { readonly file: string; readonly begins: string; readonly why: string }[] = [
  { file: 'config.ts', begins: '\\/+$', why: "the operator's own PUBLIC_URL" },
  { file: 'cli/service-client.ts', begins: '\\/+$', why: 'the address that the user of the command gives' },
  { file: 'cli/introspect-names.ts', begins: '^(.*?)((?:[A-Z]?[a-z]+', why: "a table's name, of at most 63 bytes" },
  { file: 'cli/introspect-model.ts', begins: '^CHECK ', why: "a constraint of the operator's own database" },
  { file: 'cli/exchange/rdf-maps.ts', begins: '\\\\[\\\\{}]|', why: 'a template of the file that the user of the command gives' },
  { file: 'auth/passwords.ts', begins: '=+$', why: 'the base64 of a salt or a hash' },
  { file: 'auth/jwt.ts', begins: '"(?:[^"\\\\]|\\\\.)*"|', why: 'JSON that was parsed before: every string in it ends' },
  { file: 'language/filters-values.ts', begins: '"(?:[^"\\\\]|\\\\.)*"|', why: 'JSON that was parsed before: every string in it ends' },
  { file: 'planner/effort/steps.ts', begins: '"(?:[^"\\\\]|\\\\.)*"', why: 'a path of at most 10,000 characters' },
  { file: 'llm/fence.ts', begins: '<think', why: 'a text up to its last end mark: every begin mark finds an end' },
  { file: 'llm/numbers.ts', begins: '(?:about|around|', why: 'the 24 characters before a number' },
  { file: 'llm/numbers.ts', begins: '(?:^|\\n)[\\s*>|-]*$', why: 'the 24 characters before a number' },
];

/** Files that build expressions at run time: from constants, or from names of a mapping or a model file. */
const BUILT = [
  'cli/exchange/ossie-datasets.ts',
  'cli/exchange/ossie-mappings.ts',
  'engine/faults.ts',
  'language/prepare.ts',
  'llm/addresses.ts',
  'llm/comparisons.ts',
  'llm/words.ts',
  'nesting/to-char.ts',
  'service/read/faults.ts',
];

interface Literal {
  readonly file: string;
  readonly pattern: string;
  readonly flags: string;
}

const literals: Literal[] = [];
const building = new Set<string>();
for (const file of globSync('**/*.ts', { cwd: SRC })) {
  const { program, errors } = parseSync(file, readFileSync(join(SRC, file), 'utf8'));
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  visit(program, (node) => {
    const { regex, callee } = node as { regex?: Omit<Literal, 'file'>; callee?: { name?: string } };
    if (node.type === 'Literal' && regex) literals.push({ file, ...regex });
    if ((node.type === 'NewExpression' || node.type === 'CallExpression') && callee?.name === 'RegExp') building.add(file);
  });
}

/** Flags as recheck reads them: it knows neither g nor d, which have no effect here, and reads v as u. */
const asRead = (flags: string): string => flags.replace(/[gd]/g, '').replace('v', 'u');

function visit(node: unknown, take: (node: Record<string, unknown>) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) take(node as Record<string, unknown>);
  for (const below of Object.values(node)) visit(below, take);
}

it('reads the expressions of every file', () => {
  expect(literals.length).toBeGreaterThan(300);
  expect([...building].sort()).toEqual(BUILT);
});

/** Limits count steps: with times the result would depend on the load of the machine. */
const BY_STEPS = { timeout: null, attackTimeout: null, incubationTimeout: null, seedingTimeout: null };
const LEAST = {
  checker: 'fuzz',
  seedingLimit: 1,
  incubationLimit: 1,
  attackLimit: 1,
  maxIteration: 0,
  maxInitialGenerationSize: 1,
  maxGenerationSize: 1,
} as const;
const SHORT = {
  checker: 'fuzz',
  seedingLimit: 300,
  incubationLimit: 6000,
  attackLimit: 400_000,
  maxIteration: 4,
  maxInitialGenerationSize: 150,
  maxGenerationSize: 40,
} as const;
const SEARCH = DEEP ? BY_STEPS : { ...BY_STEPS, ...SHORT };

it('has no expression that recheck cannot read', async () => {
  const unread: string[] = [];
  for (const { file, pattern, flags } of oneIn(SIZES.everyRead, literals, 0)) {
    const found = await check(pattern, asRead(flags), { ...BY_STEPS, ...LEAST });
    if (found.status === 'unknown' && found.error.kind === 'invalid') unread.push(`${file}: ${pattern}`);
  }
  expect(unread).toEqual([]);
});

it('finds a quadratic expression', async () => {
  expect((await check('\\s+$', '', SEARCH)).status).toBe('vulnerable');
});

it('finds none in src that reads texts of unlimited length', { timeout: patience(300_000) }, async () => {
  const slow: string[] = [];
  const found = new Set<(typeof BOUNDED)[number]>();
  const isTried = new Set(oneIn(SIZES.every, literals, 0));
  for (const literal of literals) {
    const { file, pattern, flags } = literal;
    const known = BOUNDED.find((bounded) => bounded.file === file && pattern.startsWith(bounded.begins));
    if (known === undefined && !isTried.has(literal)) continue;
    const { status } = await check(pattern, asRead(flags), SEARCH);
    if (status === 'safe') continue;
    if (known) found.add(known);
    else slow.push(`${file}: ${pattern}`);
  }
  expect(slow).toEqual([]);
  expect(BOUNDED.filter((known) => !found.has(known))).toEqual([]);
});
