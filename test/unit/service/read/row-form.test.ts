/** A cached plan is used only as long as it fits what is known of its datasource. */
import { beforeEach, describe, expect, it } from 'vitest';
import { cacheOf } from '../../../../src/cache.ts';
import { parseDatasourceSecret } from '../../../../src/engine/datasource.ts';
import { forgetRoles, fromProbe, rememberRole } from '../../../../src/engine/settings.ts';
import { badRequest } from '../../../../src/errors.ts';
import { parseStatement } from '../../../../src/language/classify.ts';
import { splitScript } from '../../../../src/language/split.ts';
import type { ReadStatement } from '../../../../src/language/statements.ts';
import type { Plan } from '../../../../src/planner/index.ts';
import { plannedTooEarly } from '../../../../src/service/read/distributed.ts';
import { prepareRead } from '../../../../src/service/read/read.ts';
import type { Session } from '../../../../src/service/session.ts';
import { Spending } from '../../../../src/service/spending.ts';
import { shown } from '../../engine/fake.ts';
import { context, graph } from '../../planner/company.ts';

const SECRET = 'postgres://u:p@h.example/d';
const MAIN = { name: 'main', ...parseDatasourceSecret(SECRET) };

function session(): Session {
  const row = { name: 'company', key: 'company', version: 'v', allowedFunctions: null, datasources: ['main'], active: 'main' };
  const config = { product: 'svc', datasourceSecrets: { DATASOURCE_MAIN: SECRET } };
  const snapshot = { ontologies: [row], datasources: [{ name: 'main', key: 'main', type: 'postgres', secret: 'DATASOURCE_MAIN' }], agents: [] };
  const principal = { name: 'admin', isAdmin: true, roles: [], grants: [] };
  return {
    request: { runtime: { parser: context.parser, config }, spending: new Spending() },
    script: { limit: null, datasource: null },
    caller: { principal, snapshot },
    draft: { name: 'company', version: 'v', changed: false, row },
  } as unknown as Session;
}

async function planned(text = 'SELECT name FROM dsvc.firm'): Promise<Plan> {
  const [source] = splitScript(text);
  const prepared = await prepareRead(session(), parseStatement(source!) as ReadStatement, graph, true);
  if (prepared.kind !== 'query') throw new Error('not a query');
  return prepared.plan;
}

beforeEach(() => {
  forgetRoles();
  cacheOf('plan').clear();
});

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
    rememberRole(MAIN, fromProbe([['citus.shard_count', '32', 'x'], ...shown()])!);
    expect((await planned()).sql).toMatch(/^SELECT \(SELECT row_to_json\(/);
  });

  it('has no correlated sub-query from the moment on when the database is known to be distributed', async () => {
    const text = 'SELECT name FROM svc.firm f WHERE NOT EXISTS (SELECT 1 FROM svc.town t WHERE t.town_id = f.town_id)';
    const refused = badRequest('feature_not_supported', 'correlated subqueries are not supported');
    const before = await planned(text);
    expect(before).toMatchObject({ isDistributed: false, sql: expect.stringContaining('NOT EXISTS') });
    expect(plannedTooEarly(refused, before, MAIN)).toBe(false);
    rememberRole(MAIN, fromProbe([['citus.shard_count', '32', 'x'], ...shown()])!);
    expect(plannedTooEarly(refused, before, MAIN)).toBe(true);
    expect(plannedTooEarly(badRequest('syntax_error', 'x'), before, MAIN)).toBe(false);
    const after = await planned(text);
    expect(after).toMatchObject({ isDistributed: true, sql: expect.not.stringContaining('EXISTS') });
    expect(plannedTooEarly(refused, after, MAIN)).toBe(false);
    expect(await planned(text)).toBe(after);
    rememberRole(MAIN, fromProbe(shown())!);
    expect((await planned(text)).sql).toContain('NOT EXISTS');
  });
});
