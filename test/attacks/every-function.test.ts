/**
 * Every function of PostgreSQL that a caller must not call, in every form: as a call, as an attribute, in every place of SQL. All are refused at
 * plan time, before any database; and by the verifier independently.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED_FUNCTIONS } from '../../src/planner/guard/index.ts';
import { type Declared, RefusedByVerifier, verify } from '../../src/planner/verify/index.ts';
import { forbiddenFunctions, parser, passing, planned, quoted } from '../support/every-function.ts';
import { patience } from '../support/generated.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { ATTRIBUTES, CALLS, FIELDS, type Spelling } from '../support/spellings.ts';

const SIZES = sizesOf('attacks/every-function');

let forbidden: readonly string[];
let plain: ReadonlySet<string>;
const { stackTraceLimit } = Error;
beforeAll(async () => {
  const found = await forbiddenFunctions();
  forbidden = found.names;
  plain = found.plain;
  // an error for each of several hundred thousand statements: their stacks are not needed
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

const TURNS: ReadonlyMap<Spelling, number> = new Map([...CALLS, ...ATTRIBUTES, ...FIELDS].map((spelling, i) => [spelling, i]));
/** The names that are tried in a form: all in the first form of each kind, otherwise one in `everyOfForm` or `every`, different ones for each form. */
function namesFor(spelling: Spelling, names: readonly string[] = forbidden): readonly string[] {
  if ([CALLS, ATTRIBUTES, FIELDS].some(([first]) => first === spelling)) return names;
  return oneIn(spelling.some ? SIZES.every : SIZES.everyOfForm, names, TURNS.get(spelling) ?? 0);
}

describe('the functions that callers must not call', () => {
  it('are most of the functions', () => {
    expect(forbidden.length).toBeGreaterThan(2000);
    expect(plain.size).toBeGreaterThan(2000);
  });
});

describe('a form that is refused only because of its function', () => {
  it.each([...CALLS, ...FIELDS].filter((s) => s.sound !== undefined))('$what', ({ sql, sound }) => {
    expect(planned(sql(sound as string))).toBeUndefined();
    expect(planned(sql(quoted(sound as string)))).toBeUndefined();
  });
});

describe.each([
  ['a call as', CALLS],
  ['an attribute of', ATTRIBUTES],
  ['a field of', FIELDS],
] as const)('%s', (_, spellings) => {
  it.each(spellings)('$what', { timeout: patience(60_000) }, (spelling) => {
    expect(passing(namesFor(spelling), (f) => planned(spelling.sql(quoted(f))))).toEqual([]);
  });
});

describe('other spellings of a name', () => {
  const SPELLED: readonly (readonly [what: string, spell: (f: string) => string])[] = [
    ['without quotes', (f) => f],
    ['in upper case', (f) => f.toUpperCase()],
    ['in back-quotes', (f) => `\`${f}\``],
    ['with escapes', (f) => `U&"\\${f.charCodeAt(0).toString(16).padStart(4, '0')}${f.slice(1)}"`],
    ['after a comment', (f) => `/* a */ ${f} -- b\n`],
  ];
  const some = (spell: string): readonly string[] => oneIn(SIZES.everyOfForm, [...plain], spell.length);
  it.each(SPELLED)('of a call, %s', { timeout: patience(60_000) }, (what, spell) => {
    expect(planned(`SELECT ${spell('upper')}('x') AS v`)).toBeUndefined();
    expect(passing(some(what), (f) => planned(`SELECT ${spell(f)}('x') AS v`))).toEqual([]);
  });

  it.each(SPELLED)('of an attribute, %s', { timeout: patience(60_000) }, (what, spell) => {
    expect(passing(some(what), (f) => planned(`SELECT ('x').${spell(f)} AS v`))).toEqual([]);
  });

  it('in other schemas', () => {
    for (const [i, schema] of ['public', 'information_schema', 'svc', '"PG_CATALOG"', 'pg_temp'].entries())
      expect(
        passing(oneIn(SIZES.everySchema, forbidden, i), (f) => planned(`SELECT ${schema}.${quoted(f)}('x') AS v`)),
        schema,
      ).toEqual([]);
  });
});

describe('allowed functions, as attributes', () => {
  const allowed = [...ALLOWED_FUNCTIONS];
  it.each(ATTRIBUTES)('of $what', { timeout: patience(60_000) }, (spelling) => {
    expect(passing(namesFor(spelling, allowed), (f) => planned(spelling.sql(quoted(f))))).toEqual([]);
  });

  it.each(FIELDS)('of $what, which has no such field', { timeout: patience(60_000) }, (spelling) => {
    expect(passing(namesFor(spelling, allowed), (f) => planned(spelling.sql(quoted(f))))).toEqual([]);
  });
});

describe('the verifier without the planner', () => {
  const declared: Declared = {
    tables: ['svc', 'dsvc'].map((schema) => ({ schema, name: 'zq_one', columns: new Set(['zq_id', 'zq_name', 'entity_id', 'c']), isWhole: true })),
    functions: new Set(),
    params: 0,
  };
  const verified = (text: string): string | undefined => {
    try {
      verify(parser, text, declared);
      return undefined;
    } catch (error) {
      if (!(error instanceof RefusedByVerifier)) throw error;
      return error.kind === 'syntax' ? 'syntax_error' : error.kind;
    }
  };

  // `(c).zq_name` of a table and fields of sub-queries are refused, too: PostgreSQL would look for a function
  it.each([...CALLS, ...FIELDS].filter((s) => s.sound !== undefined && !s.sql('').includes('(c).')))('accepts $what', ({ sql, sound }) => {
    expect(verified(sql(quoted(sound as string)))).toBeUndefined();
  });

  it.each([...CALLS, ...ATTRIBUTES, ...FIELDS])('refuses $what', { timeout: patience(60_000) }, (spelling) => {
    expect(passing(namesFor(spelling), (f) => verified(spelling.sql(quoted(f))))).toEqual([]);
  });

  it.each([...ATTRIBUTES, ...FIELDS])('refuses $what with the names of allowed functions', (spelling) => {
    expect(passing(namesFor(spelling, [...ALLOWED_FUNCTIONS]), (f) => verified(spelling.sql(quoted(f))))).toEqual([]);
  });
});
