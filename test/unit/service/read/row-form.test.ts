/** A cached plan is used only as long as it fits what is known of its datasource. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cacheOf } from '../../../../src/cache.ts';
import { parseDatasourceSecret } from '../../../../src/engine/datasource.ts';
import { forgetRoles, fromProbe, rememberRole } from '../../../../src/engine/settings.ts';
import { badRequest } from '../../../../src/errors.ts';
import { parseStatement } from '../../../../src/language/classify.ts';
import { splitScript } from '../../../../src/language/split.ts';
import type { ReadStatement } from '../../../../src/language/statements.ts';
import type { Plan } from '../../../../src/planner/index.ts';
import { forgetTargets, rewriteAfter } from '../../../../src/service/read/distributed.ts';
import { forgetRenewals, UNKNOWN } from '../../../../src/service/read/placements.ts';
import { type Prepared, prepareRead, runRead } from '../../../../src/service/read/read.ts';
import type { Session } from '../../../../src/service/session.ts';
import { Spending } from '../../../../src/service/spending.ts';
import { type Answer, fake, rowsAnswer, shown, textOf } from '../../engine/fake.ts';
import { context, graph } from '../../planner/company.ts';

const SECRET = 'postgres://u:p@h.example/d';
const MAIN = { name: 'main', ...parseDatasourceSecret(SECRET) };

let now = 0;
/** What the catalog has of the tables of the datasource, and its digest. */
let stored: { readonly digest: string; readonly at: number; readonly text: string } | undefined;
let texts: unknown[] = [];

/** A catalog that lists no changes, and takes a minute to do it. */
const db = {
  query: async (sql: string, params: readonly unknown[] = []) => {
    if (sql.includes('placements_digest = $2')) return stored?.digest === params[1] ? [{ placements: stored?.text }] : [];
    if (sql.includes('placements = $2')) {
      texts.push(...params);
      return [];
    }
    now += 60_000;
    return [];
  },
};

function session(): Session {
  const row = { name: 'company', key: 'company', version: 'v', allowedFunctions: null, datasources: ['main'], active: 'main' };
  const config = { product: 'svc', datasourceSecrets: { DATASOURCE_MAIN: SECRET } };
  const snapshot = {
    ontologies: [row],
    datasources: [{ name: 'main', key: 'main', type: 'postgres', secret: 'DATASOURCE_MAIN', placed: stored ?? null }],
    verifiedAt: now,
    agents: [],
  };
  const principal = { name: 'admin', isAdmin: true, roles: [], grants: [] };
  return {
    request: { runtime: { parser: context.parser, config, db, now: () => now, waitUntil: () => undefined, log: () => undefined }, spending: new Spending() },
    script: { sql: '', limit: null, datasource: null },
    caller: { principal, snapshot },
    draft: { name: 'company', version: 'v', changed: false, row },
  } as unknown as Session;
}

async function query(text: string): Promise<Extract<Prepared, { kind: 'query' }>> {
  const [source] = splitScript(text);
  const prepared = await prepareRead(session(), parseStatement(source!) as ReadStatement, graph, true);
  if (prepared.kind !== 'query') throw new Error('not a query');
  return prepared;
}
const planned = async (text = 'SELECT name FROM dsvc.firm'): Promise<Plan> => (await query(text)).plan;

const DISTRIBUTED = [['citus.shard_count', '32', 'x'], ...shown()];

/** Lets the datasource answer where it has its tables: the group by the table, all distributed by `id`. */
function place(groups: Readonly<Record<string, number>>) {
  const rows = Object.entries(groups).map(([table, group]) => JSON.stringify(JSON.stringify([['raw', table], { column: 'id', group }])));
  const server = fake(rowsAnswer(rows));
  vi.stubGlobal('fetch', server.fetch);
  return server;
}

beforeEach(() => {
  now = Date.now();
  stored = undefined;
  texts = [];
  forgetRenewals();
  place({});
  forgetTargets();
  forgetRoles();
  cacheOf('plan').clear();
});

afterEach(() => void vi.unstubAllGlobals());

