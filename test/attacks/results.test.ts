/** Attacks on asynchronous answers, revoked functions and the cache: the requests, and the expected answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asynchronous } from '../../src/service.ts';
import { admins, ask, by, type Headers, jwt, outcome, s, startCallers, user } from './callers.ts';

beforeAll(startCallers);
afterAll(() => s?.close());

describe('an asynchronous answer', () => {
  /** Starts the statement, waits for its end, and reads it with other headers. */
  async function begun(
    sql: string,
    headers: Headers,
    ontology = 'shop',
    state = '"completed"',
  ): Promise<((other: Headers) => Promise<{ status: number; text: string }>) & { readonly id: string }> {
    const path = `/svc/openapi/ontology/${ontology}/query`;
    const response = await s.fetch(path, { method: 'POST', headers: { 'content-type': 'text/plain', 'x-async': 'true', ...headers }, body: sql });
    const { poll_url } = (await response.json()) as { poll_url: string };
    const read = async (other: Headers) => {
      const answer = await s.fetch(poll_url, { headers: other });
      return { status: answer.status, text: await answer.text() };
    };
    await expect.poll(async () => (await read(headers)).text).toContain(state);
    return Object.assign(read, { id: poll_url.split('/').at(-1) ?? '' });
  }
  const LOST = { status: 404, text: '{"error":"Response not found"}' };

  it('is read with the claims that it was started with, and with no others', async () => {
    const eva = await user('eva', 'QUERY ON ALL ontology.shop');
    await admins(`ALTER USER ${eva.name} SET EMAIL = '${eva.name}@corp.example'`);
    await s.rows("CREATE POLICY here ON CONCEPT city TO PUBLIC USING (name = svc_claim('town'))", 'shop');
    try {
      const claims = (more: Readonly<Record<string, unknown>>) => jwt({ email: `${eva.name}@corp.example`, ...more });
      const read = await begun('SELECT name FROM svc.city', claims({ town: 'Berlin' }));
      expect((await read(claims({ town: 'Berlin', iat: 5, jti: 'another token of the same login' }))).text).toContain('[{"name":"Berlin"}]');
      const others = { 'another claim': { town: 'Lyon' }, 'no claim': {}, 'one claim more': { town: 'Berlin', dept: 'x' } };
      for (const [what, more] of Object.entries(others)) expect({ what, ...(await read(claims(more))) }).toEqual({ what, ...LOST });
      for (const headers of [by(eva.token), by(s.token)]) expect(await read(headers)).toEqual(LOST);
      const own = await begun('SELECT name FROM svc.city', by(eva.token));
      expect(await own(claims({ town: 'Berlin' }))).toEqual(LOST);
    } finally {
      await s.rows('DROP POLICY here', 'shop');
    }
  });

  it('is gone when a right is revoked or a policy is created, and is available again with the right', async () => {
    const ivy = await user('ivy', 'QUERY ON ALL ontology.shop');
    const read = await begun('SELECT name FROM svc.city ORDER BY name', by(ivy.token));
    expect((await read(by(ivy.token))).text).toContain('Lyon');
    await admins(`REVOKE QUERY ON ALL ontology.shop FROM USER ${ivy.name}`, `GRANT ACCESS ON ALL ontology.shop TO USER ${ivy.name}`);
    expect(await read(by(ivy.token))).toEqual(LOST);
    await admins(`GRANT QUERY ON ALL ontology.shop TO USER ${ivy.name}`, `REVOKE ACCESS ON ALL ontology.shop FROM USER ${ivy.name}`);
    expect((await read(by(ivy.token))).text).toContain('Lyon');
    await s.rows("CREATE POLICY here ON CONCEPT city TO PUBLIC USING (name = 'Berlin')", 'shop');
    try {
      expect(await read(by(ivy.token))).toEqual(LOST);
    } finally {
      await s.rows('DROP POLICY here', 'shop');
    }
  });

  it('is gone when the model that a policy reads changes', async () => {
    const ivy = await user('ivy', 'QUERY ON ALL ontology.shop');
    const opened = (most: number) => s.rows(`CREATE OR REPLACE PROPERTY opened boolean AS SELECT id < ${most}`, 'shop');
    await opened(3);
    await s.rows('CREATE OR REPLACE CONCEPT city (id bigint, name string, opened boolean, PRIMARY KEY (id))', 'shop');
    try {
      const free = await begun('SELECT name FROM svc.city', by(ivy.token));
      await s.rows('CREATE POLICY here ON CONCEPT city TO PUBLIC USING (opened)', 'shop');
      const read = await begun('SELECT name FROM svc.city', by(ivy.token));
      const ofAdmin = await begun('SELECT name FROM svc.city', by(s.token));
      expect((await read(by(ivy.token))).text).toContain('Lyon');
      await opened(2);
      expect(await read(by(ivy.token))).toEqual(LOST);
      expect((await ofAdmin(by(s.token))).text).toContain('Lyon');
      await s.rows('DROP POLICY here', 'shop');
      // without policies, a change of the model hides nothing
      expect((await free(by(ivy.token))).text).toContain('Lyon');
    } finally {
      await s.query('DROP POLICY here', 'shop');
      await s.rows('CREATE OR REPLACE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); DROP PROPERTY opened', 'shop');
    }
  });

  it('of several pieces ends for a slow reader whose right or credential ends', async () => {
    const columns = Array.from({ length: 4 }, (_, i) => `repeat('Berlin', 100000) AS t${i}`).join(', ');
    for (const ends of ['a right', 'the token', null]) {
      const una = await user('una', 'QUERY ON ALL ontology.shop');
      const read = await begun(`SELECT ${columns} FROM svc.city`, by(una.token));
      expect((await read(by(una.token))).text.length).toBeGreaterThan(3_000_000);
      let passed = 0;
      const request = await s.request(una.token, { now: () => Date.now() + passed });
      const { asyncRows, pollAsync } = await asynchronous();
      const poll = await pollAsync(request, read.id);
      if (poll?.state !== 'completed') throw new Error('not completed');
      expect(poll.pieces).toBeGreaterThan(3);
      const rows = asyncRows(request, read.id, poll);
      expect((await rows.next()).done).toBe(false);
      if (ends === 'a right') await admins(`REVOKE QUERY ON ALL ontology.shop FROM USER ${una.name}`);
      if (ends === 'the token') await admins(`ALTER USER ${una.name} SET ACTIVE = 'false'`);
      expect((await rows.next()).value?.length).toBe(1024 * 1024);
      passed = 61_000;
      const later = rows.next().then(
        () => 'sent',
        () => 'refused',
      );
      expect([ends, await later]).toEqual([ends, ends === null ? 'sent' : 'refused']);
    }
  });

  it('is gone with a right on other objects than the ontology of the request: users, tokens, other ontologies', async () => {
    const pia = await user('pia', 'QUERY ON ALL ontology.shop');
    const zed = await user('zed');
    await admins('CREATE ONTOLOGY elsewhere');
    const right = { user: `EDIT ON user.${zed.name}`, ontology: 'ACCESS ON ALL ontology.elsewhere' };
    const begin: readonly [keyof typeof right, string, string][] = [
      ['user', 'SELECT user_name FROM svc.SYS_USERS', zed.name],
      ['user', `SHOW TOKEN FOR ${zed.name}`, 'token_id'],
      ['user', `CREATE TOKEN FOR ${zed.name}`, 'tk_'],
      ['ontology', 'SHOW ONTOLOGIES', 'elsewhere'],
    ];
    for (const [kind, sql, shown] of begin) {
      await admins(`GRANT ${right[kind]} TO USER ${pia.name}`);
      const read = await begun(sql, by(pia.token));
      expect((await read(by(pia.token))).text).toContain(shown);
      await admins(`REVOKE ${right[kind]} FROM USER ${pia.name}`);
      expect({ sql, ...(await read(by(pia.token))) }).toEqual({ sql, ...LOST });
    }
    await admins('DROP ONTOLOGY elsewhere');
  });

  it('that is an error with a value is gone with the right', async () => {
    const ivy = await user('ivy', 'QUERY ON ALL ontology.shop');
    const read = await begun('SELECT CAST(name AS bigint) AS n FROM svc.city', by(ivy.token), 'shop', '"error"');
    expect((await read(by(ivy.token))).text).toContain('Berlin');
    await admins(`REVOKE QUERY ON ALL ontology.shop FROM USER ${ivy.name}`);
    expect(await read(by(ivy.token))).toEqual(LOST);
  });

  it('that is an error of a script that changed the rights of its caller is read', async () => {
    const eve = await user('eve');
    await admins(`GRANT EDIT ON ALL ontology.shop TO USER ${eve.name} WITH GRANT OPTION`);
    const sql = "CREATE POLICY own ON CONCEPT city TO PUBLIC USING (name = 'Berlin'); SELECT CAST(name AS bigint) AS n FROM svc.city";
    const read = await begun(sql, by(eve.token), 'shop', '"error"');
    expect((await read(by(eve.token))).text).toContain('Berlin');
    if ((await s.rows('SELECT policy_name FROM svc.SYS_POLICIES', 'shop')).length > 0) await s.rows('DROP POLICY own', 'shop');
  });

  it('of a script that changes the rights of its caller is read', async () => {
    const eve = await user('eve');
    await admins(`GRANT EDIT ON ALL ontology.shop TO USER ${eve.name} WITH GRANT OPTION`);
    const read = await begun("CREATE POLICY own ON CONCEPT city TO PUBLIC USING (name = 'Berlin')", by(eve.token));
    try {
      expect((await read(by(eve.token))).status).toBe(200);
    } finally {
      await s.rows('DROP POLICY own', 'shop');
    }
  });

  it('is gone with the right, also if the request names no ontology or the statement describes the model', async () => {
    const ada = await user('ada', 'EDIT ON ALL ontology.shop');
    const set = "ALTER ONTOLOGY shop SET default_transitivity = '4'";
    const begin: readonly [string, string][] = [
      [`${set}; SELECT name FROM svc.city`, 'system_db'],
      [`${set}; SELECT name FROM svc.city`, 'shop'],
      [`SELECT 1 AS one; ${set}; SHOW CREATE ONTOLOGY shop`, 'system_db'],
      [set, 'shop'],
      ['SELECT ontology FROM svc.SYS_ONTOLOGIES', 'system_db'],
      ['SHOW CREATE ONTOLOGY shop', 'shop'],
      ['EXPLAIN SELECT name FROM svc.city', 'shop'],
      ['DESCRIBE svc.city', 'shop'],
      ['CREATE ONTOLOGY extra; CREATE CONCEPT c (id bigint, PRIMARY KEY (id)); SELECT 1 AS one', 'extra'],
    ];
    await admins(`GRANT EDIT ON ontology TO USER ${ada.name}`);
    for (const [sql, ontology] of begin) {
      await admins(`GRANT EDIT ON ALL ontology.shop TO USER ${ada.name}`);
      const read = await begun(sql, by(ada.token), ontology);
      expect({ sql, status: (await read(by(ada.token))).status }).toEqual({ sql, status: 200 });
      await admins(`REVOKE EDIT ON ALL ontology.shop FROM USER ${ada.name}`);
      if (ontology === 'extra') await admins('DROP ONTOLOGY extra');
      expect({ sql, ...(await read(by(ada.token))) }).toEqual({ sql, ...LOST });
    }
  });

  it('of an impersonated user is read by that impersonator only', async () => {
    const vic = await user('vic', 'QUERY ON ALL ontology.shop');
    const amy = await user('amy', `AUTH ON user.${vic.name}`);
    const abe = await user('abe', `AUTH ON user.${vic.name}`);
    const as = (token: string): Headers => ({ ...by(token), 'x-api-impersonate-user': vic.name });
    const read = await begun('SELECT name FROM svc.city ORDER BY name', as(amy.token));
    expect((await read(as(amy.token))).status).toBe(200);
    for (const headers of [by(vic.token), by(amy.token), as(abe.token), as(s.token)]) expect(await read(headers)).toEqual(LOST);
  });
});

