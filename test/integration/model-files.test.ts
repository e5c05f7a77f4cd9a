/** Plan and apply of model files over HTTP: rights, definers, policies, sources, and what a plan says compared with what an apply does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcError } from '../../src/errors.ts';
import { applyModel, planModel } from '../../src/service/ops/model-files.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
const tokens: Record<string, string> = {};

type Json = Awaited<ReturnType<TestService['query']>>['json'];

interface Wish {
  readonly token?: string | undefined;
  readonly source?: string;
  readonly prune?: boolean;
  readonly expect?: string;
}

async function send(what: 'plan' | 'apply', ontology: string, files: Readonly<Record<string, string>>, { token = service.token, ...wish }: Wish = {}) {
  const response = await service.fetch(`/svc/api/model/${ontology}/${what}`, {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    body: JSON.stringify({ files: Object.entries(files).map(([name, text]) => ({ name, text })), ...wish }),
  });
  return { status: response.status, json: (await response.json()) as Json };
}
async function done(...args: Parameters<typeof send>) {
  const { status, json } = await send(...args);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.data;
}
const get = async (path: string) => {
  const response = await service.fetch(path, { headers: { 'x-api-key': service.token } });
  return { status: response.status, json: (await response.json()) as Json };
};
const short = (changes: readonly { action: string; kind: string; name: string }[]) => changes.map((c) => `${c.action} ${c.kind} ${c.name}`);

async function user(name: string, ...grants: string[]): Promise<void> {
  tokens[name] = await service.user(name, ...grants);
}

const ITEM = `CREATE CONCEPT item (id bigint, name string, PRIMARY KEY (id));
CREATE MAPPING items INTO item AS SELECT id, name FROM shop.t_item;
CREATE VIEW names AS SELECT name FROM svc.item;`;

beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_item (id bigint PRIMARY KEY, name text)',
      "INSERT INTO shop.t_item VALUES (1, 'a'), (2, 'b')",
      'CREATE FUNCTION shop.once(n bigint) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN n',
      'CREATE FUNCTION shop.twice(n bigint) RETURNS bigint IMMUTABLE LANGUAGE sql RETURN 2 * n',
    ],
  });
});
afterAll(() => service?.close());

describe('an apply', () => {
  it('changes the type of a property, and removes a property with the last concept that lists it', async () => {
    await done('apply', 'types', { 'a.kg': 'CREATE CONCEPT c (k bigint, p string, gone string, PRIMARY KEY (k))' });
    const files = { 'a.kg': 'CREATE CONCEPT c (k bigint, p integer, PRIMARY KEY (k))' };
    const planned = await done('plan', 'types', files);
    expect(short(planned.changes)).toEqual(['change concept c']);
    await done('apply', 'types', files);
    const { json } = await get('/svc/api/get_ontology/types');
    expect(Object.keys(json.data.properties).sort()).toEqual(['k', 'p']);
    expect(json.data.properties.p.type).toBe('integer');
    expect((await done('plan', 'types', files)).changes).toEqual([]);
  });

  it('changes nothing if only the order of tags differs', async () => {
    const files = (tags: string) => ({
      'a.kg': `CREATE PROPERTY p string WITH TAGS (${tags}); CREATE MEASURE m bigint WITH TAGS (${tags}) AS SELECT COUNT(p);
        CREATE CONCEPT c (p string, m MEASURE bigint) WITH TAGS (${tags}); CREATE VIEW v WITH TAGS (${tags}) AS SELECT p FROM svc.c`,
    });
    await done('apply', 'tags', files("one = '1', two = '2'"));
    expect((await done('apply', 'tags', files("two = '2', one = '1'"))).changes).toEqual([]);
    expect(short((await done('plan', 'tags', files("two = '3', one = '1'"))).changes)).toEqual([
      'change property p',
      'change measure m',
      'change concept c',
      'change view v',
    ]);
  });

  it('compares allowed_functions as sets of names, which are stored in lower case', async () => {
    const files = (functions: string) => ({
      'a.kg': `CREATE CONCEPT c (k bigint, PRIMARY KEY (k)); ALTER ONTOLOGY functions SET allowed_functions = '${functions}'`,
    });
    await done('apply', 'functions', files('Shop.Twice, shop.once'));
    expect((await done('plan', 'functions', files('Shop.Twice, shop.once'))).changes).toEqual([]);
    expect((await done('plan', 'functions', files('shop.once,shop.twice,SHOP.ONCE'))).changes).toEqual([]);
    expect(short((await done('plan', 'functions', files('shop.once'))).changes)).toEqual(['change setting allowed_functions']);
  });

  it('makes a view with USING that reads concepts, and one that reads tables', async () => {
    const files = {
      'a.kg': `${ITEM} CREATE ONTOLOGY VIEW by_path USING main AS SELECT i.name FROM dsvc.item i;
        CREATE ONTOLOGY VIEW of_view USING main AS SELECT n.name FROM vsvc.names n; CREATE ONTOLOGY VIEW raw USING main AS SELECT name FROM shop.t_item`,
    };
    await done('apply', 'using', files);
    for (const view of ['by_path', 'of_view', 'raw'])
      expect(await service.rows(`SELECT name FROM vsvc.${view} ORDER BY name`, 'using'), view).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect((await done('plan', 'using', files)).changes).toEqual([]);
    expect(await service.fault('DROP CONCEPT item', 'using')).toBe('400 in_use');
  });

  it('reports changes that readers notice', async () => {
    await done('apply', 'noticed', {
      'a.kg': `${ITEM.replace('AS SELECT name FROM svc.item', 'AS SELECT id FROM svc.item')} CREATE EXAMPLE 'Which?' AS SELECT name FROM svc.item`,
    });
    const files = { 'a.kg': 'CREATE CONCEPT item (id integer, PRIMARY KEY (id)); CREATE MAPPING items INTO item AS SELECT id FROM shop.t_item' };
    const { warnings } = await done('plan', 'noticed', files);
    expect(warnings).toEqual([
      { code: 'column_dropped', message: 'the concept `item` no longer has `name`: queries that read it fail' },
      { code: 'type_changed', message: 'the property `id` changes from bigint to integer' },
      { code: 'example_invalid', message: expect.stringMatching(/^the query of the example `Which\?` stops planning: unknown property `name`/) },
    ]);
  });

  it('names the policies whose effect changes, to callers who may make policies', async () => {
    await service.rows(
      `CREATE ONTOLOGY concerned; ${ITEM} CREATE CONCEPT other (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING others INTO other AS SELECT id, name FROM shop.t_item;
       CREATE POLICY few ON CONCEPT item TO PUBLIC USING (id < 2); CREATE POLICY blank ON PROPERTY name OF CONCEPT other MASK NULL; CREATE POLICY rest ON CONCEPT other TO PUBLIC USING (id < 3)`,
    );
    const notices = async (files: Readonly<Record<string, string>>) =>
      (await done('plan', 'concerned', files)).warnings.map((w: { code: string; message: string }) => [w.code, /policy `(\w+)`/.exec(w.message)?.[1]]);
    expect(await notices({ 'a.kg': 'CREATE MAPPING items INTO item AS SELECT 1 AS id, name FROM shop.t_item' })).toEqual([['policy_concerned', 'few']]);
    expect(await notices({ 'a.kg': 'CREATE MAPPING others INTO other AS SELECT id, upper(name) AS name FROM shop.t_item' })).toEqual([
      ['policy_concerned', 'blank'],
      ['policy_concerned', 'rest'],
    ]);
    expect(await notices({ 'a.kg': 'CREATE CONCEPT more (a bigint)' })).toEqual([]);
  });

  it('names the file of an error, with the position in it', async () => {
    const { status, json } = await send('apply', 'faulty', { 'good.kg': ITEM, 'bad.kg': '-- 🜁\nCREATE CONCEPT b INHERITS (nowhere)' });
    expect([status, json.code, json.data, json.position]).toEqual([400, 'unknown_concept', expect.stringMatching(/^bad\.kg: unknown concept `nowhere`/), 33]);
    expect((await get('/svc/api/get_ontology/faulty')).status).toBe(404);
  });

  it('drops objects that use each other', async () => {
    const uses = 'CREATE CONCEPT low INHERITS (item); CREATE VIEW v AS SELECT name FROM svc.low; CREATE VIEW w AS SELECT name FROM vsvc.v';
    await done('apply', 'chain', { 'a.kg': ITEM, 'b.kg': uses });
    const found = await done('apply', 'chain', { 'a.kg': ITEM }, { prune: true });
    expect(short(found.changes)).toEqual(['drop concept low', 'drop view v', 'drop view w']);
  });

  it('drops concepts that refer to each other, and a property over a path from its own concept', async () => {
    const circle = `CREATE PROPERTY other_id bigint AS SELECT "away[left].id"; CREATE CONCEPT right (id bigint, other_id bigint, PRIMARY KEY (id), CONSTRAINT away FOREIGN KEY (id) REFERENCES left (id));
      CREATE CONCEPT left (id bigint, PRIMARY KEY (id), CONSTRAINT back FOREIGN KEY (id) REFERENCES right (id))`;
    await done('apply', 'circle', { 'a.kg': ITEM, 'b.kg': circle });
    const found = await done('apply', 'circle', { 'a.kg': ITEM }, { prune: true });
    expect(short(found.changes)).toEqual(['drop property other_id', 'drop concept right', 'drop concept left']);
    const { json } = await get('/svc/api/get_ontology/circle');
    expect(json.data.ontology.map((c: { concept: string }) => c.concept)).toEqual(['item']);
  });

  it('does not prune an object that a remaining object uses', async () => {
    await done('apply', 'kept', { 'a.kg': 'CREATE CONCEPT item (id bigint, PRIMARY KEY (id))' }, { source: 'one' });
    await service.rows('CREATE VIEW by_hand AS SELECT id FROM svc.item', 'kept');
    const { status, json } = await send('apply', 'kept', { 'a.kg': 'CREATE CONCEPT other (id bigint, PRIMARY KEY (id))' }, { source: 'one', prune: true });
    expect([status, json.code]).toEqual([400, 'in_use']);
  });

  it('manages examples and policies only if the files contain one', async () => {
    const script = `${ITEM} CREATE EXAMPLE 'Which?' AS SELECT name FROM svc.item; CREATE POLICY few ON CONCEPT item TO PUBLIC USING (id < 2)`;
    await service.rows(`CREATE ONTOLOGY managed; ${script}`);
    expect((await done('apply', 'managed', { 'a.kg': ITEM }, { prune: true })).changes).toEqual([]);
    expect((await done('plan', 'managed', { 'a.kg': script })).changes).toEqual([]);
    const other = script.replace('Which?', 'How many?').replace('id < 2', 'id < 3');
    expect(short((await done('plan', 'managed', { 'a.kg': other }, { prune: true })).changes)).toEqual([
      'create example How many?',
      'change policy few',
      'drop example Which?',
    ]);
    await done('apply', 'managed', { 'a.kg': other }, { prune: true });
    expect(await service.rows('SELECT name FROM svc.item', 'managed')).toHaveLength(2);
    expect((await done('plan', 'managed', { 'a.kg': other }, { prune: true })).changes).toEqual([]);
  });

  it('reports the change even if reading the warnings from the catalog fails', async () => {
    await done('apply', 'late', { 'a.kg': ITEM });
    const request = await service.request(service.token);
    const { db } = request.runtime;
    const query: typeof db.query = async (statement, params) => {
      if (statement.includes('examples')) throw new SvcError(503, 'catalog_unavailable', 'unreachable');
      return db.query(statement, params);
    };
    const files = { files: [{ name: 'a.kg', text: 'CREATE CONCEPT more (a bigint)' }], source: null, prune: false, expect: null };
    const failing = { ...request, runtime: { ...request.runtime, db: { ...db, query, batch: (calls: Parameters<typeof db.batch>[0]) => db.batch(calls) } } };
    await expect(planModel(failing, 'late', files)).rejects.toMatchObject({ status: 503 });
    const { version, changes } = await applyModel(failing, 'late', files);
    expect(short(changes)).toEqual(['create concept more']);
    expect((await get('/svc/api/get_ontology/late')).json.data.version).toBe(version);
  });

  it('followed by a rollback has the objects of its source again', async () => {
    await done('apply', 'back', { 'a.kg': 'CREATE CONCEPT one (a bigint)' }, { source: 's' });
    const { version } = (await get('/svc/api/get_ontology/back')).json.data;
    await done('apply', 'back', { 'a.kg': 'CREATE CONCEPT two (b bigint)' }, { source: 's' });
    await service.rows(`ROLLBACK ONTOLOGY back TO VERSION '${version}'`, 'back');
    const found = await done('plan', 'back', { 'a.kg': '' }, { source: 's', prune: true });
    expect(short(found.changes)).toEqual(['drop concept one']);
  });
});

describe('the plan of a rollback', () => {
  const planOf = (ontology: string, version: string, token = service.token, what: 'plan' | 'apply' = 'plan') =>
    service
      .fetch(`/svc/api/model/${ontology}/${what}`, {
        method: 'POST',
        headers: { 'x-api-key': token, 'content-type': 'application/json' },
        body: JSON.stringify({ files: [], version }),
      })
      .then(async (response) => ({ status: response.status, json: (await response.json()) as Json }));

  it('says what the rollback would change, and changes nothing', async () => {
    await done('apply', 'past', { 'a.kg': ITEM });
    const { json } = await get('/svc/api/get_ontology/past');
    const { version } = json.data;
    await done('apply', 'past', {
      'a.kg': "CREATE CONCEPT item (id bigint, name string, PRIMARY KEY (id)) DESCRIPTION 'Sold'; CREATE CONCEPT more (k bigint, PRIMARY KEY (k))",
    });
    const { status, json: planned } = await planOf('past', version);
    expect(status, JSON.stringify(planned)).toBe(200);
    expect(short(planned.data.changes)).toEqual(['change concept item', 'drop concept more']);
    expect(planned.data.changes[0].before).toContain("DESCRIPTION = 'Sold'");
    expect(planned.data.changes[0].after).not.toContain('Sold');
    expect((await planOf('past', version)).json.data).toEqual(planned.data);
    const current = (await get('/svc/api/get_ontology/past')).json.data.version;
    expect((await planOf('past', current)).json.data.changes).toEqual([]);
  });

  it('is refused for versions that do not exist, for an apply, and to callers who may not edit the whole', async () => {
    await done('apply', 'past', { 'a.kg': ITEM });
    const { version } = (await get('/svc/api/get_ontology/past')).json.data;
    for (const unknown of ['x', '00000000-0000-4000-8000-00000000dead'])
      expect((await planOf('past', unknown)).json).toMatchObject({ code: 'unknown_version' });
    expect((await planOf('past', version, service.token, 'apply')).json).toMatchObject({ code: 'bad_value' });
    await user('reader_of_past', 'QUERY ON ALL ontology.past');
    expect((await planOf('past', version, tokens.reader_of_past)).status).toBe(403);
    expect((await planOf('nowhere', version)).status).toBe(404);
  });
});

describe('rights', () => {
  it('an object that does not change keeps its definer', async () => {
    await service.rows(`CREATE ONTOLOGY defined; ${ITEM}`);
    await user('maker', 'EDIT ON ALL ontology.defined', 'QUERY ON datasource.main');
    await user('reader', 'QUERY ON ontology.defined.view.names');
    const read = async () => (await service.query('SELECT name FROM vsvc.names', 'defined', tokens.reader)).status;
    await done('apply', 'defined', { 'a.kg': ITEM.replace('SELECT name FROM svc', 'SELECT name AS n FROM svc') }, { token: tokens.maker });
    // an administrator applies the same files with another change
    await done('apply', 'defined', { 'a.kg': `${ITEM.replace('SELECT name FROM svc', 'SELECT name AS n FROM svc')} CREATE CONCEPT more (a bigint)` });
    await service.rows('REVOKE EDIT ON ALL ontology.defined FROM USER maker; REVOKE QUERY ON datasource.main FROM USER maker');
    expect((await service.query('SELECT n FROM vsvc.names', 'defined', tokens.reader)).json.code).toBe('view_unreadable');
    expect(await read()).not.toBe(200);
  });

  it('an editor who may not make policies cannot change what a policy depends on, or add one', async () => {
    await service.rows(`CREATE ONTOLOGY guarded; ${ITEM} CREATE POLICY few ON CONCEPT item TO PUBLIC USING (id < 2)`);
    await user('edna', 'EDIT ON ALL ontology.guarded', 'QUERY ON ALL datasource');
    for (const what of ['plan', 'apply'] as const) {
      const moved = await send(what, 'guarded', { 'a.kg': ITEM.replace('SELECT id, name', 'SELECT 1 AS id, name') }, { token: tokens.edna });
      expect([moved.status, moved.json.code]).toEqual([403, 'forbidden']);
      const policy = await send(what, 'guarded', { 'a.kg': `${ITEM} CREATE POLICY few ON CONCEPT item TO PUBLIC USING (true)` }, { token: tokens.edna });
      expect([policy.status, policy.json.code]).toEqual([403, 'forbidden']);
      // a policy that exists already is refused as well, and its name is not shown
      const same = await send(what, 'guarded', { 'a.kg': `${ITEM} CREATE POLICY few ON CONCEPT item TO PUBLIC USING (id < 2)` }, { token: tokens.edna });
      expect([same.status, same.json.code]).toEqual([403, 'forbidden']);
      const other = await send(what, 'guarded', { 'a.kg': `${ITEM} CREATE POLICY mine ON CONCEPT item TO PUBLIC USING (true)` }, { token: tokens.edna });
      expect([other.status, JSON.stringify(other.json).includes('few')]).toEqual([403, false]);
    }
    expect(await service.rows('SELECT name FROM svc.item', 'guarded', tokens.edna)).toEqual([{ name: 'a' }]);
  });

  it('a caller who does not see the whole ontology may not compare it', async () => {
    await service.rows(`CREATE ONTOLOGY partly; ${ITEM}`);
    await user('part', 'EDIT ON ontology.partly', 'EDIT ON ontology.partly.concept.item', 'QUERY ON ontology.partly.concept.item');
    const { status, json } = await send('plan', 'partly', { 'a.kg': 'CREATE CONCEPT item (id bigint, PRIMARY KEY (id))' }, { token: tokens.part });
    expect([status, json.data]).toEqual([403, 'This needs EDIT on ALL ontology.partly']);
    expect(JSON.stringify(json)).not.toContain('names');
  });
});

describe('CREATE OR REPLACE and IF NOT EXISTS', () => {
  it('of every kind of object can be sent twice, and the second form keeps what exists', async () => {
    const kinds: readonly (readonly [kind: string, name: string, rest: string, other: string])[] = [
      ['PROPERTY', 'twice_p', 'string', 'integer'],
      ['CONCEPT', 'twice_c', '(no integer, name string, PRIMARY KEY (no), LABEL (name))', '(no integer)'],
      ['MEASURE', 'twice_m', 'bigint AS SELECT COUNT(no)', 'bigint AS SELECT SUM(no)'],
      ['MAPPING', 'twice_map', "INTO twice_c AS SELECT 1 AS no, 'x' AS name", 'INTO twice_c AS SELECT 2 AS no'],
      ['VIEW', 'twice_v', 'AS SELECT no FROM svc.twice_c', 'AS SELECT name FROM svc.twice_c'],
      ['ONTOLOGY VIEW', 'twice_w', 'AS SELECT no FROM svc.twice_c', 'AS SELECT name FROM svc.twice_c'],
      ['CUBE', 'twice_q', 'AS SELECT name, COUNT(no) AS n FROM svc.twice_c', 'AS SELECT name, SUM(no) AS n FROM svc.twice_c'],
      ['ONTOLOGY CUBE', 'twice_r', 'AS SELECT name, COUNT(no) AS n FROM svc.twice_c', 'AS SELECT name, SUM(no) AS n FROM svc.twice_c'],
      ['EXAMPLE', "'How many twice?'", 'AS SELECT COUNT(*) AS n FROM svc.twice_c', 'AS SELECT 1 AS n'],
      ['ROLE', 'twice_role', '', ''],
      ['USER', 'twice_user', "OPTIONS (email = 'a@example.com')", "OPTIONS (email = 'b@example.com')"],
      ['AGENT', 'twice_agent', "ONTOLOGY (twice) OPTIONS (note = 'a')", "ONTOLOGY (twice) OPTIONS (note = 'b')"],
      ['POLICY', 'twice_row', 'ON CONCEPT twice_c TO ROLE twice_role USING (no > 0)', 'ON CONCEPT twice_c TO PUBLIC USING (no > 1)'],
      ['POLICY', 'twice_mask', 'ON PROPERTY name MASK FULL', 'ON PROPERTY name MASK HASH'],
      ['DATASOURCE', 'twice_d', "TYPE postgres SECRET 'DATASOURCE_MAIN'", "TYPE postgres SECRET 'DATASOURCE_UNSET'"],
      ['ONTOLOGY', 'twice_o', "DESCRIPTION 'a'", "DESCRIPTION 'b'"],
    ];
    await service.rows('CREATE ONTOLOGY twice');
    for (const [kind, name, rest, other] of kinds) {
      const show = (): Promise<unknown> =>
        kind === 'ROLE' || kind === 'USER'
          ? service.rows('SELECT user_name, email FROM svc.sys_users ORDER BY 1', 'twice')
          : service.rows(`SHOW CREATE ${kind.replace('ONTOLOGY ', '')} ${name}`, kind === 'ONTOLOGY' ? name : 'twice');
      await service.rows(`CREATE OR REPLACE ${kind} ${name} ${rest}`, 'twice');
      const made = await show();
      await service.rows(`CREATE OR REPLACE ${kind} ${name} ${rest}`, 'twice');
      for (let i = 0; i < 2; i++) await service.rows(`CREATE ${kind} IF NOT EXISTS ${name} ${other}`, 'twice');
      expect(await show(), kind).toEqual(made);
    }
  });

  it('of a user keep tokens, roles and rights', async () => {
    await service.rows('CREATE ROLE crew');
    await user('ursa', 'EDIT ON ontology');
    await service.rows('GRANT ROLE crew TO USER ursa');
    await service.rows(
      "CREATE OR REPLACE USER ursa PASSWORD 'Another-one-2' OPTIONS (email = 'u@example.org'); CREATE OR REPLACE ROLE crew; CREATE USER IF NOT EXISTS ursa",
    );
    expect(await service.rows("SELECT email FROM svc.SYS_USERS WHERE user_name = 'ursa'")).toEqual([{ email: 'u@example.org' }]);
    expect(await service.rows('SELECT 1 AS one', '', tokens.ursa)).toEqual([{ one: 1 }]);
    expect(await service.rows("SELECT role_name FROM svc.SYS_ROLES WHERE user_name = 'ursa'")).toEqual([{ role_name: 'crew' }]);
  });

  it('of a user need the right to change it, and administrators are changed only by administrators', async () => {
    await user('helper', 'EDIT ON user');
    await user('boss');
    await service.rows('GRANT ROLE admin TO USER boss');
    expect(await service.fault("CREATE OR REPLACE USER ursa PASSWORD 'Mine-now-11'", '', tokens.helper)).toMatch(/^40[03] /);
    expect(await service.fault("CREATE OR REPLACE USER boss PASSWORD 'Mine-now-11'", '', tokens.helper)).toMatch(/^40[03] /);
    await service.rows('GRANT EDIT ON ALL user TO USER helper');
    expect(await service.fault("CREATE OR REPLACE USER boss PASSWORD 'Mine-now-11'", '', tokens.helper)).toBe('403 forbidden');
  });

  it('of a hidden object have the same answer as CREATE', async () => {
    await service.rows(`CREATE ONTOLOGY secret; ${ITEM}`);
    const faults = await Promise.all(
      ['CREATE ONTOLOGY secret', 'CREATE ONTOLOGY IF NOT EXISTS secret', 'CREATE OR REPLACE ONTOLOGY secret'].map((sql) => service.fault(sql, '', tokens.ursa)),
    );
    expect(new Set(faults)).toEqual(new Set(['400 exists']));
  });
});
