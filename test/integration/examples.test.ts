/** Verified examples: the checks of the statements, the rights that they need, validity after changes of the model, and visibility. With another product's name. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { examplesOf } from '../../src/service/ops/questions.ts';
import { runScript, type Script } from '../../src/service.ts';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE ONTOLOGY zoo;
  CREATE MEASURE mass decimal AS SELECT SUM(weight);
  CREATE MEASURE calls bigint AS SELECT COUNT(phone);
  CREATE CONCEPT animal (no bigint, called string, weight decimal, keeper_no bigint, mass MEASURE decimal, PRIMARY KEY (no), LABEL (called),
    CONSTRAINT kept_by FOREIGN KEY (keeper_no) REFERENCES keeper (keeper_no) INVERSEOF keeps);
  CREATE CONCEPT keeper (keeper_no bigint, title string, phone string, calls MEASURE bigint, PRIMARY KEY (keeper_no));
  CREATE MAPPING ma INTO animal AS SELECT no, called, weight, k AS keeper_no FROM z.t_animal;
  CREATE MAPPING mk INTO keeper AS SELECT id AS keeper_no, name AS title, tel AS phone FROM z.t_keeper;
  CREATE VIEW named AS SELECT no, called FROM acme.animal;
  CREATE ONTOLOGY VIEW staff AS SELECT title, phone FROM acme.keeper`;

let s: TestService;
const tokens: Record<string, string> = {};

/** `status code position message` of a statement that fails. */
async function failure(sql: string, user?: string): Promise<string> {
  const { status, json } = await s.query(sql, 'zoo', user && tokens[user]);
  return `${status} ${json.code}${json.position === undefined ? '' : ` ${json.position}`} ${json.data}`;
}
const asked = async (user?: string): Promise<string[]> => (await s.rows('SHOW EXAMPLES', 'zoo', user && tokens[user])).map((e) => e.question);

async function user(name: string, ...grants: string[]): Promise<void> {
  tokens[name] = await s.user(name, ...grants);
}

/** The examples for a user's questions. */
async function handed(name: string, wish?: Parameters<typeof examplesOf>[2]): Promise<string[]> {
  return (await examplesOf(await s.request(tokens[name] ?? ''), 'zoo', wish)).map((e) => e.question);
}

beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA z',
      'CREATE TABLE z.t_keeper (id bigint PRIMARY KEY, name text, tel text)',
      'CREATE TABLE z.t_animal (no bigint PRIMARY KEY, called text, weight numeric, k bigint)',
      "INSERT INTO z.t_keeper VALUES (1, 'Kim', '555')",
      "INSERT INTO z.t_animal VALUES (1, 'Ada', 12.5, 1), (2, 'Bob', 400, NULL)",
    ],
    settings: { PRODUCT_NAME: 'acme' },
  });
  await s.rows(MODEL);
  await user('una', 'QUERY ON ALL ontology.zoo');
  await user('edi', 'EDIT ON ALL ontology.zoo');
  await user('pat', 'EDIT ON ontology.zoo', 'QUERY ON ontology.zoo.concept.animal');
  await user('ann', 'QUERY ON ontology.zoo.concept.animal');
  await user('vic', 'QUERY ON ontology.zoo.view.staff');
  await user('acc', 'ACCESS ON ALL ontology.zoo');
  await user('out');
});
afterAll(() => s?.close());

