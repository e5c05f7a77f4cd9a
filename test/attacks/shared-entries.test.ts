/**
 * Cache entries that callers may share: callers with different names, roles, grants, claims or actors send the same statements, with the result cache on. An
 * answer must equal that of the same statement with a distinct LIMIT, which is planned again and queries the datasource.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyValues } from '../../src/catalog/kv.ts';
import { patience, SEED } from '../support/generated.ts';
import { memoryNamespace } from '../support/memory-namespace.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { inVariable, jws, rsa, spki } from '../unit/auth/by-hand.ts';

const SIZES = sizesOf('attacks/shared-entries');
const REQUESTS = SIZES.requests;
const realm = rsa();
const MODEL = `CREATE ONTOLOGY shop;
CREATE MEASURE mine bigint AS SELECT COUNT(id) WHERE name = svc_claim('town');
CREATE PROPERTY who string AS SELECT svc_username();
CREATE PROPERTY staffed boolean AS SELECT svc_has_role('staff');
CREATE CONCEPT city (id bigint, name string, who string, staffed boolean, mine MEASURE bigint, PRIMARY KEY (id), LABEL (name));
CREATE CONCEPT own_town INHERITS (city) FROM svc.city WHERE name = svc_claim('town');
CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city;
CREATE ONTOLOGY VIEW me AS SELECT svc_username() AS u, svc_claim('town') AS t, svc_has_role('staff') AS r, name FROM svc.city;
CREATE ONTOLOGY VIEW over AS SELECT u, t FROM vsvc.me WHERE name = 'Lyon';
CREATE ONTOLOGY CUBE cities AS SELECT name, COUNT(id) AS n, "measure.mine" AS mn FROM dsvc.city`;
const STATEMENTS = [
  'SELECT * FROM svc.city ORDER BY id',
  'SELECT * FROM dsvc.thing ORDER BY entity_id',
  'SELECT * FROM vsvc.me ORDER BY name',
  'SELECT * FROM vsvc.over',
  'SELECT SUM("measure.mine") AS m FROM dsvc.city',
  'SELECT id, who FROM svc.own_town',
  'SELECT name, n, mn FROM vsvc.cities ORDER BY name',
  "SELECT svc_username() AS u, svc_claim('town') AS c, svc_claim('TOWN') AS d, svc_has_role('Staff') AS r",
  'SELECT svc_claim(name) AS c, svc_has_role(name) AS r FROM svc.city ORDER BY id',
  "SELECT id FROM svc.city WHERE name = svc_claim('town')",
  'SELECT to_jsonb(c) AS j FROM svc.city c ORDER BY id',
];
const POLICIES: readonly (readonly string[])[] = [
  [],
  ["CREATE POLICY one ON CONCEPT city TO PUBLIC USING (name = svc_claim('town'))"],
  [
    'DROP POLICY one',
    "CREATE POLICY two ON CONCEPT city TO PUBLIC USING (svc_has_role('staff') OR who = 'dot')",
    "CREATE POLICY veil ON PROPERTY name MASK WITH (svc_username() || coalesce(svc_claim('town'), '-')) EXCEPT USER bea",
  ],
  [
    'DROP POLICY two',
    'DROP POLICY veil',
    'CREATE POLICY r1 ON CONCEPT city TO ROLE staff USING (id = 1)',
    'CREATE POLICY r2 ON CONCEPT city TO ROLE a USING (id = 2)',
  ],
];
/** Claims: an incorrect key could confuse any two of them. */
const CLAIMS: readonly object[] = [
  {},
  { town: 'Lyon' },
  { TOWN: 'Lyon' },
  { town: ['Lyon'] },
  { town: '["Lyon"]' },
  { town: 1 },
  { town: '1' },
  { town: null },
  { town: 'Lyon', x: '1' },
  { '["town","Lyon"]': 'x' },
  { Lyon: 'a' },
  { 'Lyon","a"],["z': 'y' },
];

