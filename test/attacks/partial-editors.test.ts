/**
 * Noninterference for editors with rights on some concepts: after any of their scripts, no answer to them, or to a reader with a part of their rights, depends on the value of a
 * property in rows where no concept that they may query has it. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkUntil } from '../support/checked.ts';
import { DEEP, patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { ask } from './generated/closed-queries.ts';
import { closedCells, filled, GRANTABLE, MADE, MODEL, NAMES, TABLES } from './generated/closed-values.ts';
import { chain, script } from './generated/partial-scripts.ts';

const SIZES = sizesOf('attacks/partial-editors');

const OWN = [...MADE.map((n) => `concept.${n}`), 'view.w1'];

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
});
afterAll(() => s?.close());

const cases = fc.tuple(fc.subarray([...GRANTABLE], { minLength: 1, maxLength: 4 }), fc.subarray([...NAMES], { maxLength: 2 })).chain(([queried, edited]) => {
  const granted = [...new Set([...queried, ...edited.map((n) => `concept.${n}`)])];
  return fc.record({
    granted: fc.constant(granted),
    edited: fc.constant(edited),
    reads: fc.subarray(granted),
    scripts: fc.oneof(fc.array(script(granted, edited), { minLength: 2, maxLength: 6 }), chain(granted, edited)),
    queries: fc.array(ask([...granted, ...OWN.filter((o) => o.startsWith('concept.'))]), { minLength: 40, maxLength: 40 }),
  });
});

describe('an editor with rights on some concepts', () => {
  it('gets no answer that depends on closed values, and opens none to others', { timeout: patience(120_000) }, async () => {
    let count = 0;
    let accepted = 0;
    const codes = new Map<string, number>();
    let right = 0;
    const property = fc.asyncProperty(cases, async ({ granted, edited, reads, scripts, queries }) => {
      const o = `partial${++count}`;
      await s.rows(MODEL.replace('CREATE ONTOLOGY partial', `CREATE ONTOLOGY ${o}`));
      const on = (names: readonly string[], right = 'QUERY'): string[] => names.map((n) => `${right} ON ontology.${o}.${n}`);
      const editor = await s.user(
        `editor${count}`,
        `EDIT ON ontology.${o}`,
        ...on([...granted, ...OWN]),
        ...on([...edited.map((n) => `concept.${n}`), ...OWN], 'EDIT'),
      );
      const reader = await s.user(`reader${count}`, ...on([...reads, ...OWN]));
      for (const text of scripts) {
        const { status, json } = await s.query(text, o, editor);
        if (status === 200) accepted++;
        codes.set(`${status} ${json.code ?? ''}`, (codes.get(`${status} ${json.code ?? ''}`) ?? 0) + 1);
      }
      const closed = closedCells(granted);
      const answers: string[][] = [];
      for (const other of [false, true]) {
        for (const statement of filled(closed, other)) await s.database.exec(statement);
        const all = await Promise.all([editor, reader].flatMap((token) => queries.map((q) => s.query(q, o, token))));
        answers.push(all.map(({ status, json }) => `${status} ${JSON.stringify({ ...json, request_id: '' })}`));
        right += all.filter((a) => a.status === 200).length;
      }
      await s.rows(`DROP ONTOLOGY ${o}; DROP USER editor${count}; DROP USER reader${count}`);
      const at = answers[0]?.findIndex((a, i) => a !== answers[1]?.[i]) ?? -1;
      if (at < 0) return;
      throw new Error(
        `queries ${granted}, edits ${edited}, the reader ${reads}\n${scripts.join('\n;;\n')}\n${at < queries.length ? 'editor' : 'reader'}: ${queries[at % queries.length]}\n${answers[0]?.[at]}\n${answers[1]?.[at]}`,
      );
    });
    const { failed, errorInstance } = await checkUntil(property, SIZES.models, () => accepted > count / 8 && right > count * 20);
    if (failed) throw new Error(`SEED=${SEED}\n${(errorInstance as Error | undefined)?.message ?? ''}`);
    if (DEEP) process.stderr.write(`${count} models, scripts ${[...codes].map(([k, n]) => `${k}: ${n}`).join(', ')}, ${right} right answers\n`);
    expect(accepted).toBeGreaterThan(count / 8);
    expect(right).toBeGreaterThan(count * 20);
  });
});
