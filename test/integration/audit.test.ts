/** Impersonation, and the audit: user, action and impersonating user, and never a value or a secret. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { statementDigest } from '../../src/service/audit.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
const tokens: Record<string, string> = {};
const background: Promise<unknown>[] = [];

const ask = async (sql: string, headers: Record<string, string>, ontology = '') => {
  const response = await service.fetch('/svc/api/query/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ontology_name: ontology, query: sql }),
  });
  return { status: response.status, text: (await response.text()).replace(/"request_id":"[^"]*"/, '') };
};
const as = (name: string, other: string, sql = 'SELECT svc_username() AS me', ontology = '') =>
  ask(sql, { 'x-api-key': tokens[name] ?? '', 'x-api-impersonate-user': other }, ontology);

/** The audit after all pending entries have been written. */
async function lines(where = 'true'): Promise<Record<string, unknown>[]> {
  while (background.length > 0) await background.shift();
  return service.database.exec(`SELECT * FROM kg_catalog.audit WHERE ${where} ORDER BY id`, [], CATALOG_OWNER);
}

beforeAll(async () => {
  service = await startService({ parts: { waitUntil: (work) => void background.push(work) } });
  await service.rows('CREATE ONTOLOGY shop; CREATE CONCEPT item (id bigint, PRIMARY KEY (id))', 'shop');
  for (const name of ['ann', 'imp', 'zo\u00eb']) {
    await service.rows(`CREATE USER \`${name}\` PASSWORD 'Secret-word-9'`);
    tokens[name] = String((await service.rows(`CREATE TOKEN FOR \`${name}\``))[0]?.token);
  }
  await service.rows('GRANT QUERY ON ALL ontology.shop TO USER ann; GRANT AUTH ON user.ann TO USER imp; GRANT AUTH ON user.`zo\u00eb` TO USER imp');
});
afterAll(async () => {
  await lines();
  await service?.close();
});

describe('the audit of other requests', () => {
  it.each(['%00', `${'x'.repeat(468)}%F0%9F%98%80`, '%ED%A0%80'])('is not lost with a path that PostgreSQL cannot store: %s', async (path) => {
    await lines();
    const headers = { 'x-api-key': tokens.ann ?? '' };
    const ids = Array.from({ length: 3 }, (_, i) => `other-${path.length}-${i}`);
    const paths = ['/svc/api/get_ontologies', `/svc/openapi/get-async-results/${path}`, '/svc/api/get_ontologies'];
    await Promise.all(paths.map((p, i) => service.fetch(p, { headers: { ...headers, 'x-request-id': ids[i] as string } })));
    expect((await lines(`request_id IN (${ids.map((id) => `'${id}'`).join(', ')})`)).length).toBe(3);
  });
});