let service: TestService;
const callers: Readonly<Record<string, string>>[] = [];

beforeAll(async () => {
  const kv = keyValues(memoryNamespace(), { scope: 'test', secret: 'test' });
  service = await startService({ settings: { ENABLE_TOKEN: 'true', JWT_DEFAULT_KEY: inVariable(spki(realm)), RESULT_CACHE_TTL: '300' }, parts: { kv } });
  await service.database.exec('CREATE SCHEMA shop');
  await service.database.exec('CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)');
  await service.database.exec("INSERT INTO shop.t_city VALUES (1, 'Berlin'), (2, 'Lyon'), (3, 'Oslo')");
  await service.rows(MODEL, 'shop');
  await service.rows('CREATE ROLE staff; CREATE ROLE `a,b`; CREATE ROLE a; CREATE ROLE b; CREATE ROLE Lyon');
  const tokens: Record<string, string> = {};
  const all = 'ALL ontology.shop';
  const users: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['ann', ['staff'], [all]],
    ['bea', ['`a,b`'], [all]],
    ['cyd', ['a', 'b'], [all]],
    ['dot', ['Lyon'], [all, 'datasource.main']],
    ['few', [], ['ontology.shop.concept.city', 'ontology.shop.view.me']],
  ];
  for (const [name, roles, grants] of users) {
    const script = [...roles.map((r) => `GRANT ROLE ${r} TO USER ${name}`), ...grants.map((g) => `GRANT QUERY ON ${g} TO USER ${name}`)];
    const [row] = await service.rows(
      `CREATE USER ${name}; ${script.join('; ')}; ALTER USER ${name} SET EMAIL = '${name}@corp.example'; CREATE TOKEN FOR ${name}`,
    );
    tokens[name] = String(row?.token);
    callers.push({ 'x-api-key': String(row?.token) });
  }
  await service.rows('GRANT AUTH ON user.ann TO USER cyd; GRANT AUTH ON user.dot TO USER cyd');
  for (const [by, other] of [
    [tokens.cyd, 'ann'],
    [tokens.cyd, 'DOT'],
    [service.token, 'ann'],
  ] as const)
    callers.push({ 'x-api-key': String(by), 'x-api-impersonate-user': other });
  callers.push({ 'x-api-key': service.token });
  const exp = Math.floor(Date.now() / 1000) + 3600;
  for (const name of ['ann', 'dot', 'few'])
    for (const claims of CLAIMS) callers.push({ 'x-jwt-token': jws({ alg: 'RS256' }, { email: `${name}@corp.example`, exp, ...claims }, realm) });
});
afterAll(() => service?.close());

it('no caller gets the answer of another one', { timeout: patience(120_000) }, async () => {
  let state = SEED;
  const below = (n: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  let hits = 0;
  let limit = 1000;
  const ask = async (headers: Readonly<Record<string, string>>, query: string): Promise<string> => {
    const body = JSON.stringify({ ontology_name: 'shop', query });
    const response = await service.fetch('/svc/api/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'one', ...headers },
      body,
    });
    if (response.headers.get('x-cache') === 'hit') hits++;
    return `${response.status} ${await response.text()}`;
  };
  for (const changes of POLICIES) {
    for (const statement of changes) await service.rows(statement, 'shop');
    for (let n = 0; n < REQUESTS / POLICIES.length; n++) {
      const headers = callers[below(callers.length)] as Readonly<Record<string, string>>;
      const statement = STATEMENTS[below(STATEMENTS.length)] as string;
      limit++;
      const fresh = await ask(headers, `${statement} LIMIT ${limit}`);
      for (const _ of [1, 2]) expect(await ask(headers, statement), `${JSON.stringify(headers)} ${statement}`).toBe(fresh);
    }
  }
  expect(hits).toBeGreaterThan(REQUESTS / 4);
});
