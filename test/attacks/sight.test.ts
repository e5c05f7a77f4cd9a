/** The independent evaluation of editors-generated.test.ts agrees with the planner and PostgreSQL. */
import type { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { SvcError } from '../../src/errors.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { checkUntil } from '../support/checked.ts';
import { memoryDatabase } from '../support/databases/memory.ts';
import { patience, SEED } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { type Case, genCase } from './generated/case.ts';
import { choices } from './generated/numbers.ts';
import { accessFor } from './generated/service.ts';
import { Sight } from './generated/sight.ts';
import { policyText, specText, type Table } from './generated/spec.ts';

const SIZES = sizesOf('attacks/sight');

let db: PGlite;
let parser: SqlParser;
beforeAll(async () => {
  db = await memoryDatabase();
  parser = await loadNodeParser();
});
afterAll(() => db?.close());

const ddl = (tables: readonly Table[]): string =>
  `DROP SCHEMA IF EXISTS t CASCADE; CREATE SCHEMA t; ${tables
    .map(
      (t) =>
        `CREATE TABLE t.${t.name} (${t.columns.map((c) => `${c} bigint`).join(', ')}); INSERT INTO t.${t.name} VALUES ${t.rows.map((r) => `(${r.join(', ')})`).join(', ')}`,
    )
    .join('; ')}`;

/** The rows of a query as lines, sorted; null: refused. */
async function asked(c: Case, name: string, columns: readonly string[], concept: string): Promise<string[] | null> {
  const text = `SELECT ${columns.map((column, i) => `${column} AS a${i}`).join(', ')} FROM dsvc.${concept}`;
  try {
    const plan = planSelect({ graph: c.graph, parser, product: 'svc', activeDatasource: 'main', access: accessFor(c.policies, name) }, { text, offset: 0 });
    const { rows } = await db.query<[string]>(plan.sql, plan.params as string[], { rowMode: 'array', parsers: { 114: (v: string) => v } });
    return rows.map(([row]) => JSON.stringify(Object.values(JSON.parse(row)))).sort();
  } catch (e) {
    if (e instanceof SvcError && e.code === 'masked') return null;
    throw e;
  }
}

type Answer = [string, unknown[], (boolean | null)[], unknown[][], [string, string, string[]][]];

async function compare(c: Case, name: string): Promise<number> {
  const sight = new Sight(c.spec, c.tables, c.policies, { name, reads: null });
  let compared = 0;
  for (const concept of c.graph.concepts) {
    const said = sight.answers(concept.name)?.map((line) => JSON.parse(line) as Answer);
    const own = concept.properties.map((p) => p.def.name).sort();
    const same = async (columns: readonly string[], lines: string[] | undefined): Promise<void> => {
      compared++;
      expect(await asked(c, name, columns, concept.name), `${name} asks ${columns.join()} of ${concept.name}`).toEqual(lines?.sort() ?? null);
    };
    await same(
      ['entity_type', ...own],
      said?.map(([type, values]) => JSON.stringify([type, ...values])),
    );
    for (const [i, { def }] of concept.multi.entries())
      await same(
        ['entity_type', ...own, def.name],
        said?.flatMap(([type, values, , multi]) => (multi[i]?.length ? (multi[i] as unknown[]) : [null]).map((v) => JSON.stringify([type, ...values, v]))),
      );
    const below = c.graph.concepts.filter((d) => d.def?.logic && d !== concept && d.isA(concept));
    // without rows the answer does not show whether this is refused
    for (const [i, d] of said?.length === 0 ? [] : below.entries()) {
      const lines = said?.map(([type, values, is]) => JSON.stringify([type, ...values, is[i]]));
      await same(['entity_type', ...own, `"_type_of_${d.name}"`], said?.some(([, , is]) => is[i] === null) ? undefined : lines);
    }
    for (const rel of said?.[0]?.[4].map(([r, d]) => [r, d] as const) ?? []) {
      const [path, d] = rel;
      const far =
        c.graph
          .concept(d)
          ?.properties.map((p) => p.def.name)
          .sort() ?? [];
      const columns = ['entity_type', ...own, ...['entity_type', ...far].map((p) => `"${path}[${d}].${p}"`)];
      const none = JSON.stringify([null, ...far.map(() => null), '']);
      await same(
        columns,
        said?.flatMap(([type, values, , , rels]) => {
          const matches = rels.find(([r, t]) => r === path && t === d)?.[2] ?? [];
          return (matches.length > 0 ? matches : [none]).map((m) => {
            const [farType, farValues] = m === none ? [null, far.map(() => null)] : (JSON.parse(m) as [string, unknown[]]);
            return JSON.stringify([type, ...values, farType, ...farValues]);
          });
        }),
      );
    }
  }
  return compared;
}

describe('the answers of the independent evaluation', () => {
  it('are those of the service', { timeout: patience(120_000) }, async () => {
    let compared = 0;
    const property = fc.asyncProperty(fc.noShrink(fc.nat()), async (seed) => {
      const c = genCase(choices(seed), parser);
      if (c === undefined) return;
      await db.exec(ddl(c.tables));
      for (const name of ['u1', 'ed']) {
        compared += await compare(c, name).catch((e: Error) => {
          throw new Error(`${e.message}\n${specText(c.spec)}\n${c.policies.map(policyText).join('\n')}\n${JSON.stringify(c.tables)}`);
        });
      }
    });
    const { failed, errorInstance } = await checkUntil(property, SIZES.queries, () => compared > 10 * SIZES.queries);
    if (failed) throw new Error(`SEED=${SEED}`, { cause: errorInstance });
    expect(compared).toBeGreaterThan(10 * SIZES.queries);
  });
});
