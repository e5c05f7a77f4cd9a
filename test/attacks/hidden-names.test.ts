/** Attacks that search for names: the answer for a hidden object is that for one that does not exist, and refusals do not name it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { admins, ask, by, s, startCallers, user } from './callers.ts';

const SIZES = sizesOf('attacks/hidden-names');

const MODEL = `CREATE CONCEPT hqx_dossier (no bigint, hqx_grade string, city_no bigint, PRIMARY KEY (no), CONSTRAINT hqx_of FOREIGN KEY (city_no) REFERENCES city (id) INVERSEOF hqx_has);
CREATE MAPPING hqx_rows INTO hqx_dossier AS SELECT id AS no, name AS hqx_grade, id AS city_no FROM shop.t_city;
CREATE MEASURE hqx_count bigint AS SELECT COUNT(no);
CREATE VIEW hqx_view AS SELECT hqx_grade FROM svc.hqx_dossier;
CREATE POLICY hqx_policy ON CONCEPT hqx_dossier TO PUBLIC USING (hqx_grade <> 'Berlin' AND "hqx_of[city].size" IS NULL)`;

let editor: { name: string; token: string };
beforeAll(async () => {
  await startCallers();
  await s.rows('CREATE OR REPLACE CONCEPT city (id bigint, name string, size bigint, PRIMARY KEY (id))', 'shop');
  await s.rows(MODEL, 'shop');
  await admins('CREATE ROLE hqx_role; CREATE USER hqx_user; CREATE ONTOLOGY hqx_ontology; CREATE AGENT hqx_agent ONTOLOGY (hqx_ontology)');
  await admins("CREATE DATASOURCE hqx_source TYPE postgres SECRET 'DATASOURCE_MAIN'");
  editor = await user('ed', 'EDIT ON ontology.shop', 'EDIT ON ontology.shop.concept.city', 'QUERY ON datasource.main');
});
afterAll(() => s?.close());

const KINDS = ['dossier', 'grade', 'of', 'has', 'rows', 'count', 'view', 'policy', 'role', 'user', 'ontology', 'agent', 'source'];
/** `@` is replaced by a name. */
const STATEMENTS = [
  'SELECT * FROM svc.@',
  'SELECT * FROM vsvc.@',
  'SELECT @ FROM svc.city',
  'SELECT "@[city].name" FROM dsvc.city',
  'SELECT "measure.@" FROM dsvc.city',
  'SELECT "_type_of_@" FROM dsvc.city',
  'DESC svc.@',
  'EXPLAIN SELECT @ FROM svc.city',
  'SHOW TOKEN FOR @',
  ...['ONTOLOGY', 'CONCEPT', 'PROPERTY', 'MEASURE', 'MAPPING', 'VIEW', 'POLICY', 'AGENT', 'DATASOURCE'].map((kind) => `SHOW CREATE ${kind} @`),
  ...['ONTOLOGY', 'CONCEPT', 'PROPERTY', 'MEASURE', 'MAPPING', 'VIEW', 'POLICY', 'AGENT', 'DATASOURCE', 'ROLE', 'USER'].map((kind) => `DROP ${kind} @`),
  ...['ontology.@', 'ontology.shop.concept.@', 'ontology.shop.view.@', 'datasource.@', 'user.@', 'role.@', 'agent.@'].map(
    (r) => `GRANT QUERY ON ${r} TO USER @`,
  ),
  'REVOKE QUERY ON ontology.shop.concept.city FROM USER @',
  'GRANT ROLE @ TO USER @',
  'GRANT AUTH ON user.@ TO USER @',
  "ALTER USER @ SET ACTIVE = 'false'",
  'CREATE TOKEN FOR @',
  'ALTER ONTOLOGY shop ADD DATASOURCE @',
  "ALTER CONCEPT @ UPDATE TAG a = 'b'",
  'CREATE AGENT made ONTOLOGY (@)',
  'CREATE CONCEPT made INHERITS (@)',
  'CREATE CONCEPT made FROM svc.city WHERE @ = 1',
  'CREATE MAPPING made INTO (@) AS SELECT id FROM shop.t_city',
  'CREATE MAPPING made INTO (city) USING @ AS SELECT id FROM shop.t_city',
  'CREATE VIEW made AS SELECT * FROM svc.@',
  'CREATE VIEW made AS SELECT @ FROM svc.city',
  'CREATE VIEW made AS SELECT "@[city].name" FROM dsvc.city',
  'CREATE PROPERTY made string AS SELECT upper(@)',
  'CREATE MEASURE made bigint AS SELECT COUNT(@)',
  "CREATE EXAMPLE 'made' AS SELECT @ FROM svc.city",
  ...['USER @', 'ROLE @', 'ONTOLOGY @', 'AGENT @ ONTOLOGY (shop)', 'POLICY @ ON CONCEPT city TO PUBLIC USING (true)'].flatMap((object) =>
    ['OR REPLACE ', ''].map((replace) => `CREATE ${replace}${replace === '' ? object.replace(' ', ' IF NOT EXISTS ') : object}`),
  ),
];

