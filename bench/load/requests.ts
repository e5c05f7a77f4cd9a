/** The requests of the load, each with the rows that hand-written SQL returns. */
import type { ScratchPostgres } from '../../dev/scratch-postgres.ts';
import { callOf, REVISIONS } from '../lib/mcp.ts';
import { CUSTOMERS, REGIONS } from './servers.ts';

export type Kind = 'point' | 'list' | 'aggregate' | 'path' | 'mcp' | 'model';
/** How many requests of a hundred are of a kind. Those of the model come one after another, from a caller of their own. */
export const MIX: Readonly<Record<Exclude<Kind, 'model'>, number>> = { point: 40, list: 20, aggregate: 15, path: 15, mcp: 10 };

export interface Wanted {
  readonly kind: Kind;
  /** Below the product. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The rows as JSON; null: only the status counts. */
  readonly expected: string | null;
}

interface Pair {
  readonly sql: string;
  readonly byHand: string;
}

const PAIRS: Readonly<Record<'point' | 'list' | 'aggregate' | 'path', (i: number) => Pair>> = {
  point: (i) => {
    const id = 1 + ((i * 101) % CUSTOMERS);
    return { sql: `SELECT id, name FROM svc.customer WHERE id = ${id}`, byHand: `SELECT id, name FROM shop.customer WHERE id = ${id}` };
  },
  list: (i) => {
    const where = `WHERE region_id = ${1 + (i % REGIONS)} ORDER BY id LIMIT 100`;
    return { sql: `SELECT id, name, region_id FROM svc.customer ${where}`, byHand: `SELECT id, name, region_id FROM shop.customer ${where}` };
  },
  aggregate: (i) => {
    const rest = `count(*) AS orders, sum(amount) AS amount`;
    const where = `WHERE customer_id BETWEEN ${1 + i * 50} AND ${50 + i * 50} GROUP BY customer_id ORDER BY customer_id`;
    return { sql: `SELECT customer_id, ${rest} FROM svc.purchase ${where}`, byHand: `SELECT customer_id, ${rest} FROM shop.orders ${where}` };
  },
  path: (i) => {
    const where = `BETWEEN ${1 + i * 97} AND ${40 + i * 97}`;
    return {
      sql: `SELECT id, "placed_by[customer].name" AS customer, "placed_by[customer].in_region[region].name" AS region FROM dsvc.purchase WHERE id ${where} ORDER BY id`,
      byHand: `SELECT o.id, c.name AS customer, r.name AS region FROM shop.orders o JOIN shop.customer c ON c.id = o.customer_id
        JOIN shop.region r ON r.id = c.region_id WHERE o.id ${where} ORDER BY o.id`,
    };
  },
};

/** The number of different requests of a kind. */
const EACH = 40;
const ONTOLOGY = 'shop';
const JSON_TYPE = { 'content-type': 'application/json' };

const rest = (kind: Kind, sql: string, expected: string | null): Wanted => ({
  kind,
  path: '/api/query',
  headers: JSON_TYPE,
  body: JSON.stringify({ ontology_name: ONTOLOGY, query: sql }),
  expected,
});

/** A change of the model that no query reads. */
export const modelChange = (i: number): Wanted => rest('model', `CREATE OR REPLACE CONCEPT extra (id integer, p${i % 5} string, PRIMARY KEY (id))`, null);

/** All requests that read, with the rows of the database as it is now. */
export async function requestsOf(primary: ScratchPostgres): Promise<Readonly<Record<keyof typeof MIX, readonly Wanted[]>>> {
  const made: Record<keyof typeof MIX, Wanted[]> = { point: [], list: [], aggregate: [], path: [], mcp: [] };
  for (const [kind, of] of Object.entries(PAIRS) as [keyof typeof PAIRS, (i: number) => Pair][]) {
    for (let i = 0; i < EACH; i++) {
      const { sql, byHand } = of(i);
      const [row] = (await primary.exec(`SELECT coalesce(json_agg(q), '[]')::text AS rows FROM (${byHand}) q`)) as { rows: string }[];
      const expected = JSON.stringify(JSON.parse(row?.rows ?? ''));
      if (expected === '[]') throw new Error(`no rows: ${byHand}`);
      made[kind].push(rest(kind, sql, expected));
      if (kind === 'list') continue;
      const { body, headers } = callOf(REVISIONS[i % 2] ?? REVISIONS[0], 'execute_sql', { ontology: ONTOLOGY, query: sql });
      made.mcp.push({ kind: 'mcp', path: '/api/mcp', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body), expected });
    }
  }
  return made;
}

/** The rows of an answer as JSON. @throws Error if it is no answer with rows */
export function rowsIn({ kind }: Pick<Wanted, 'kind'>, text: string): string {
  const answer = JSON.parse(text);
  if (kind !== 'mcp') return JSON.stringify(answer.data);
  if (answer.result?.isError !== false && answer.result?.structuredContent?.rows === undefined) throw new Error('an error of the tool');
  return JSON.stringify(answer.result.structuredContent.rows);
}
