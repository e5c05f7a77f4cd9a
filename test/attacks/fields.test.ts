/**
 * Where the verifier reads a field, PostgreSQL does, too: in random queries with names that are also functions, PostgreSQL calls none of
 * these functions. Where there is no field, PostgreSQL would call the function (attribute notation).
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { type Declared, RefusedByVerifier, verify } from '../../src/planner/verify/index.ts';
import { type AnalysisDatabase, databases } from '../support/analysis/database.ts';
import { CALLED, COLUMNS, FieldQueries, TABLES } from '../support/analysis/fields.ts';
import { outside } from '../support/analysis/outside.ts';
import { generated, patience } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('attacks/fields');

const parser = await loadNodeParser();
let all: readonly AnalysisDatabase[];
beforeAll(async () => {
  all = await databases();
  for (const db of all) await db.run(TABLES);
});
afterAll(async () => {
  for (const db of all ?? []) await db.close();
});

const declared: Declared = {
  tables: [
    { schema: 's', name: 't', columns: COLUMNS, isWhole: true },
    { schema: 's', name: 'u', columns: COLUMNS, isWhole: true },
  ],
  functions: new Set(),
  params: 0,
};
const passes = (sql: string): boolean => {
  try {
    verify(parser, sql, declared);
    return true;
  } catch (error) {
    if (error instanceof RefusedByVerifier) return false;
    throw error;
  }
};

describe('fields under the names of functions', () => {
  it('are fields to PostgreSQL as well', { timeout: patience(120_000) }, async () => {
    const queries = fc.sample(new FieldQueries(), generated(SIZES.queries, SIZES.queries)).map((sql) => `SELECT 1 AS one FROM (${sql}) q`);
    const passed = queries.filter(passes);
    const ok = new Set(passed);
    const refused = queries.filter((sql) => !ok.has(sql)).slice(0, 1000);
    const calls = new Set<string>(CALLED);
    let calledWhereRefused = 0;
    for (const db of all) {
      const analyses = await db.analyse(passed);
      const wrong = analyses.flatMap((analysis, i) => {
        const called = analysis.resolved.filter((r) => r.kind === 'function' && calls.has(r.name)).map((r) => `calls ${r.signature}`);
        return [...called, ...outside(analysis, declared)].map((w) => `${w}\n  ${passed[i]}`);
      });
      expect(wrong).toEqual([]);
      // most are valid statements
      expect(analyses.filter((a) => a.error === undefined).length).toBeGreaterThan(0.5 * passed.length);
      for (const analysis of await db.analyse(refused)) if (analysis.resolved.some((r) => r.kind === 'function' && calls.has(r.name))) calledWhereRefused++;
    }
    console.log(`fields: ${queries.length} queries, ${passed.length} passed; of ${refused.length} refused ${calledWhereRefused} would call`);
    expect(passed.length).toBeGreaterThan(0.04 * queries.length);
    // and the refusals are necessary
    expect(calledWhereRefused).toBeGreaterThan(10);
  });
});