describe('CREATE EXAMPLE', () => {
  it('is listed by SYS_EXAMPLES, SHOW EXAMPLES and SHOW CREATE, which creates it again', async () => {
    const [version] = await s.rows('SHOW VERSION', 'zoo');
    expect(
      await s.rows("CREATE EXAMPLE ' How heavy is it all? ' DESCRIPTION 'in kilos' AS SELECT SUM(`measure.mass`) AS mass FROM dsvc.animal -- all", 'zoo'),
    ).toEqual([{ example: 'How heavy is it all?', ontology: 'zoo' }]);
    await s.rows("CREATE EXAMPLE 'Who''s Bob?' AS SELECT called FROM acme.animal WHERE called = 'Bob'", 'zoo', tokens.edi);
    const listedExamples = await s.rows('SELECT * FROM acme.SYS_EXAMPLES', 'zoo');
    expect(listedExamples).toEqual([
      {
        question: 'How heavy is it all?',
        query: 'SELECT SUM(`measure.mass`) AS mass FROM dacme.animal',
        valid: true,
        error: null,
        changed_by: 'admin',
        changed_on: expect.stringMatching(/^2\d{3}-\d\d-\d\dT.*\+00:00$/),
        description: 'in kilos',
      },
      expect.objectContaining({ question: "Who's Bob?", query: "SELECT called FROM acme.animal WHERE called = 'Bob'", changed_by: 'edi', description: null }),
    ]);
    expect(await s.rows('SHOW EXAMPLES', 'zoo')).toEqual(listedExamples);
    expect(await s.rows("SELECT question FROM SYS_EXAMPLES WHERE valid AND changed_by = 'edi'", 'zoo', tokens.edi)).toEqual([{ question: "Who's Bob?" }]);
    expect(await s.rows('SELECT * FROM SYS_EXAMPLES')).toEqual([]);
    const scripts = [
      "CREATE OR REPLACE EXAMPLE 'How heavy is it all?' DESCRIPTION = 'in kilos' AS SELECT SUM(`measure.mass`) AS mass FROM dacme.animal;",
      "CREATE OR REPLACE EXAMPLE 'Who''s Bob?' AS SELECT called FROM acme.animal WHERE called = 'Bob';",
    ];
    expect(await s.rows("SHOW CREATE EXAMPLE 'how heavy is it  all'", 'zoo')).toEqual([{ script: scripts[0] }]);
    expect(await s.rows("SHOW CREATE EXAMPLE 'WHO''S BOB?!'", 'zoo')).toEqual([{ script: scripts[1] }]);
    expect(await s.fault("SHOW CREATE EXAMPLE 'Who is it?'", 'zoo')).toBe('400 unknown_example');
    const [all] = await s.rows('SHOW CREATE ONTOLOGY zoo', 'zoo');
    expect(all.script.endsWith(scripts.join('\n'))).toBe(true);
    await s.rows(all.script.replaceAll('`zoo`', '`copy`'));
    const plain = (rows: { question: string; query: string }[]) => rows.map((r) => [r.question, r.query]);
    expect(plain(await s.rows('SHOW EXAMPLES', 'copy'))).toEqual(plain(listedExamples));
    // they create no version
    expect(await s.rows('SHOW VERSION', 'zoo')).toEqual([version]);
    // and are dropped with their ontology
    await s.rows('DROP ONTOLOGY copy; CREATE ONTOLOGY copy');
    expect(await s.rows('SHOW EXAMPLES', 'copy')).toEqual([]);
    await s.rows('DROP ONTOLOGY copy');
    await s.rows("DROP EXAMPLE 'who''s bob'; DROP EXAMPLE 'how heavy is it all'", 'zoo');
    expect(await asked()).toEqual([]);
  });

  it('can be in one script with the model, applied as a whole or not at all', async () => {
    const [{ id }] = await s.rows('SHOW VERSION', 'zoo');
    expect(
      await failure(
        "CREATE CONCEPT den (den_no bigint); CREATE EXAMPLE 'a' AS SELECT den_no FROM acme.den; CREATE EXAMPLE 'b' AS SELECT nothing FROM acme.den",
      ),
    ).toMatch(/^400 unknown_property 117 /);
    expect(await asked()).toEqual([]);
    expect((await s.rows('SHOW VERSION', 'zoo'))[0].id).toBe(id);
    expect(
      await s.rows(
        "CREATE CONCEPT den (den_no bigint); CREATE EXAMPLE 'a' AS SELECT den_no FROM acme.den; CREATE OR REPLACE EXAMPLE 'A?' AS SELECT 2 AS two; CREATE EXAMPLE 'b' AS SELECT 1 AS one; DROP EXAMPLE 'b'; SELECT question, query FROM SYS_EXAMPLES",
        'zoo',
      ),
    ).toEqual([{ question: 'A?', query: 'SELECT 2 AS two' }]);
    expect(await failure("DROP EXAMPLE 'a'; DROP EXAMPLE 'a'")).toMatch(/^400 unknown_example 32 there is no example of the question `a`/);
    await s.rows("DROP EXAMPLE 'a'; DROP CONCEPT den; DROP PROPERTY den_no", 'zoo');
    const entries = await s.database.exec("SELECT action FROM kg_catalog.audit WHERE action LIKE '%example%' ORDER BY id DESC LIMIT 2");
    expect(entries.map((e) => e.action)).toEqual(['drop_example,drop', 'create_concept,create_example,drop_example']);
  });

  it('is checked against the model at the end of its script, and does not split a version', async () => {
    const versions = async () => (await s.rows('SHOW VERSIONS', 'zoo')).length;
    const before = await versions();
    await s.rows(
      `CREATE CONCEPT pen (pen_no bigint, yard_no bigint, PRIMARY KEY (pen_no), CONSTRAINT stands_in FOREIGN KEY (yard_no) REFERENCES yard (yard_no) INVERSEOF has_pen);
      CREATE EXAMPLE 'yards' AS SELECT \`stands_in[yard].yard_name\` AS yard, COUNT(*) AS pens FROM dacme.pen GROUP BY 1;
      CREATE CONCEPT yard (yard_no bigint, yard_name string, PRIMARY KEY (yard_no))`,
      'zoo',
    );
    expect([await versions(), await asked()]).toEqual([before + 1, ['yards']]);
    expect(await failure("CREATE CONCEPT shed (shed_no bigint); CREATE EXAMPLE 'sheds' AS SELECT shed_no FROM acme.shed; DROP CONCEPT shed")).toMatch(
      /^400 unknown_concept 85 unknown concept `shed`/,
    );
    expect(await failure("CREATE EXAMPLE 'late' AS SELECT 1 AS one; CREATE CONCEPT bad INHERITS (nobody)")).toMatch(/^400 unknown_\w+ /);
    expect([await versions(), await asked()]).toEqual([before + 1, ['yards']]);
    await s.rows("DROP CONCEPT pen; DROP EXAMPLE 'yards'; DROP CONCEPT yard; DROP PROPERTY pen_no; DROP PROPERTY yard_no; DROP PROPERTY yard_name", 'zoo');
    expect(await asked()).toEqual([]);
  });

  it.each([
    ["CREATE EXAMPLE 'q' AS SELECT nothing FROM acme.animal", '400 unknown_property 30'],
    ["CREATE EXAMPLE 'q' AS SELECT called FROM acme.animl", '400 unknown_concept 42'],
    ["CREATE EXAMPLE '🜁?' AS SELECT called FROM acme.animal", '400 bad_example 16'],
    ["CREATE EXAMPLE '🜁 q' DESCRIPTION 'x' AS SELECT called, `kept_by[keper].title` FROM dacme.animal", '400 unknown_concept 56'],
    ["CREATE EXAMPLE 'q' AS SELECT called FROM z.t_animal", '400 unknown_schema 42'],
    ["CREATE EXAMPLE 'q' AS SELECT name FROM kg_catalog.users", '400 '],
    ["CREATE EXAMPLE 'q' AS SELECT concept FROM acme.SYS_CONCEPTS", '400 outside_scope 23'],
    ["CREATE EXAMPLE 'q' AS SELECT (SELECT count(*) FROM SYS_USERS) AS n FROM acme.animal", '400 outside_scope 23'],
    ["CREATE EXAMPLE 'q' AS SELECT pg_sleep(1)", '400 forbidden_function 30'],
    ["CREATE EXAMPLE 'q' AS WITH d AS (DELETE FROM acme.animal RETURNING no) SELECT * FROM d", '400 not_select 23'],
    ["CREATE EXAMPLE 'q' AS SELECT called INTO x FROM acme.animal", '400 not_select 23'],
    ["CREATE EXAMPLE 'q' AS SELECT $1::text AS x", '400 '],
    ["CREATE EXAMPLE 'q' AS SELECT SUM(weight), COUNT(`kept_by[keeper].title`) FROM dacme.animal WHERE", '400 syntax_error'],
    ["DROP EXAMPLE 'q'", '400 unknown_example 14'],
  ])('refuses %s', async (sql, expected) => {
    expect(await failure(sql)).toMatch(new RegExp(`^${expected}`));
    expect(await asked()).toEqual([]);
  });

  it('refuses an existing question, in any case, and replaces it with OR REPLACE', async () => {
    await s.rows("CREATE EXAMPLE 'Who is there?' AS SELECT called FROM acme.animal", 'zoo');
    expect(await failure("CREATE EXAMPLE 'who is  THERE' AS SELECT no FROM acme.animal")).toMatch(/^400 exists 16 /);
    await s.rows("CREATE OR REPLACE EXAMPLE 'who is  THERE' AS SELECT no FROM acme.animal", 'zoo', tokens.edi);
    expect(await s.rows('SELECT question, query, changed_by FROM SYS_EXAMPLES', 'zoo')).toEqual([
      { question: 'who is  THERE', query: 'SELECT no FROM acme.animal', changed_by: 'edi' },
    ]);
    await s.rows("DROP EXAMPLE 'who is there'", 'zoo');
  });

  it('needs an ontology, and EDIT on it, before any other error', async () => {
    expect(await s.fault("CREATE EXAMPLE 'q' AS SELECT 1 AS one")).toBe('400 no_ontology');
    for (const name of ['una', 'ann', 'acc']) {
      expect(await failure("CREATE EXAMPLE 'q' AS SELECT nothing FROM acme.nowhere", name)).toMatch(/^403 forbidden 1 This needs EDIT on ontology.zoo/);
      expect(await failure("DROP EXAMPLE 'q'", name)).toMatch(/^403 forbidden 1 /);
    }
    expect(await failure("CREATE EXAMPLE 'q' AS SELECT 1 AS one", 'out')).toMatch(/^404 unknown_ontology /);
  });

  it('is allowed where modelling statements are, and not for reading only', async () => {
    const request = await s.request(tokens.edi ?? '');
    const run = (sql: string, permitted: NonNullable<Script['permitted']>) =>
      runScript(request, { ontology: 'zoo', sql, limit: null, datasource: null, permitted });
    for (const permitted of ['model', 'own_model'] as const) {
      await run("CREATE EXAMPLE 'over mcp' AS SELECT no FROM acme.animal", permitted);
      await run("DROP EXAMPLE 'over mcp'", permitted);
    }
    for (const sql of ["CREATE EXAMPLE 'over mcp' AS SELECT no FROM acme.animal", "DROP EXAMPLE 'over mcp'"]) {
      await expect(run(sql, 'read')).rejects.toMatchObject({ status: 403, code: 'read_only' });
      await expect(run(sql, 'query')).rejects.toMatchObject({ status: 400, code: 'not_one_select' });
    }
  });

  it('creates one of two if two users create it at once', async () => {
    const answers = await Promise.all([1, 2, 3].map((n) => s.query(`CREATE EXAMPLE 'race' AS SELECT ${n} AS n`, 'zoo')));
    expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
    for (const { status, json } of answers) if (status !== 200) expect(['exists', 'version_conflict']).toContain(json.code);
    await s.rows("DROP EXAMPLE 'race'", 'zoo');
  });

  it('is limited to 1,000 per ontology', async () => {
    await s.rows('CREATE ONTOLOGY many');
    await s.rows("CREATE EXAMPLE 'q 0' AS SELECT 0 AS n", 'many');
    const catalog = (sql: string) => s.database.exec(sql, [], CATALOG_OWNER);
    await catalog(
      "INSERT INTO kg_catalog.examples (ontology_id, key, question, query, changed_by, changed_by_id) SELECT e.ontology_id, 'k' || n, 'q ' || n, 'SELECT ' || n || ' AS n', 'x', e.changed_by_id FROM kg_catalog.examples e, generate_series(1, 999) n WHERE e.question = 'q 0'",
    );
    await catalog("UPDATE kg_catalog.ontologies SET example_generation = example_generation + 1 WHERE key = 'many'");
    expect(await s.fault("CREATE EXAMPLE 'more' AS SELECT 1 AS n", 'many')).toBe('400 too_many_examples');
    await s.rows("CREATE OR REPLACE EXAMPLE 'q 0' AS SELECT 8 AS n; DROP EXAMPLE 'q 0'; CREATE EXAMPLE 'more' AS SELECT 9 AS n", 'many');
    expect(await s.rows('SELECT count(*) AS n FROM SYS_EXAMPLES WHERE valid', 'many')).toEqual([{ n: 1000 }]);
    await s.rows('DROP ONTOLOGY many');
  });
});

