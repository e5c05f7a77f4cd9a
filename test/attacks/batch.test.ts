/** Batches of MCP messages: one HTTP request, whose messages share its budgets and its number of statements. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../src/errors.ts';
import { Spliced } from '../../src/mcp/spliced.ts';
import { describeKnowledgeGraph } from '../../src/mcp/tools/describe-knowledge-graph.ts';
import { executeSql } from '../../src/mcp/tools/execute-sql.ts';
import type { Tool } from '../../src/mcp/tools/tool.ts';
import { LIMITS, Spending } from '../../src/service/spending.ts';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
/** The budgets of the next batches; undefined: each has its own. */
let spending: Spending | undefined;
beforeAll(async () => {
  s = await startService({ tables: ['CREATE SCHEMA shop', 'CREATE TABLE shop.t_city (id bigint PRIMARY KEY)'] });
  await s.rows('CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, PRIMARY KEY (id)); CREATE MAPPING m INTO (city) AS SELECT id FROM shop.t_city', 'shop');
});
afterAll(() => s?.close());

/** Calls a tool with each of the arguments, like the messages of one batch; returns the code of each answer. */
async function batch(
  tool: Tool,
  messages: readonly Readonly<Record<string, unknown>>[],
  onError: (message: string) => void = () => undefined,
): Promise<readonly string[]> {
  const request = { ...(await s.request(s.token)), ...(spending === undefined ? {} : { spending }) };
  const call = {
    ...request,
    target: { ontology: 'shop', isNamed: true, agent: undefined },
    modelling: true,
    spliced: new Spliced(),
    body: [],
    tell: () => undefined,
    note: () => undefined,
  };
  const codes: string[] = [];
  for (const args of messages) {
    const code = await tool.run(call as never, args).then(
      () => 'answered',
      (error: unknown) => {
        if (!(error instanceof SvcError)) throw error;
        onError(error.message);
        return error.code;
      },
    );
    codes.push(code);
  }
  return codes;
}

const scripts = (n: number, query: (i: number) => string) => Array.from({ length: n }, (_, i) => ({ query: query(i) }));
const union = (i: number, parts = 400): string => `SELECT id + ${i} AS x FROM svc.city${' UNION ALL SELECT id FROM svc.city'.repeat(parts)}`;
const counts = (codes: readonly string[]) => Object.fromEntries([...new Set(codes)].map((code) => [code, codes.filter((c) => c === code).length]));

describe('the messages of a batch', () => {
  it('may be a hundred of usual size', async () => {
    expect(
      counts(
        await batch(
          executeSql,
          scripts(100, (i) => `SELECT id + ${i} AS x FROM svc.city`),
        ),
      ),
    ).toEqual({ answered: 100 });
    expect(counts(await batch(describeKnowledgeGraph, Array(20).fill({})))).toEqual({ answered: 20 });
  });

  it('share the budget of plans', async () => {
    const codes = counts(await batch(executeSql, scripts(100, union)));
    expect(codes.too_complex).toBeGreaterThan(50);
  });

  it('share it when their plans fail', async () => {
    // each plan ends where it exceeds its own budget
    const failing = (i: number): string =>
      `SELECT ${i} AS x, ${Array(3000).fill('*').join(', ')} FROM svc.city a, svc.city b, svc.city c, svc.city d, svc.city e, svc.city f`;
    const messages: string[] = [];
    expect(counts(await batch(executeSql, scripts(20, failing), (message) => messages.push(message)))).toEqual({ too_complex: 20 });
    expect(messages[0]).toMatch(/^the plan of the statement becomes too large/);
    expect(messages.at(-1)).toMatch(/^all that the statements of the request read becomes too large/);
  });

  it('share the number of statements that read', async () => {
    const many = Array(10).fill('SELECT 1 AS x').join('; ');
    expect(
      counts(
        await batch(
          executeSql,
          scripts(20, () => many),
        ),
      ),
    ).toEqual({ answered: LIMITS.reads.most / 10, too_many_statements: 20 - LIMITS.reads.most / 10 });
  });

  it('share the budgets of scripts that change the model, and of examples', async () => {
    spending = new Spending();
    const { models } = spending;
    const view = (i: number): string => `CREATE VIEW v${i} AS ${union(i, 100)}`;
    expect(counts(await batch(executeSql, scripts(2, view)))).toEqual({ answered: 2 });
    const used = models.nodes;
    expect(used).toBeGreaterThan(1000);
    models.spend(models.limits.nodes - used - 1000, 0, 0);
    expect(
      counts(
        await batch(
          executeSql,
          scripts(2, (i) => view(i + 2)),
        ),
      ),
    ).toEqual({ too_complex: 2 });

    spending = new Spending();
    const example = (i: number): string => `CREATE EXAMPLE 'q${i}' AS ${union(i, 100)}`;
    expect(counts(await batch(executeSql, scripts(2, example)))).toEqual({ answered: 2 });
    expect(spending.examples.nodes).toBeGreaterThan(1000);
    spending.examples.spend(spending.examples.limits.nodes - spending.examples.nodes - 1000, 0, 0);
    expect(
      counts(
        await batch(
          executeSql,
          scripts(2, (i) => example(i + 2)),
        ),
      ),
    ).toEqual({ too_complex: 2 });
  });
});
