/** Attacks by model files, and by CREATE OR REPLACE of users: what a plan shows of policies, names of sources, tenants, and entries of the audit. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admins, ask, by, catalog, s, startCallers, user } from './callers.ts';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

async function send(what: 'plan' | 'apply', ontology: string, text: string, more: Readonly<Record<string, unknown>> = {}, token = s.token): Promise<Answer> {
  const response = await s.fetch(`/svc/api/model/${ontology}/${what}`, {
    method: 'POST',
    headers: { ...by(token), 'content-type': 'application/json', 'x-request-id': 'one' },
    body: JSON.stringify({ files: [{ name: 'a.kg', text }], ...more }),
  });
  return { status: response.status, json: await response.json() };
}

beforeAll(startCallers);
afterAll(() => s?.close());

describe('A user who may make policies, but is not an administrator', () => {
  let maker: { name: string; token: string };
  beforeAll(async () => {
    await admins('CREATE ROLE hqx_role; CREATE USER hqx_user; CREATE ROLE open_role');
    maker = await user('maker', 'ACCESS ON role.open_role');
    await admins(`GRANT EDIT ON ALL ontology.shop TO USER ${maker.name} WITH GRANT OPTION`);
    await s.rows(
      `CREATE POLICY by_role ON CONCEPT city TO ROLE hqx_role USING (name = 'hqx condition');
       CREATE POLICY by_user ON PROPERTY name MASK FULL EXCEPT USER hqx_user;
       CREATE POLICY open ON CONCEPT city TO ROLE open_role USING (id > 1)`,
      'shop',
    );
  });

  const change = "CREATE POLICY by_role ON CONCEPT city TO PUBLIC USING (name = 'new'); CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id));";
  const model = `${change} CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city`;

  it.each([
    ['of a changed policy', change, {}],
    ['of pruned policies', model, { prune: true }],
  ])('does not see the text %s in a plan', async (_, text, more) => {
    const { status, json } = await send('plan', 'shop', text, more, maker.token);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(JSON.stringify(json)).not.toContain('hqx');
    expect(json.data.changes[0]).toMatchObject({ action: 'change', kind: 'policy', name: 'by_role', before: null });
    const whole = await send('plan', 'shop', text, more);
    expect(JSON.stringify(whole.json)).toContain('hqx condition');
  });

  it('does not learn by comparison which hidden role or user a policy names', async () => {
    const answer = async (name: string) => {
      const files = `CREATE POLICY by_role ON CONCEPT city TO ROLE ${name}_role USING (name = 'hqx condition');
        CREATE POLICY by_user ON PROPERTY name MASK FULL EXCEPT USER ${name}_user`;
      return JSON.stringify(await send('plan', 'shop', files, {}, maker.token)).replaceAll(name, '<name>');
    };
    expect(await answer('hqx')).toBe(await answer('nzv'));
  });

  it('applies policies that name what it sees any number of times', async () => {
    const { json } = await send('plan', 'shop', 'CREATE POLICY open ON CONCEPT city TO ROLE open_role USING (id > 1)', {}, maker.token);
    expect(json.data.changes).toEqual([]);
  });
});

describe('A source', () => {
  it.each(['__proto__', 'constructor', 'toString'])('may have the name of a member of every object: %s', async (source) => {
    await admins(`CREATE ONTOLOGY src`);
    await send('apply', 'src', 'CREATE CONCEPT other (a bigint)', { source: 'first' });
    expect((await send('apply', 'src', 'CREATE CONCEPT own (b bigint)', { source })).status).toBe(200);
    const { json } = await send('apply', 'src', '', { source, prune: true });
    expect(json.data.changes.map((c: { name: string }) => c.name)).toEqual(['own']);
    expect((await send('plan', 'src', '', { source, prune: true })).json.data.changes).toEqual([]);
    await admins('DROP ONTOLOGY src');
  });
});

describe('The audit', () => {
  it('names the statements of an apply that only drops', async () => {
    await send('apply', 'shop', 'CREATE CONCEPT spare (a bigint)', { source: 'audit' });
    expect((await send('apply', 'shop', '', { source: 'audit', prune: true })).status).toBe(200);
    expect(await catalog("SELECT action FROM kg_catalog.audit WHERE ontology = 'shop' AND action NOT LIKE 'POST%' ORDER BY at DESC LIMIT 1")).toEqual([
      { action: 'drop' },
    ]);
  });
});

describe('CREATE OR REPLACE USER', () => {
  it('does not let an editor of a user change whose JSON Web Tokens authenticate it', async () => {
    await admins("CREATE USER bound OPTIONS (tenant = 'big-co'); CREATE USER free");
    const editor = await user('editor', 'EDIT ON user.bound', 'EDIT ON user.free', 'EDIT ON user');
    const replace = async (name: string, tenant: string, token: string) => {
      const { status, json } = await ask(`CREATE OR REPLACE USER ${name} PASSWORD 'x' OPTIONS (tenant = '${tenant}')`, by(token));
      return status === 200 ? '200' : `${status} ${json.code}`;
    };
    expect(await replace('bound', 'small-co', editor.token)).toBe('403 forbidden');
    expect(await replace('free', 'small-co', editor.token)).toBe('403 forbidden');
    // the same script may be applied again
    expect(await replace('bound', 'big-co', editor.token)).toBe('200');
    const tenants = async () => catalog("SELECT key, tenant FROM kg_catalog.users WHERE key IN ('bound', 'free') ORDER BY key");
    expect(await tenants()).toEqual([
      { key: 'bound', tenant: 'big-co' },
      { key: 'free', tenant: null },
    ]);
    expect(await replace('bound', 'small-co', s.token)).toBe('200');
    expect((await tenants())[0]).toEqual({ key: 'bound', tenant: 'small-co' });
  });
});
