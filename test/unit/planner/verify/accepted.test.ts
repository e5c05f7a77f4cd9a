/** Accepted statements: fields that are columns, and everything that the planner writes. */
import { describe, expect, it } from 'vitest';
import { ALLOWED_FUNCTIONS } from '../../../../src/planner/guard/index.ts';
import { ALLOWED_TYPES } from '../../../../src/planner/guard/types.ts';
import { FUNCTIONS } from '../../../../src/planner/verify/functions.ts';
import { RefusedByVerifier, verify } from '../../../../src/planner/verify/index.ts';
import { TYPES } from '../../../../src/planner/verify/types.ts';
import { forms } from '../../../support/corpora/forms.ts';
import { generatedCorpora } from '../../../support/corpora/generated.ts';
import type { Corpus } from '../../../support/corpora/index.ts';
import { written } from '../../../support/corpora/written.ts';
import { patience } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { COLUMNS } from './columns.ts';
import { parser, reason } from './verified.ts';

const SIZES = sizesOf('unit/planner/verify/accepted');

describe('columns and fields', () => {
  it.each(COLUMNS)('%s', (sql) => expect(reason(sql)).toBe('passes'));
});

/** The refused statements with their reasons, and the number of all statements. */
function tried(corpora: Iterable<Corpus>): { n: number; refused: string[] } {
  let n = 0;
  const refused: string[] = [];
  for (const corpus of corpora) {
    for (const { text, plan, declared } of corpus.planned()) {
      n++;
      try {
        verify(parser, plan.sql, declared);
        // the declarations of the planner
        verify(parser, plan.sql, plan.declared);
      } catch (error) {
        if (!(error instanceof RefusedByVerifier)) throw error;
        refused.push(`${corpus.name}: ${error.reason}\n  ${text}\n  ${plan.sql.slice(0, 1000)}`);
      }
    }
  }
  return { n, refused };
}

describe('SQL of the planner passes', () => {
  it('for statements of the corpora', { timeout: patience(180_000) }, () => {
    const { n, refused } = tried([forms(parser), ...written(parser, SIZES.everyTrap)]);
    expect(refused).toEqual([]);
    expect(n).toBeGreaterThan(850 + 1000 / SIZES.everyTrap);
  });

  it('for generated statements', { timeout: patience(180_000) }, () => {
    const { n, refused } = tried(generatedCorpora(parser, SIZES.queries, SIZES.queries));
    expect(refused.slice(0, 10)).toEqual([]);
    expect(n).toBeGreaterThan(0.7 * SIZES.queries);
  });

  it('for all functions and types that the guard accepts', () => {
    expect([...ALLOWED_FUNCTIONS].filter((f) => !FUNCTIONS.has(f))).toEqual([]);
    expect([...ALLOWED_TYPES].filter((t) => !TYPES.has(t))).toEqual([]);
  });
});