describe('an example follows the model', () => {
  it('which makes it invalid, and valid again; a rollback does not change it', async () => {
    await s.rows("CREATE CONCEPT tree (tall bigint, PRIMARY KEY (tall)); CREATE EXAMPLE 'tall' AS SELECT tall FROM acme.tree", 'zoo');
    const [{ id }] = await s.rows('SHOW VERSION', 'zoo');
    expect(await handed('una')).toEqual(['tall']);
    await s.rows('DROP CONCEPT tree; DROP PROPERTY tall', 'zoo');
    expect(await s.rows('SELECT question, valid, error FROM SYS_EXAMPLES', 'zoo')).toEqual([
      { question: 'tall', valid: false, error: 'unknown concept `tree`' },
    ]);
    // a user who may not change it does not see it, nor is a question answered from it
    expect([await asked('edi'), await asked('una'), await handed('una'), await handed('edi')]).toEqual([['tall'], [], [], []]);
    // a script that contains it would fail
    expect((await s.rows('SHOW CREATE ONTOLOGY zoo', 'zoo'))[0].script).not.toContain('EXAMPLE');
    expect((await s.rows("SHOW CREATE EXAMPLE 'tall'", 'zoo'))[0].script).toContain('FROM acme.tree');
    // within a script too
    expect(await s.rows('CREATE CONCEPT tree (tall bigint); SELECT valid FROM SYS_EXAMPLES', 'zoo')).toEqual([{ valid: true }]);
    await s.rows('DROP CONCEPT tree', 'zoo');
    await s.rows("CREATE EXAMPLE 'later' AS SELECT no FROM acme.animal", 'zoo');
    await s.rows(`ROLLBACK ONTOLOGY zoo TO VERSION '${id}'`, 'zoo');
    expect(await s.rows('SELECT question, valid, error FROM SYS_EXAMPLES', 'zoo')).toEqual([
      { question: 'later', valid: true, error: null },
      { question: 'tall', valid: true, error: null },
    ]);
    expect(await handed('una')).toEqual(['later', 'tall']);
    await s.rows("DROP EXAMPLE 'tall'; DROP EXAMPLE 'later'; DROP CONCEPT tree; DROP PROPERTY tall", 'zoo');
  });

  it('and the rights of the definer of a view that it reads', async () => {
    await user('dee', 'EDIT ON ALL ontology.zoo');
    await s.rows('CREATE VIEW lent AS SELECT title FROM acme.keeper', 'zoo', tokens.dee);
    await s.rows("CREATE EXAMPLE 'lent' AS SELECT title FROM vacme.lent", 'zoo');
    expect(await handed('una')).toEqual(['lent']);
    await s.rows('REVOKE EDIT ON ALL ontology.zoo FROM USER dee');
    expect(await handed('una')).toEqual([]);
    expect(await s.rows('SELECT valid FROM SYS_EXAMPLES', 'zoo')).toEqual([{ valid: false }]);
    await s.rows('GRANT QUERY ON ALL ontology.zoo TO USER dee');
    expect(await handed('una')).toEqual(['lent']);
    await s.rows("DROP EXAMPLE 'lent'; DROP VIEW lent", 'zoo');
  });
});

