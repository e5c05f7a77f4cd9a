/** JWTs of a real OpenID Connect provider, from its login page to rows: by its JWKS URL, and by its key in a variable. */
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { startService, type TestService } from '../support/service.ts';
import { type IdentityProvider, RESOURCE, startIdentityProvider, type Tokens } from './support/identity-provider.ts';

const CLAIMS = {
  ann: { email: 'Ann@corp.example', email_verified: true, preferred_username: 'ann', dept: 'sales', groups: ['a', 'b'] },
  ben: { email: 'ben@corp.example', email_verified: false, preferred_username: 'ben' },
  nobody: { email: 'nobody@corp.example', email_verified: true },
};

let provider: IdentityProvider;
let other: IdentityProvider;
let service: TestService;
let tokens: Tokens;
const lines: string[] = [];

beforeAll(async () => {
  [provider, other] = await Promise.all([startIdentityProvider(CLAIMS), startIdentityProvider(CLAIMS)]);
  tokens = await provider.login('ann');
  const { keys } = (await (await fetch(other.jwksUrl)).json()) as { keys: [Record<string, unknown>] };
  const pem = String(createPublicKey({ key: keys[0] as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' }));
  service = await startService({
    settings: {
      ENABLE_TOKEN: 'true',
      JWT_DEFAULT_JWKS_URL: provider.jwksUrl,
      JWT_DEFAULT_ISSUER: provider.issuer,
      JWT_DEFAULT_AUDIENCE: RESOURCE,
      JWT_OTHER_KEY: pem.trim().replaceAll('\n', '\\n'),
      JWT_OTHER_AUDIENCE: 'store-app',
    },
    parts: { log: (line) => void lines.push(JSON.stringify(line)) },
  });
  for (const statement of [
    "CREATE USER ann OPTIONS (email='ann@CORP.example')",
    "CREATE USER ben OPTIONS (email='ben@corp.example')",
    "CREATE USER bound OPTIONS (email='bound@corp.example', tenant='other')",
  ])
    await service.rows(statement);
});
afterAll(async () => {
  await service?.close();
  await Promise.all([provider?.close(), other?.close()]);
});

/** `svc_username()` for the token, or the message of the refusal. */
async function whoIs(token: string, tenant?: string, sql = 'SELECT svc_username() AS me'): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-jwt-token': token, ...(tenant === undefined ? {} : { 'x-jwt-tenant-id': tenant }) };
  const response = await service.fetch('/svc/api/query/', { method: 'POST', headers, body: JSON.stringify({ ontology_name: '', query: sql }) });
  const json = (await response.json()) as { data: [{ me: string }] | string };
  if (response.status !== 200) expect(response.headers.get('www-authenticate'), JSON.stringify(json)).toMatch(/^Bearer /);
  return response.status === 200 ? Object.values(json.data[0] as object)[0] : `${response.status} ${json.data}`;
}

describe('a user who logged in at the provider', () => {
  it('is authenticated by the access token, with its claims', async () => {
    const asked = provider.keysAsked();
    expect(await whoIs(tokens.access_token)).toBe('ann');
    expect(await whoIs(tokens.access_token, undefined, "SELECT svc_claim('dept') AS c")).toBe('sales');
    expect(await whoIs(tokens.access_token, undefined, "SELECT svc_claim('groups') AS c")).toBe('["a","b"]');
    expect(provider.keysAsked() - asked, 'keys are fetched once').toBe(1);
  });

  it('is not authenticated by the other tokens of the same login', async () => {
    expect(await whoIs(tokens.id_token), 'an ID token is for the client').toBe('401 Token validation failed');
    expect(await whoIs(tokens.refresh_token)).toBe('401 Invalid token');
  });

  it('is not authenticated if the e-mail is not verified, or no user has it', async () => {
    expect(await whoIs((await provider.login('ben')).access_token)).toBe('401 Token validation failed');
    expect(await whoIs((await provider.login('nobody')).access_token)).toBe('401 User not found');
  });

  it('of another provider belongs to another tenant', async () => {
    const others = await other.login('ann');
    expect(await whoIs(others.access_token)).toBe('401 Invalid token');
    expect(await whoIs(tokens.access_token, 'other')).toBe('401 Invalid token');
    expect(await whoIs(others.access_token, 'other'), 'meant for another audience').toBe('401 Token validation failed');
    expect(await whoIs(others.id_token, 'other')).toBe('ann');
    expect(await whoIs(others.id_token, 'third')).toBe('401 Tenant configuration not found');
  });

  it('is not authenticated after it was dropped', async () => {
    const token = (await provider.login('nobody')).access_token;
    expect(await whoIs(token)).toBe('401 User not found');
    await service.rows("CREATE USER late OPTIONS (email='nobody@corp.example')");
    expect(await whoIs(token), 'made a moment ago, here').toBe('late');
    // the same e-mail of two users, however that happened
    await service.rows("CREATE USER later OPTIONS (email='later@corp.example')");
    await service.database.exec("UPDATE kg_catalog.users SET email_key = 'nobody@corp.example' WHERE key = 'later'", [], CATALOG_OWNER);
    forgetSnapshots();
    expect(await whoIs(token)).toBe('401 User not found');
  });

  it('leaves no token in the log', () => {
    expect(lines.length).toBeGreaterThan(5);
    const log = lines.join('\n');
    // the answer of the provider contains more than tokens: a lifetime, a type
    const long = Object.values(tokens)
      .map(String)
      .filter((value) => value.length > 100);
    expect(long.length).toBeGreaterThan(0);
    for (const token of long) expect(log).not.toContain(token.slice(-40));
  });
});

describe('last use and end of API tokens', () => {
  const asBob = (token: string) => service.fetch('/svc/api/get_ontologies/', { headers: { 'x-api-key': token } });

  it('are shown and stored', async () => {
    await service.rows('CREATE USER bob');
    const [made] = (await service.rows('CREATE TOKEN FOR bob')) as [{ token: string; token_id: string }];
    const [second] = (await service.rows('CREATE TOKEN FOR bob')) as [{ token: string; token_id: string }];
    const shown = async () => Object.fromEntries((await service.rows('SHOW TOKEN FOR bob')).map((row) => [row.token_id, row.last_used]));
    expect(await shown()).toEqual({ [made.token_id]: null, [second.token_id]: null });
    expect((await asBob(made.token)).status).toBe(200);
    await expect.poll(async () => (await shown())[made.token_id]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/);
    const noted = (await shown())[made.token_id];
    await asBob(made.token);
    expect(await shown()).toEqual({ [made.token_id]: noted, [second.token_id]: null });

    expect(await service.rows(`REVOKE TOKEN '${made.token_id}'`)).toEqual([{ token_id: made.token_id, user: 'bob', revoked: true }]);
    expect([(await asBob(made.token)).status, (await asBob(second.token)).status]).toEqual([401, 200]);
    expect(Object.keys(await shown())).toEqual([second.token_id]);
    for (const id of [made.token_id, 'no-such-id', crypto.randomUUID()])
      expect((await service.query(`REVOKE TOKEN '${id}'`)).json).toMatchObject({ status: 'error', code: 'unknown_token', position: 14 });
  });

  it('are for the owner of the token, or for users with EDIT on that user', async () => {
    const [bobs] = (await service.rows('CREATE TOKEN FOR bob')) as [{ token: string; token_id: string }];
    await service.rows('CREATE USER eve');
    const [eves] = (await service.rows('CREATE TOKEN FOR eve')) as [{ token: string; token_id: string }];
    const as = async (token: string, sql: string) => {
      const response = await service.fetch('/svc/api/query/', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': token },
        body: JSON.stringify({ query: sql }),
      });
      return { ...((await response.json()) as { data: unknown; code?: string; hint?: string }), status: response.status };
    };
    const hidden = await as(eves.token, `REVOKE TOKEN '${bobs.token_id}'`);
    const unknown = await as(eves.token, `REVOKE TOKEN '${bobs.token_id.replace(/^./, (c) => (c === '0' ? '1' : '0'))}'`);
    expect([hidden.status, hidden.code, hidden.hint]).toEqual([400, 'unknown_token', unknown.hint]);
    expect([unknown.status, unknown.code]).toEqual([400, 'unknown_token']);
    expect((await asBob(bobs.token)).status).toBe(200);
    expect((await as(bobs.token, `REVOKE TOKEN '${bobs.token_id}'`)).status, "one's own").toBe(200);
    await expect.poll(async () => (await asBob(bobs.token)).status).toBe(401);
  });
});