describe('a revoked function of the datasource', () => {
  const MODEL = `CREATE ONTOLOGY calls;
ALTER ONTOLOGY calls SET allowed_functions = 'shop.twice, shop.other';
CREATE PROPERTY doubled bigint AS SELECT shop.twice(id);
CREATE MEASURE total bigint AS SELECT SUM(shop.twice(id));
CREATE MEASURE some bigint AS SELECT COUNT(id) WHERE shop.twice(id) > 2;
CREATE CONCEPT city (id bigint, name string, doubled bigint, total MEASURE bigint, some MEASURE bigint, PRIMARY KEY (id));
CREATE CONCEPT mapped (id bigint, PRIMARY KEY (id));
CREATE CONCEPT late INHERITS (city) FROM dsvc.city WHERE shop.twice(id) > 2;
CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city;
CREATE MAPPING mm INTO (mapped) AS SELECT shop.twice(id) AS id FROM shop.t_city;
CREATE ONTOLOGY VIEW seen AS SELECT shop.twice(id) AS d, shop.other(id) AS o FROM svc.city;
CREATE ONTOLOGY VIEW raw USING main AS SELECT shop.twice(id) AS d FROM shop.t_city;
CREATE ONTOLOGY VIEW over AS SELECT d FROM vsvc.seen;
CREATE ONTOLOGY CUBE rolled AS SELECT shop.twice(id) AS d, SUM(id) AS n FROM svc.city;
CREATE ONTOLOGY VIEW kept AS SELECT upper(name) AS n, shop.other(id) AS o FROM svc.city`;
  /** The reader of each text. */
  const READS = {
    'the statement itself': 'SELECT shop.twice(id) AS d FROM svc.city',
    'a view': 'SELECT d FROM vsvc.seen',
    'a view on raw tables': 'SELECT d FROM vsvc.raw',
    'a view of a view': 'SELECT d FROM vsvc.over',
    'a cube': 'SELECT d, SUM(n) AS n FROM vsvc.rolled GROUP BY d',
    'a calculated property': 'SELECT doubled FROM svc.city',
    'a measure': 'SELECT SUM("measure.total") AS t FROM dsvc.city',
    'the condition of a measure': 'SELECT SUM("measure.some") AS t FROM dsvc.city',
    'a mapping': 'SELECT id FROM svc.mapped',
    'a logic concept': 'SELECT id FROM svc.late',
  };
  const set = (value: string) => s.query(`ALTER ONTOLOGY calls SET allowed_functions = '${value}'`, 'calls');
  let una: Headers;

  beforeAll(async () => {
    for (const name of ['twice', 'other']) {
      await s.database.exec(`CREATE FUNCTION shop.${name}(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'`);
      await s.database.exec(`GRANT EXECUTE ON FUNCTION shop.${name}(bigint) TO PUBLIC`);
    }
    await s.rows(MODEL, 'calls');
    await s.rows("CREATE EXAMPLE 'How much is twice?' AS SELECT shop.twice(id) AS d FROM svc.city", 'calls');
    una = by((await user('una', 'QUERY ON ALL ontology.calls')).token);
  });

  it('is refused at once in each kind of stored text, also in texts that were parsed before', async () => {
    for (const [what, sql] of Object.entries(READS)) expect([what, await outcome(sql, una, 'calls')]).toEqual([what, '200']);
    const filtered = async (path: string) => (await s.fetch(`/svc/api/q/calls/${path}`, { headers: una })).status;
    expect([await filtered('view/seen'), await filtered('view/rolled'), await filtered('concept/city?_subj_=doubled&_op_=gt&_comp_=1')]).toEqual([
      200, 200, 200,
    ]);
    expect((await set('shop.other')).status).toBe(200);
    for (const [what, sql] of Object.entries(READS)) {
      const { status, json } = await ask(sql, una, 'calls');
      expect([what, status, json.code, json.data]).toEqual([what, 400, 'forbidden_function', 'function `shop.twice` is not allowed']);
    }
    expect([await filtered('view/seen'), await filtered('view/rolled'), await filtered('concept/city?_subj_=doubled&_op_=gt&_comp_=1')]).toEqual([
      400, 400, 400,
    ]);
    expect(await outcome('SELECT name FROM svc.city', una, 'calls')).toBe('200');
    expect(await outcome('SELECT n, o FROM vsvc.kept', una, 'calls')).toBe('200');
    await set('shop.twice, shop.other');
    for (const [what, sql] of Object.entries(READS)) expect([what, await outcome(sql, una, 'calls')]).toEqual([what, '200']);
  });

  it('in a policy makes queries fail', async () => {
    await s.rows('CREATE POLICY few ON CONCEPT city TO PUBLIC USING (shop.twice(id) < 3)', 'calls');
    try {
      expect((await ask('SELECT id FROM svc.city', una, 'calls')).json.data).toEqual([{ id: 1 }]);
      await set('shop.other');
      expect(await outcome('SELECT id FROM svc.city', una, 'calls')).toBe('400 forbidden_function');
    } finally {
      await set('shop.twice, shop.other');
      await s.query('DROP POLICY few', 'calls');
    }
  });

  it('is reported with the texts that call it', async () => {
    await s.rows('CREATE POLICY few ON CONCEPT city TO PUBLIC USING (shop.twice(id) < 3)', 'calls');
    await s.rows("CREATE POLICY hide ON PROPERTY name MASK WITH (CASE WHEN shop.twice(3) = 6 THEN 'x' END)", 'calls');
    try {
      const { json } = await set('shop.other');
      expect(json.data[0].warnings.map((w: { code: string }) => w.code)).toEqual(Array(11).fill('function_not_allowed'));
      const calls = 'calls `shop.twice`, which is not allowed';
      expect(json.data[0].warnings.map((w: { message: string }) => w.message)).toEqual([
        `the view \`seen\` ${calls}`,
        `the view \`raw\` ${calls}`,
        `the cube \`rolled\` ${calls}`,
        `the property \`doubled\` ${calls}`,
        `the measure \`total\` ${calls}`,
        `the measure \`some\` ${calls}`,
        `the mapping \`mm\` ${calls}`,
        `the logic concept \`late\` ${calls}`,
        `the policy \`few\` ${calls}`,
        `the policy \`hide\` ${calls}`,
        `the example \`How much is twice?\` ${calls}`,
      ]);
      expect((await set('')).json.data[0].warnings).toHaveLength(12);
      expect((await set('shop.twice, shop.other')).json.data[0].warnings).toEqual([]);
    } finally {
      await s.rows('DROP POLICY few', 'calls');
      await s.rows('DROP POLICY hide', 'calls');
    }
  });

  it('is not reported for a text that the same script replaces', async () => {
    const script = "ALTER ONTOLOGY calls SET allowed_functions = 'shop.other'; CREATE OR REPLACE ONTOLOGY VIEW seen AS SELECT id AS d, id AS o FROM svc.city";
    const { json } = await s.query(script, 'calls');
    const messages: string[] = json.data[0].warnings.map((w: { message: string }) => w.message);
    expect(messages.filter((m) => m.includes('seen'))).toEqual([]);
    expect(messages.filter((m) => m.includes('doubled'))).toHaveLength(1);
    await set('shop.twice, shop.other');
  });
});

describe('clear_cache', () => {
  it.each([
    ['EDIT ON ontology.shop', 200, undefined],
    ['EDIT ON ALL ontology', 200, undefined],
    ['QUERY ON ALL ontology.shop', 403, 'forbidden'],
    ['ACCESS ON ALL ontology.shop', 403, 'forbidden'],
    ['EDIT ON ontology.shop.concept.city', 403, 'forbidden'],
    ['EDIT ON ontology', 404, 'unknown_ontology'],
    ['QUERY ON datasource.main', 404, 'unknown_ontology'],
  ])('with %s is %i', async (grant, status, code) => {
    const una = await user('una', grant);
    for (const method of ['GET', 'POST']) {
      const response = await s.fetch('/svc/api/clear_cache/shop', { method, headers: by(una.token) });
      const json = (await response.json()) as { code?: string };
      expect([response.status, json.code]).toEqual([status, code]);
    }
  });
});
