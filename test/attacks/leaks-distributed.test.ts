/**
 * Noninterference in the forms of a statement for a distributed datasource: with what is known of its tables, after a refusal, and with all tables collected. Random queries
 * that may raise an error are run twice, on PostgreSQL; in between, every hidden row and every masked value changes. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { parseStatement } from '../../src/language/classify.ts';
import type { CreatePolicy } from '../../src/language/statements.ts';
import type { PlanContext } from '../../src/planner/index.ts';
import { decorrelate } from '../../src/planner/lower/decorrelate.ts';
import { ANYWHERE, targetFor } from '../../src/planner/lower/placed.ts';
import type { Access } from '../../src/planner/secure/access.ts';
import { verify } from '../../src/planner/verify/index.ts';
import { patience } from '../support/generated.ts';
import { PlannedTables } from '../support/planned.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { MODEL, POLICIES, TABLES } from './generated/hidden-values.ts';
import { type Answer, compareTwins, shareOf } from './generated/twin-answers.ts';

const SIZES = sizesOf('attacks/leaks-distributed');
const parser = await loadNodeParser();

type RowRule = Access['rows'][number];

/** The policies of some statements, for a caller whom none of them names. */
function accessOf(statements: readonly string[]): Access {
  const rows = new Map<string, RowRule>();
  const masks: Access['masks'][number][] = [];
  for (const text of statements) {
    const { name, rule } = parseStatement({ text, offset: 0 }) as CreatePolicy;
    if (rule.kind === 'mask') {
      const mask = rule.mask.kind === 'with' ? { ...rule.mask, expression: rule.mask.expression.text } : rule.mask;
      masks.push({ policy: name.text, property: rule.property.text, concept: rule.concept?.text ?? null, mask });
      continue;
    }
    const conditions = rule.to === null ? [{ policy: name.text, condition: rule.condition.text }] : [];
    rows.set(rule.concept.text, { concept: rule.concept.text, conditions: [...(rows.get(rule.concept.text)?.conditions ?? []), ...conditions] });
  }
  return { rows: [...rows.values()], masks, caller: { username: 'rob', roles: [], claims: {} }, maskKey: 'key' };
}

const placed = (column: string, group: number) => ({ column, group });
const SPREAD = new Map([
  [JSON.stringify(['gen', 't_item']), placed('id', 1)],
  [JSON.stringify(['gen', 't_box']), placed('id', 2)],
  [JSON.stringify(['gen', 't_tag']), placed('item', 1)],
]);
const REFERENCE = new Map([...SPREAD].map(([table, at]) => [table, table.includes('t_box') ? null : at]));

/** The forms of a statement. */
const FORMS: Readonly<Record<string, Partial<PlanContext>>> = {
  'nothing known': { target: () => ANYWHERE },
  'all tables distributed': { target: () => targetFor(SPREAD) },
  'one table everywhere': { target: () => targetFor(REFERENCE) },
  rewritten: { target: () => targetFor(SPREAD), rewrite: decorrelate },
  collected: { target: () => targetFor(SPREAD), rewrite: decorrelate.next },
};

let first: PlannedTables;
beforeAll(async () => {
  first = await PlannedTables.open(TABLES.join(';'), `CREATE ONTOLOGY gen; ${MODEL}`, 'gen');
});
afterAll(() => first?.close());

describe.each(POLICIES.map(([what, statements], at) => [what, statements, at] as const))('under %s', (_, statements, at) => {
  it.each(oneIn(SIZES.every, Object.keys(FORMS), at))('no answer depends on hidden data: %s', { timeout: patience(240_000) }, async (form) => {
    const isPolicy = (text: string): boolean => text.startsWith('CREATE POLICY');
    const mappings = statements.filter((text) => !isPolicy(text));
    const tables = await first.withModel([`CREATE ONTOLOGY gen; ${MODEL}`, ...mappings].join(';\n'), 'gen');
    const context: Partial<PlanContext> = {
      ...FORMS[form],
      access: accessOf(statements.filter(isPolicy)),
      queriesTables: () => false,
      caller: { username: 'rob', roles: [], claims: {} },
    };
    /** The SQL of a query and its parameters; the code of a query that is refused. */
    const planned = (text: string): { readonly sql: string; readonly params: readonly (string | null)[] } | string => {
      try {
        const { sql, params, declared } = tables.plan(text, context);
        verify(parser, sql, declared);
        return { sql, params };
      } catch (error) {
        return `refused ${(error as { code?: string }).code}`;
      }
    };
    const answerOf = async (text: string): Promise<Answer> => {
      const plan = planned(text);
      if (typeof plan === 'string') return { text: plan, outcome: plan };
      try {
        const { rows } = await tables.db.query<{ row: string }>(`SELECT row::text FROM (${plan.sql}) q(row)`, [...plan.params]);
        return { text: rows.map((r) => r.row).join('\n'), outcome: 'rows' };
      } catch (error) {
        const text = `error ${(error as { code?: string }).code}`;
        return { text, outcome: text };
      }
    };
    const answers = async (queries: readonly string[]): Promise<Answer[]> => {
      const all: Answer[] = [];
      for (const q of queries) all.push(await answerOf(q));
      return all;
    };
    // a test of queries that all fail would show nothing
    const shareOfRows = (so: ReadonlyMap<string, number>): number => shareOf(so, (outcome) => outcome === 'rows');
    const counts = await compareTwins(
      { exec: (statement) => tables.db.exec(statement), answers },
      { worlds: SIZES.worlds, queries: SIZES.queries },
      (so) => shareOfRows(so) > 0.4,
    );
    expect(shareOfRows(counts)).toBeGreaterThan(0.4);
  });
});