describe('a plan', () => {
  it('relies on names of columns from the first answer of the datasource on', async () => {
    const before = await planned();
    expect(before.keepsNames).toBe(false);
    expect(await planned()).toBe(before);
    rememberRole(MAIN, fromProbe(shown())!, 0);
    const after = await planned();
    expect(after.sql).toMatch(/^SELECT row_to_json\(/);
    expect(await planned()).toBe(after);
  });

  it('does not rely on them in a distributed database, even if it did before', async () => {
    rememberRole(MAIN, fromProbe(shown())!);
    expect((await planned()).keepsNames).toBe(true);
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!);
    expect((await planned()).sql).toMatch(/^SELECT \(SELECT row_to_json\(/);
  });

  it('is rewritten, and kept, if a distributed database refuses it', async () => {
    const text = 'SELECT name FROM svc.firm f WHERE NOT EXISTS (SELECT 1 FROM svc.town t WHERE t.town_id = f.town_id)';
    const refused = badRequest('feature_not_supported', 'correlated subqueries are not supported');
    expect(await rewriteAfter(refused, await planned(text), MAIN)).not.toBe(undefined);
    rememberRole(MAIN, fromProbe(shown())!);
    expect(await rewriteAfter(refused, await planned(text), MAIN)).toBe(undefined);
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!);
    const prepared = await query(text);
    expect(prepared.plan).toMatchObject({ isRewritten: false, sql: expect.stringContaining('NOT EXISTS') });
    expect(await rewriteAfter(badRequest('syntax_error', 'x'), prepared.plan, MAIN)).toBe(undefined);
    const rewrite = (await rewriteAfter(refused, prepared.plan, MAIN))!;
    const { plan } = await prepared.rewritten(rewrite);
    expect(plan).toMatchObject({ isRewritten: true, sql: expect.not.stringContaining('EXISTS') });
    expect(await rewriteAfter(refused, plan, MAIN)).toBe(plan.nextRewrite);
    expect(plan.nextRewrite).toBe(rewrite.next);
    expect(await planned(text)).toBe(plan);
    rememberRole(MAIN, fromProbe(shown())!);
    expect((await planned(text)).sql).toContain('NOT EXISTS');
  });

  it('is explained in the form that the database accepts, also if that is the third one', async () => {
    const text = 'EXPLAIN SELECT name FROM svc.firm f WHERE NOT EXISTS (SELECT 1 FROM svc.town t WHERE t.town_id = f.town_id)';
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!);
    await planned();
    const refused: Answer = () => new Response(JSON.stringify({ code: '0A000', message: 'not supported' }), { status: 400 });
    const server = fake(refused, refused, rowsAnswer(['"Seq Scan"']));
    vi.stubGlobal('fetch', server.fetch);
    const prepared = await prepareRead(session(), parseStatement(splitScript(text)[0]!) as ReadStatement, graph, true);
    if (prepared.kind !== 'rows') throw new Error('not rows');
    const [row] = (await prepared.rows()) as { PLAN: string; SQL: string }[];
    expect(row).toEqual({ PLAN: 'Seq Scan', SQL: expect.stringMatching(/OFFSET 0\) AS /) });
    expect(server.asked.map(({ body }) => body.queries?.at(-1)?.query ?? '').map((sql) => [sql.includes('NOT EXISTS'), sql.includes('OFFSET 0) AS ')])).toEqual(
      [
        [true, false],
        [false, false],
        [false, true],
      ],
    );
  });

  it('knows where a distributed database has its tables, reads it once a minute, and is replaced if that changes', async () => {
    const text = 'SELECT name FROM dsvc.party';
    const keys = (plan: Plan): number => plan.sql.match(/\.id AS "~d"/g)?.length ?? 0;
    rememberRole(MAIN, fromProbe(shown())!);
    const server = place({ guests: 1, staff: 1, firms: 1 });
    expect(keys(await planned(text))).toBe(0);
    expect(server.asked).toHaveLength(0);
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!, now);
    const first = await planned(text);
    expect(keys(first)).toBe(3);
    expect(await planned(text)).toBe(first);
    expect(server.asked).toHaveLength(1);
    now += 60_000;
    expect(await planned(text)).toBe(first);
    expect(server.asked).toHaveLength(2);
    place({ guests: 1, staff: 2, firms: 1 });
    expect(await planned(text)).toBe(first);
    now += 60_000;
    expect(keys(await planned(text))).toBe(0);
    place({ guests: 2, staff: 2, firms: 2 });
    now += 60_000;
    expect(keys(await planned(text))).toBe(3);
    vi.stubGlobal('fetch', () => Promise.reject(new Error('gone')));
    now += 60_000;
    expect(keys(await planned(text))).toBe(0);
  });

  it('is made for the tables that the catalog has, without a question to the datasource until they are ten minutes old', async () => {
    const text = 'SELECT name FROM dsvc.party';
    const keys = (plan: Plan): number => plan.sql.match(/\.id AS "~d"/g)?.length ?? 0;
    const placedBy = (digest: string, groups: Readonly<Record<string, number>>) => ({
      digest,
      at: now,
      text: JSON.stringify(Object.entries(groups).map(([table, group]) => [JSON.stringify(['raw', table]), { column: 'id', group }])),
    });
    const server = place({ guests: 1, staff: 1, firms: 1 });
    stored = placedBy('a', { guests: 1, staff: 1, firms: 1 });
    const first = await planned(text);
    expect(keys(first)).toBe(3);
    expect(await planned(text)).toBe(first);
    // a plan is not found under the digest of another layout
    stored = placedBy('b', { guests: 1, staff: 2, firms: 1 });
    expect(keys(await planned(text))).toBe(0);
    stored = placedBy('a', { guests: 1, staff: 1, firms: 1 });
    expect(await planned(text)).toBe(first);
    expect(server.asked).toHaveLength(0);
    now += 600_000;
    expect(await planned(text)).toBe(first);
    await vi.waitFor(() => expect(texts).toEqual(['DATASOURCE_MAIN', stored?.text]));
    now += 60_000;
    await planned(text);
    expect(server.asked).toHaveLength(1);
  });

  it('is made again, before its rows are used, if the first answer says that the database is distributed', async () => {
    const text = 'SELECT COUNT(*) AS n FROM svc.party p JOIN svc.party q ON q.name = p.name';
    const places = ['guests', 'staff', 'firms'].map((t) => JSON.stringify(JSON.stringify([['raw', t], { column: 'id', group: 1 }])));
    const sent: string[] = [];
    const answer: Answer = (asked) => {
      const statement = JSON.stringify(asked);
      sent.push(statement);
      return rowsAnswer(statement.includes('pg_dist_partition') ? places : [JSON.stringify(`{"n":${sent.length}}`)], DISTRIBUTED)(asked);
    };
    vi.stubGlobal('fetch', fake(...Array.from({ length: 5 }, () => answer)).fetch);
    const made = await query(text);
    const read = await runRead(session(), made, true, false);
    const separated = sent.map((s) => s.includes('OFFSET 0'));
    expect(separated).toEqual([false, false, true]);
    expect(sent[1]).toContain('pg_dist_partition');
    if (read.kind !== 'rows') throw new Error('no rows');
    expect(await textOf(read.rows.body())).toBe(JSON.stringify(['{"n":3}']));
  });

  it('separates unions of tables that may be distributed if it cannot be read where they are', async () => {
    const text = 'SELECT COUNT(*) AS n FROM svc.party p JOIN svc.party q ON q.name = p.name';
    vi.stubGlobal('fetch', () => Promise.reject(new Error('gone')));
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!, now);
    expect((await planned(text)).sql).toContain('OFFSET 0');
    stored = { digest: 'a', at: now, text: JSON.stringify(['guests', 'staff', 'firms'].map((t) => [JSON.stringify(['raw', t]), null])) };
    expect((await planned(text)).sql).not.toContain('OFFSET 0');
    // a table that was distributed since then
    stored = { digest: 'b', at: now, text: JSON.stringify([[JSON.stringify(['raw', 'guests']), { column: 'id', group: 1 }]]) };
    expect((await planned(text)).sql).toContain('OFFSET 0');
  });

  it('is made without them if the catalog has others by now', async () => {
    stored = { digest: 'old', at: now, text: '[]' };
    const found = session();
    stored = { digest: 'new', at: now, text: '[]' };
    const [source] = splitScript('SELECT name FROM dsvc.party');
    expect(await prepareRead(found, parseStatement(source!) as ReadStatement, graph, true)).toMatchObject({ plan: { target: UNKNOWN.target } });
  });

  it('of a system table is made again when what is known has become old, or was not known, while the rows were read', async () => {
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!, now);
    await planned();
    const old = await query('SELECT * FROM SYS_AUDIT');
    expect((await old.late!()).plan.sql).toBe(old.plan.sql);
    forgetTargets();
    forgetRoles();
    const unknown = await query('SELECT * FROM SYS_AUDIT');
    rememberRole(MAIN, fromProbe(DISTRIBUTED)!, now);
    expect((await unknown.late!()).plan.sql).toBe(unknown.plan.sql);
  });
});