describe('an example is visible', () => {
  const ALL = {
    'a animals': 'SELECT called FROM acme.animal',
    'b keepers': 'SELECT title FROM acme.keeper',
    'c path': 'SELECT `kept_by[keeper].title` AS t FROM dacme.animal',
    'd view': 'SELECT phone FROM vacme.staff',
    'e both': 'SELECT a.called FROM acme.animal a JOIN acme.keeper k ON k.keeper_no = a.keeper_no',
    'f measure': 'SELECT SUM(`measure.calls`) AS n FROM dacme.keeper',
    'g constant': 'SELECT 1 AS one',
  };
  beforeAll(() =>
    s.rows(
      Object.entries(ALL)
        .map(([q, sql]) => `CREATE EXAMPLE '${q}' AS ${sql}`)
        .join(';'),
      'zoo',
    ),
  );
  afterAll(() =>
    s.rows(
      Object.keys(ALL)
        .map((q) => `DROP EXAMPLE '${q}'`)
        .join(';'),
      'zoo',
    ),
  );
  const SEEN: readonly (readonly [string, string])[] = [
    ['una', 'abcdefg'],
    ['edi', 'abcdefg'],
    ['ann', 'ag'],
    ['vic', 'dg'],
    ['pat', 'ag'],
    ['acc', 'g'],
  ];

  it.each(SEEN)('%s: %s', async (name, letters) => {
    const questions = Object.keys(ALL).filter((q) => letters.includes(q.slice(0, 1)));
    expect(await asked(name)).toEqual(questions);
    expect(await handed(name)).toEqual(questions);
    for (const q of Object.keys(ALL)) {
      const listedExamples = await s.query(`SHOW CREATE EXAMPLE '${q}'`, 'zoo', tokens[name]);
      const missing = await s.query(`SHOW CREATE EXAMPLE 'z ${q.slice(2)}'`, 'zoo', tokens[name]);
      const bytes = (a: typeof listedExamples) => JSON.stringify({ ...a.json, request_id: '' }).replaceAll('`z ', `\`${q.slice(0, 2)}`);
      if (questions.includes(q)) expect(listedExamples.status).toBe(200);
      else expect([listedExamples.status, bytes(listedExamples)]).toEqual([400, bytes(missing)]);
    }
    const [{ script }] = await s.rows('SHOW CREATE ONTOLOGY zoo', 'zoo', tokens[name]);
    expect([...script.matchAll(/EXAMPLE '([^']*)'/g)].map((m: string[]) => m[1])).toEqual(questions);
  });

  it('an editor who sees a part of the ontology can neither drop nor replace the others', async () => {
    for (const q of ['b keepers', 'd view']) {
      const dropped = await failure(`DROP EXAMPLE '${q}'`, 'pat');
      expect(dropped).toBe((await failure("DROP EXAMPLE 'zz'", 'pat')).replace('`zz`', `\`${q}\``));
      for (const or of ['', ' OR REPLACE'])
        expect(await failure(`CREATE${or} EXAMPLE '${q}' AS SELECT no FROM acme.animal`, 'pat')).toMatch(/^400 exists \d+ the statement conflicts with a part/);
    }
    expect(await failure("CREATE EXAMPLE 'own' AS SELECT title FROM acme.keeper", 'pat')).toBe(
      (await failure("CREATE EXAMPLE 'own' AS SELECT title FROM acme.nobody", 'pat')).replace('nobody', 'keeper'),
    );
    // its own example is shown to it also when it is not valid any more
    await s.rows("CREATE EXAMPLE 'own' AS SELECT called FROM acme.animal", 'zoo', tokens.pat);
    await s.rows('REVOKE QUERY ON ontology.zoo.concept.animal FROM USER pat');
    expect(await s.rows('SELECT question, valid, error FROM SYS_EXAMPLES', 'zoo', tokens.pat)).toEqual([
      { question: 'g constant', valid: true, error: null },
      { question: 'own', valid: false, error: 'unknown concept `animal`' },
    ]);
    await s.rows("DROP EXAMPLE 'own'", 'zoo', tokens.pat);
    await s.rows('GRANT QUERY ON ontology.zoo.concept.animal TO USER pat');
  });

  it('not to callers for whom a mask covers what it reads; a row policy hides only rows', async () => {
    await s.rows("CREATE POLICY m ON PROPERTY phone MASK FULL; CREATE POLICY r ON CONCEPT animal TO USER una USING (called <> 'Bob')", 'zoo');
    expect(await handed('una')).toEqual(['a animals', 'b keepers', 'c path', 'e both', 'g constant']);
    expect(await asked('una')).toEqual(['a animals', 'b keepers', 'c path', 'e both', 'g constant']);
    expect(await handed('edi')).toEqual(['a animals', 'b keepers', 'c path', 'e both', 'g constant']);
    // users who may change them see that they are valid
    expect(await s.rows('SELECT count(*) AS n FROM SYS_EXAMPLES WHERE valid', 'zoo', tokens.edi)).toEqual([{ n: 7 }]);
    await s.rows('CREATE POLICY k ON PROPERTY keeper_no OF CONCEPT keeper MASK NULL', 'zoo');
    await s.rows("CREATE EXAMPLE 'h key' AS SELECT title FROM acme.keeper WHERE entity_id = 'keeper:1'", 'zoo');
    expect(await asked('una')).not.toContain('h key');
    await s.rows("DROP POLICY m; DROP POLICY r; DROP POLICY k; DROP EXAMPLE 'h key'", 'zoo');
    expect(await handed('una')).toHaveLength(7);
  });

  it('in the requested order and number', async () => {
    const rank = <T extends { readonly question: string }>(all: readonly T[]): readonly T[] => [...all].reverse().filter((e) => e.question !== 'g constant');
    expect(await handed('una', { rank, most: 3 })).toEqual(['f measure', 'e both', 'd view']);
    // what is hidden leaves no gap
    expect(await handed('ann', { rank, most: 3 })).toEqual(['a animals']);
    const [example] = await examplesOf(await s.request(tokens.una ?? ''), 'zoo', { most: 1 });
    expect(example).toEqual({
      question: 'a animals',
      description: null,
      query: 'SELECT called FROM acme.animal',
      relations: [{ kind: 'concept', schema: 'svc', name: 'animal' }],
    });
    await expect(s.request(tokens.out ?? '').then((r) => examplesOf(r, 'zoo'))).rejects.toMatchObject({ status: 404, code: 'unknown_ontology' });
  });
});
