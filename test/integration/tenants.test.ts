/** Four tenants, each with its own key and ontology: which token, sent for which tenant, gives access to what (docs/design/credentials.md#tenants; all pairs). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { inVariable, jws, rsa, spki } from '../unit/auth/by-hand.ts';

const TENANTS = ['north', 'south', 'east-1', 'west_2'] as const;
const PAIRS = TENANTS.flatMap((signed) => TENANTS.map((named) => [signed, named] as const));
const keys = Object.fromEntries(TENANTS.map((t) => [t, rsa()])) as Record<(typeof TENANTS)[number], ReturnType<typeof rsa>>;
const variable = (tenant: string): string => `JWT_${tenant.toUpperCase().replaceAll('-', '_')}_KEY`;
const settings = {
  ENABLE_TOKEN: 'true',
  JWT_USE_EMAIL_OR_USER: 'username',
  ...Object.fromEntries(TENANTS.map((t) => [variable(t), inVariable(spki(keys[t]))])),
};
const ontology = (tenant: string): string => `of_${tenant.replaceAll('-', '_')}`;

/** A token that the tenant's provider signs for a user name. */
const token = (signed: (typeof TENANTS)[number], username: string): string =>
  jws({ alg: 'RS256' }, { username, exp: Math.floor(Date.now() / 1000) + 300 }, keys[signed]);

/** What a request with the token sees, or its status. */
async function seen(service: TestService, jwt: string, tenant: string | null): Promise<readonly string[] | number> {
  const headers = { 'x-jwt-token': jwt, ...(tenant === null ? {} : { 'x-jwt-tenant-id': tenant }) };
  const answer = await service.fetch('/svc/api/get_ontologies', { headers });
  const body = (await answer.json()) as { data: readonly string[] };
  return answer.status === 200 ? body.data : answer.status;
}

const model = (tenant: string): string => `CREATE ONTOLOGY ${ontology(tenant)}; CREATE CONCEPT thing_${ontology(tenant)} (no bigint, PRIMARY KEY (no))`;

describe.each([
  ['users with the tenant as prefix', 'true', (t: string) => `CREATE USER \`${t}/ann\``, (t: string) => `\`${t}/ann\``, () => 'ann'],
  [
    'users bound to a tenant',
    'false',
    (t: string) => `CREATE USER \`ann_${t}\` OPTIONS (tenant = '${t}')`,
    (t: string) => `\`ann_${t}\``,
    (t: string) => `ann_${t}`,
  ],
] as const)('%s', (_what, prefixed, create, quoted, claim) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ settings: { ...settings, JWT_USE_TENANT_USER: prefixed } });
    for (const t of TENANTS) {
      await service.rows(model(t));
      await service.rows(create(t));
      await service.rows(`GRANT QUERY ON ALL ontology.${ontology(t)} TO USER ${quoted(t)}`);
    }
  });
  afterAll(() => service.close());

  it.each(PAIRS)('a token of %s that names the user of %s', async (signed, named) => {
    // sent for the tenant that signed it: its own user, never another tenant's
    const own = await seen(service, token(signed, claim(named)), signed);
    if (prefixed === 'true' || signed === named) expect(own).toEqual([ontology(signed)]);
    else expect(own).toBe(401);
    // sent for the tenant whose user it names
    if (signed !== named) expect(await seen(service, token(signed, claim(named)), named)).toBe(401);
    // with the other tenant's prefix in the claim, and without a tenant
    if (signed !== named) expect(await seen(service, token(signed, `${named}/${claim(named)}`), signed)).toBe(401);
    expect(await seen(service, token(signed, claim(named)), null)).toBe(401);
  });

  it.each(PAIRS)('the user of %s requests the ontology of %s', async (signed, named) => {
    const answer = await service.fetch('/svc/api/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-jwt-token': token(signed, claim(signed)), 'x-jwt-tenant-id': signed },
      body: JSON.stringify({ ontology_name: ontology(named), query: 'SELECT 1 AS one' }),
    });
    await answer.text();
    expect(answer.status).toBe(signed === named ? 200 : 404);
  });
});