describe('impersonation', () => {
  it('gives the rights of the other user, and none of the caller', async () => {
    expect(await as('imp', 'Ann')).toMatchObject({ status: 200, text: expect.stringContaining('[{"me":"ann"}]') });
    expect((await as('imp', 'ann', 'SELECT id FROM svc.item', 'shop')).status).toBe(200);
    expect((await as('imp', 'ann', 'CREATE USER x')).status).toBe(403);
    // a header's bytes are UTF-8
    expect((await as('imp', Buffer.from('zo\u00eb', 'utf8').toString('latin1'))).text).toContain('[{"me":"zo\u00eb"}]');
  });

  it('does not give the rights of an administrator', async () => {
    const admin = { 'x-api-key': service.token, 'x-api-impersonate-user': 'imp' };
    expect((await ask('SELECT svc_username() AS me', admin)).text).toContain('[{"me":"imp"}]');
    expect((await ask('CREATE USER x', admin)).status).toBe(403);
    expect((await ask('SELECT id FROM svc.item', admin, 'shop')).status).toBe(404);
  });

  it('is refused equally for any reason', async () => {
    const answers = [
      await as('imp', 'admin'),
      await as('imp', 'nobody'),
      await as('ann', 'imp'),
      await as('imp', ''),
      await as('imp', 'ann, zo'),
      await as('ann', 'ann'),
    ];
    await service.rows("ALTER USER ann SET ACTIVE = 'false'");
    answers.push(await as('imp', 'ann'), await ask('SELECT 1', { 'x-api-key': service.token, 'x-api-impersonate-user': 'nobody' }));
    await service.rows("ALTER USER ann SET ACTIVE = 'true'");
    expect(new Set(answers.map((a) => `${a.status} ${a.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(403);
  });

  it('needs a credential, and ends with the right', async () => {
    expect((await ask('SELECT 1', { 'x-api-impersonate-user': 'ann' })).status).toBe(401);
    await service.rows('REVOKE AUTH ON user.ann FROM USER imp');
    expect((await as('imp', 'ann')).status).toBe(403);
    await service.rows('GRANT AUTH ON user.ann TO USER imp');
  });
});

describe('the audit', () => {
  it('names both users of an impersonation', async () => {
    await as('imp', 'ann', 'SELECT id FROM svc.item', 'shop');
    const [line] = (await lines("actor = 'imp' AND ontology = 'shop'")).slice(-1);
    expect(line).toMatchObject({ user_name: 'ann', actor: 'imp', credential: 'api_token', action: 'POST /svc/api/query', status: 200, code: null });
    expect(Number(line?.rows)).toBe(0);
    expect(line?.digest).toBe(await statementDigest('SELECT id FROM svc.item'));
    expect(Number(line?.duration_ms)).toBeGreaterThanOrEqual(0);
  });

  it('has refusals, and writes changes only in the batch of the change', async () => {
    await ask('CREATE USER x', { 'x-api-key': tokens.ann ?? '' });
    expect((await lines()).at(-1)).toMatchObject({ user_name: 'ann', status: 403, code: 'forbidden' });
    const before = (await lines()).length;
    await service.rows('CREATE ROLE r');
    const after = await lines();
    expect(after.slice(before)).toEqual([
      expect.objectContaining({ user_name: 'admin', action: 'create_role', status: null, digest: await statementDigest('CREATE ROLE r') }),
    ]);
  });

  it('counts refused credentials', async () => {
    const count = async () => {
      await lines();
      const rows = await service.database.exec("SELECT sum(count)::int AS n FROM kg_catalog.audit_failures WHERE code = 'invalid_token'", [], CATALOG_OWNER);
      return Number(rows[0]?.n ?? 0);
    };
    const before = await count();
    for (let i = 0; i < 3; i++) await ask('SELECT 1', { 'x-api-key': createToken() });
    expect(await count()).toBe(before + 3);
  });

  it('contains no value and no secret', async () => {
    await service.query("SELECT 'Rosebud' AS x, 471147114711 AS y", 'shop');
    await service.query("CREATE USER later PASSWORD 'Secret-word-9'");
    const text = JSON.stringify(await lines());
    for (const secret of [...Object.values(tokens), service.token, 'Secret-word-9', 'Rosebud', '471147114711', 'password']) expect(text).not.toContain(secret);
    // nor one with which a password could be guessed
    expect(await statementDigest("CREATE USER a PASSWORD 'one'")).toBe(await statementDigest("CREATE -- x\n USER  a PASSWORD 'two' "));
    expect(await statementDigest('SELECT 1')).not.toBe(await statementDigest('SELECT a'));
  });
});

describe('SYS_AUDIT', () => {
  it('lists changes to administrators: who, when, which statements, without texts and passwords', async () => {
    await service.rows("CREATE USER vera PASSWORD 'Secret-word-9'; GRANT QUERY ON ontology.shop.concept.item TO USER vera WITH GRANT OPTION");
    await service.rows("ALTER CONCEPT item UPDATE TAG kind = 'private'", 'shop');
    // a text of this length has no digest
    await service.rows(`GRANT EDIT ON ALL ontology.shop TO USER ann /* ${'x'.repeat(70_000)} */`);
    expect((await as('imp', 'ann', "CREATE PROPERTY size string DESCRIPTION 'private'", 'shop')).status).toBe(200);
    const newest = 'SELECT user_name, actor, action, statements, ontology FROM svc.SYS_AUDIT ORDER BY changed_on DESC LIMIT 4';
    expect(await service.rows(newest)).toEqual([
      { user_name: 'ann', actor: 'imp', action: 'create_property', statements: 'CREATE PROPERTY size', ontology: 'shop' },
      { user_name: 'admin', actor: null, action: 'grant', statements: 'GRANT EDIT ON ALL ontology.shop TO USER ann', ontology: null },
      { user_name: 'admin', actor: null, action: 'alter_tag', statements: 'ALTER CONCEPT item UPDATE TAG kind', ontology: 'shop' },
      {
        user_name: 'admin',
        actor: null,
        action: 'create_user,grant',
        statements: 'CREATE USER vera; GRANT QUERY ON ontology.shop.concept.item TO USER vera WITH GRANT OPTION',
        ontology: null,
      },
    ]);
    const all = JSON.stringify(await service.rows('SELECT * FROM svc.SYS_AUDIT'));
    expect(all).toMatch(/"changed_on":"\d{4}-\d\d-\d\dT/);
    expect(all).not.toMatch(/Secret-word|private/);
  });

  it('is empty for other users, and for an administrator who came in their place', async () => {
    expect(await service.rows('SELECT * FROM svc.SYS_AUDIT', 'shop', tokens.ann)).toEqual([]);
    const admin = { 'x-api-key': service.token, 'x-api-impersonate-user': 'ann' };
    expect((await ask('SELECT * FROM svc.SYS_AUDIT', admin, 'shop')).text).toContain('"data":[]');
  });
});