describe('A hidden name is answered like one that does not exist', () => {
  it.each(STATEMENTS.map((statement, i) => [statement, oneIn(SIZES.everyKind, KINDS, i)] as const))('%s', async (statement, kinds) => {
    const answer = async (name: string): Promise<string> => {
      // a failed script has no effect
      const sql = `${statement.replaceAll('@', name)}${/^(SELECT|SHOW|DESC|EXPLAIN)/.test(statement) ? '' : '; DROP USER nobody_has_this_name'}`;
      const { status, text } = await ask(sql, { ...by(editor.token), 'x-request-id': 'one' }, 'shop');
      return `${status} ${text}`.replaceAll(new RegExp(name, 'gi'), '<name>');
    };
    const reads = /^(SELECT|SHOW|DESC|EXPLAIN)/.test(statement);
    for (const kind of kinds) {
      expect(await answer(`hqx_${kind}`)).toBe(await answer(`nzv_${kind}`));
      if (!reads) continue;
      // another spelling, and a typo
      expect(await answer(`HQX_${kind.toUpperCase()}`)).toBe(await answer(`NZV_${kind.toUpperCase()}`));
      expect(await answer(`hqx_${kind}s`)).toBe(await answer(`nzv_${kind}s`));
    }
  });
});

describe('A refusal does not name what is hidden', () => {
  it.each([
    ['DROP CONCEPT city'],
    ['CREATE OR REPLACE CONCEPT city (id bigint, name string, PRIMARY KEY (id))'],
    ['CREATE OR REPLACE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); DROP PROPERTY size'],
    ['CREATE OR REPLACE PROPERTY size string'],
  ])('%s', async (sql) => {
    const { status, text } = await ask(sql, by(editor.token), 'shop');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toMatch(/hqx/i);
  });

  it('DROP USER of the definer of a view', async () => {
    const maker = await user('maker', 'EDIT ON ALL ontology.shop', 'QUERY ON datasource.main');
    expect((await ask('CREATE VIEW hqx_made AS SELECT name FROM svc.city', by(maker.token), 'shop')).status).toBe(200);
    const other = await user('other', `EDIT ON user.${maker.name}`);
    const refusalFor = async (token: string): Promise<string> => (await ask(`DROP USER ${maker.name}`, by(token))).json.data;
    expect(await refusalFor(other.token)).toBe(`the user \`${maker.name}\` is the definer of a view, which reads with its rights`);
    await admins(`GRANT ACCESS ON ontology.shop.view.hqx_made TO USER ${other.name}`);
    expect(await refusalFor(other.token)).toContain('`hqx_made`');
    await s.rows('DROP VIEW hqx_made', 'shop');
  });

  it('DROP ROLE and DROP USER of a grantee of a policy', async () => {
    await admins('CREATE ROLE named; CREATE USER named');
    await s.rows('CREATE POLICY hqx_named ON PROPERTY hqx_grade MASK FULL EXCEPT ROLE named, USER named', 'shop');
    const other = await user('other', 'EDIT ON role.named', 'EDIT ON user.named', 'QUERY ON ALL ontology.shop');
    for (const kind of ['role', 'user']) {
      const { json } = await ask(`DROP ${kind} named`, by(other.token));
      expect(json.data).toBe(`the ${kind} \`named\` is named by a policy`);
    }
    await s.rows('DROP POLICY hqx_named', 'shop');
    await admins('DROP ROLE named; DROP USER named');
  });
});

describe('A text of another author that names hidden objects', () => {
  let partial: { name: string; token: string };
  beforeAll(async () => {
    await s.rows(
      `CREATE ONTOLOGY texts; CREATE CONCEPT country (cid bigint, csize bigint, cname string, PRIMARY KEY (cid));
       CREATE CONCEPT hqx_file (no bigint, c_id bigint, PRIMARY KEY (no), CONSTRAINT hqx_in FOREIGN KEY (c_id) REFERENCES country (cid));
       CREATE PROPERTY far bigint AS SELECT "hqx_of[hqx_file].hqx_in[country].csize";
       CREATE CONCEPT town (id bigint, d_no bigint, far bigint, PRIMARY KEY (id), CONSTRAINT hqx_of FOREIGN KEY (d_no) REFERENCES hqx_file (no));
       CREATE CONCEPT big INHERITS (town) FROM dsvc.town WHERE "hqx_of[hqx_file].hqx_in[country].cname" = 'x'`,
    );
    partial = await user(
      'pe',
      'EDIT ON ontology.texts',
      'EDIT ON ontology.texts.concept.country',
      ...['town', 'big'].map((c) => `QUERY ON ontology.texts.concept.${c}`),
    );
  });

  it.each([
    ['a calculated property', 'cname string'],
    ['the condition of a logic concept', 'csize bigint'],
  ])('is not quoted by the refusal of a change that %s does not survive', async (_, kept) => {
    const { status, json } = await ask(`CREATE OR REPLACE CONCEPT country (cid bigint, ${kept}, PRIMARY KEY (cid))`, by(partial.token), 'texts');
    expect([status, json.code]).toEqual([400, 'unknown_property']);
    expect(json.data).toBe('the statement conflicts with a part of the ontology that you may not see');
  });

  it('is not quoted to a reader', async () => {
    await s.rows('CREATE MAPPING towns INTO (town) AS SELECT id, id AS d_no FROM shop.t_city', 'texts');
    const { status, json } = await ask('SELECT far FROM svc.town', by(partial.token), 'texts');
    expect([status, json.code, json.data]).toEqual([400, 'unknown_property', 'unknown property `far` of concept `town`']);
  });
});
