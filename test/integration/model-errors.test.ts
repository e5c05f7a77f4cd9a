/** Errors that come from the model name what they come from: relationships over types that do not compare, and expressions that divide by zero. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA faults',
  'CREATE TABLE faults.job (no int PRIMARY KEY, state text, hours int, days int)',
  "INSERT INTO faults.job VALUES (1, 'done', 6, 3), (2, 'idle', 0, 0)",
];
const MODEL = `CREATE ONTOLOGY faults;
  CREATE PROPERTY ratio double AS SELECT hours::double precision / days;
  CREATE PROPERTY half double AS SELECT hours::double precision / 2;
  CREATE PROPERTY per_null double AS SELECT hours::double precision / NULLIF(days, 0);
  CREATE MEASURE per_day double AS SELECT SUM(hours)::double precision / SUM(days);
  CREATE MEASURE twice double AS SELECT per_day * 2;
  CREATE MEASURE rest integer AS SELECT mod(SUM(hours), SUM(days))::integer;
  CREATE CONCEPT job (no bigint, state string, hours integer, days integer, ratio double, half double, per_null double,
    per_day MEASURE double, twice MEASURE double, rest MEASURE integer, PRIMARY KEY (no),
    CONSTRAINT has_kind FOREIGN KEY (no) REFERENCES kind (code) INVERSEOF kind_of);
  CREATE CONCEPT kind (code string, weight integer, PRIMARY KEY (code));
  CREATE MAPPING m_job INTO (job) AS SELECT no, state, hours, days FROM faults.job;
  CREATE MAPPING m_kind INTO (kind) AS SELECT state AS code, 1 AS weight FROM faults.job;
  CREATE ONTOLOGY CUBE loads AS SELECT state AS state, "measure.per_day" AS load FROM dsvc.job`;

let s: TestService;
let token = '';
let warnings: unknown;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  [{ warnings }] = await s.rows(MODEL);
  await s.rows('CREATE USER clerk');
  await s.rows('GRANT QUERY ON ontology.faults.view.loads TO USER clerk');
  token = (await s.rows('CREATE TOKEN FOR clerk'))[0].token;
});
afterAll(() => s?.close());

const fault = async (sql: string, by?: string) => {
  const { status, json } = await s.query(sql, 'faults', by);
  return [status, json.code, json.data, json.hint];
};

describe('a function that PostgreSQL has with other arguments', () => {
  it.each([
    ["DECODE(state, 'done', 1, 2)", 'Write CASE WHEN condition THEN a ELSE b END.'],
    ['DATE_TRUNC(current_date, MONTH)', "Write date_trunc('month', d)."],
    ['CONVERT(no, DECIMAL)', 'Write cast(value AS type).'],
    ['CONVERT(VARCHAR(10), no)', 'Write cast(value AS type).'],
    ['FORMAT(hours, 2)', "Write to_char(number, 'FM999,999,990.00')."],
    ['TO_NUMBER(state)', 'Write value::numeric.'],
    ["TO_DATE('2020-01-01')", 'Write value::date.'],
    ["TRUNC(current_date, 'MM')", expect.stringContaining("date_trunc('month', d)")],
    ['ROUND(hours::float8, 2)', 'Write round(number::numeric, digits).'],
    ['YEAR(state)', expect.stringContaining('d::date')],
    ['TIMESTAMP(state)', 'Write value::timestamp.'],
  ])('is refused with the equivalent: %s', async (call, hint) => {
    const { status, json } = await s.query(`CREATE OR REPLACE MAPPING m_kind INTO (kind) AS SELECT CAST(${call} AS text) AS code FROM faults.job`, 'faults');
    expect([status, json.hint]).toEqual([400, hint]);
  });

  it('leaves other errors as they are', async () => {
    const { json } = await s.query('CREATE OR REPLACE MAPPING m_kind INTO (kind) AS SELECT stat AS code FROM faults.job', 'faults');
    expect(json.hint).toContain('job.state');
  });
});

it('a datasource that is not attached has a hint', async () => {
  await s.rows("CREATE DATASOURCE spare TYPE postgres SECRET 'DATASOURCE_MAIN'");
  const { json } = await s.query('CREATE OR REPLACE MAPPING m_kind INTO (kind) USING spare AS SELECT state AS code FROM faults.job', 'faults');
  expect([json.code, json.hint]).toEqual(['unknown_datasource', 'ALTER ONTOLOGY ... ADD DATASOURCE attaches one.']);
});

describe('a relationship over types that PostgreSQL does not compare', () => {
  const hint = 'Give both properties the same type in the model, and cast the column in a mapping if the tables differ.';
  const there = 'the relationship `has_kind` of `job` compares `no` (bigint) with `code` (string) of `kind`';

  it('has a warning', () => {
    expect(warnings).toContainEqual(expect.objectContaining({ code: 'incomparable_types', message: there }));
  });

  it.each([
    ['SELECT no, "has_kind[kind].weight" FROM dsvc.job', there],
    ['SELECT SUM("has_kind[kind].weight") AS n FROM dsvc.job', there],
    ['SELECT no FROM dsvc.job WHERE "~kind_of[kind].weight" > 1', there],
    ['SELECT code, "kind_of[job].no" FROM dsvc.kind', 'the relationship `kind_of` of `kind` compares `code` (string) with `no` (bigint) of `job`'],
  ])('is named: %s', async (sql, message) => {
    expect(await fault(sql)).toEqual([400, 'incomparable_types', `${message}, but PostgreSQL does not compare these types`, hint]);
  });

  it('does not prevent other queries', async () => {
    expect(await s.rows("SELECT no FROM dsvc.job WHERE state = 'done'", 'faults')).toEqual([{ no: 1 }]);
  });
});

describe('a division by zero', () => {
  const zero = (which: string, verb = 'divides') => [
    400,
    'division_by_zero',
    `division by zero; ${which} ${verb}`,
    'Write x / NULLIF(y, 0) there: it is NULL where y is 0.',
  ];
  it.each([
    ['SELECT state, SUM("measure.per_day") AS v FROM dsvc.job GROUP BY state', 'the measure `per_day`'],
    ['SELECT state, SUM("measure.twice") AS v FROM dsvc.job GROUP BY state', 'the measure `per_day`'],
    ['SELECT state, SUM("measure.rest") AS v FROM dsvc.job GROUP BY state', 'the measure `rest`'],
    ['SELECT state, SUM(load) AS v FROM vsvc.loads GROUP BY state', 'the measure `load`'],
    ['SELECT no, ratio FROM svc.job', 'the calculated property `ratio`'],
    ['SELECT * FROM svc.job', 'the calculated property `ratio`'],
    ['SELECT no FROM svc.job WHERE half + ratio > 1 OR per_null > 0', 'the calculated property `ratio`'],
  ])('names what divides: %s', async (sql, which) => {
    expect(await fault(sql)).toEqual(zero(which));
  });

  it('names all of several, and nothing if only the statement divides', async () => {
    expect(await fault('SELECT no, ratio, (SELECT SUM("measure.per_day") FROM dsvc.job WHERE no = 2) AS m FROM svc.job')).toEqual(
      zero('the measure `per_day`, the calculated property `ratio`', 'divide'),
    );
    expect(await fault('SELECT no, hours / days AS r FROM svc.job')).toEqual([
      400,
      'division_by_zero',
      'division by zero',
      'Write x / NULLIF(y, 0): it is NULL where y is 0.',
    ]);
  });

  it('of a cube over hidden measures names the column of the cube', async () => {
    expect(await fault('SELECT state, SUM(load) AS v FROM vsvc.loads GROUP BY state', token)).toEqual(zero('the measure `load`'));
  });

  it('does not fail queries that do not divide by zero', async () => {
    expect(await s.rows('SELECT no, half, per_null FROM svc.job ORDER BY no', 'faults')).toEqual([
      { no: 1, half: 3, per_null: 2 },
      { no: 2, half: 0, per_null: null },
    ]);
    expect(await s.rows("SELECT SUM(load) AS v FROM vsvc.loads WHERE state = 'done'", 'faults')).toEqual([{ v: 2 }]);
  });
});

describe('a circle that a later statement closes', () => {
  const node = ({ includes = 'up', more = '', label = '' }): string =>
    `CREATE OR REPLACE CONCEPT node (no bigint, hours bigint, days bigint, near_count bigint, below bigint, PRIMARY KEY (no)${label},
      CONSTRAINT up FOREIGN KEY (hours) REFERENCES node (no) INVERSEOF down, CONSTRAINT near FOREIGN KEY (days) REFERENCES node (no) INCLUDES (${includes})${more})`;
  const BUSY = ', CONSTRAINT busy_one FOREIGN KEY (days) REFERENCES busy (no)';
  beforeAll(async () => {
    await s.rows(`CREATE ONTOLOGY rings;
      CREATE PROPERTY near_count bigint AS SELECT COUNT("near[node].no");
      CREATE PROPERTY below bigint AS SELECT COUNT("down[named].no");
      ${node({})};
      CREATE CONCEPT busy INHERITS (node) FROM dsvc.node WHERE near_count > 0;
      CREATE CONCEPT named INHERITS (node) FROM dsvc.node WHERE entity_label <> 'x';
      CREATE MAPPING m_node INTO (node) AS SELECT no, hours, days FROM faults.job`);
  });

  it.each([
    ['by INCLUDES', node({ includes: 'up, busy_one', more: BUSY }), 'near_count'],
    [
      'by INCLUDES of an included one',
      node({ includes: 'up, other', more: `, CONSTRAINT other FOREIGN KEY (no) REFERENCES node (no) INCLUDES (busy_one)${BUSY}` }),
      'near_count',
    ],
    ['by LABEL', node({ label: ', LABEL (below)' }), 'below'],
  ])('is refused with the position of the script: %s', async (_, script, name) => {
    const first = 'CREATE PROPERTY another string; ';
    const { status, json } = await s.query(first + script, 'rings');
    expect([status, json.code, json.data, json.position]).toEqual([
      400,
      'circular_property',
      `the calculated property \`${name}\` depends on itself`,
      first.length + 1,
    ]);
    for (const concept of ['node', 'busy', 'named']) expect((await s.query(`SELECT * FROM dsvc.${concept}`, 'rings')).status).toBe(200);
  });

  it('is not seen in changes that close none', async () => {
    await s.rows(node({ more: BUSY, label: ', LABEL (hours)' }), 'rings');
    await s.rows(node({}), 'rings');
  });
});

describe('a script that begins with CREATE ONTOLOGY', () => {
  const script = (name: string): string => `CREATE ONTOLOGY ${name}; CREATE CONCEPT ${name}_thing (id bigint, PRIMARY KEY (id))`;

  it('is warned that it goes on in the ontology of the request', async () => {
    const { json } = await s.query(script('elsewhere'), 'faults');
    expect(json.data[0].warnings).toContainEqual({
      code: 'other_ontology',
      message: 'the statements after CREATE ONTOLOGY `elsewhere` change `faults`, which the request names',
    });
    expect((await s.query('SELECT * FROM svc.elsewhere_thing', 'elsewhere')).json.code).toBe('unknown_concept');
  });

  it.each(['', 'here'])('goes on in its own if the request names %j', async (ontology) => {
    const name = ontology === '' ? 'nowhere' : ontology;
    const { json } = await s.query(script(name), ontology);
    expect(json.data[0].warnings).toEqual([]);
    expect((await s.query(`SELECT * FROM svc.${name}_thing`, name)).json.data).toEqual([]);
  });
});

describe('a property or measure that gets another type', () => {
  const made = async (sql: string) => {
    const { status, json } = await s.query(sql, 'retyped');
    return status === 200 ? 200 : [json.code, json.data, sql.slice(json.position - 1).split(' ')[0]];
  };
  const not = (type: string, what: string, error: string) => `the property \`hours\` cannot be of type ${type}: ${what} is not valid with it: ${error}`;

  beforeAll(async () => {
    await s.rows(`CREATE ONTOLOGY retyped;
      CREATE PROPERTY total integer AS SELECT hours + days;
      CREATE PROPERTY busy bigint AS SELECT SUM("done_in[job].days");
      CREATE MEASURE all_hours bigint AS SELECT SUM(no) FILTER (WHERE hours > 1);
      CREATE MEASURE double_hours bigint AS SELECT all_hours * 2;
      CREATE CONCEPT job (no bigint, state string, hours integer, days integer, all_hours MEASURE bigint, double_hours MEASURE bigint, PRIMARY KEY (no),
        CONSTRAINT of_state FOREIGN KEY (state) REFERENCES stage (state) INVERSEOF done_in);
      CREATE CONCEPT sum_job (total integer) INHERITS (job);
      CREATE CONCEPT long_job INHERITS (job) FROM svc.job WHERE days > 2;
      CREATE CONCEPT stage (state string, busy bigint, PRIMARY KEY (state));
      CREATE MAPPING r_job INTO (job) AS SELECT no, state, hours, days FROM faults.job WHERE false;
      CREATE MAPPING r_sum INTO (sum_job) AS SELECT no, state, hours, days FROM faults.job;
      CREATE MAPPING r_stage INTO (stage) AS SELECT state FROM faults.job;
      CREATE ONTOLOGY CUBE work AS SELECT state AS state, "measure.double_hours" AS h FROM dsvc.job`);
  });

  it.each([
    ['CREATE OR REPLACE PROPERTY hours string', not('string', 'the measure `all_hours` of concept `job`', 'operator does not exist: text > integer'), 'hours'],
    ['CREATE OR REPLACE PROPERTY hours date', not('date', 'a mapping of concept `job`', 'cannot cast type integer to date'), 'hours'],
    [
      'CREATE OR REPLACE PROPERTY days string; CREATE OR REPLACE PROPERTY total integer AS SELECT hours',
      'the property `days` cannot be of type string: the condition of concept `long_job` is not valid with it: operator does not exist: text > integer',
      'days',
    ],
  ])('is refused where a text that reads it would fail: %s', async (sql, message, place) => expect(await made(sql)).toEqual(['type_mismatch', message, place]));

  it('is refused under an aggregate along a path, a calculated property, and a measure of a cube', async () => {
    // without the condition of the logic concept that reads it too
    await s.rows('DROP CONCEPT long_job', 'retyped');
    for (const [sql, what] of [
      ['CREATE OR REPLACE PROPERTY days string', 'the property `total` of concept `sum_job`'],
      ['CREATE OR REPLACE PROPERTY days boolean; CREATE OR REPLACE PROPERTY total integer AS SELECT hours', 'the property `busy` of concept `stage`'],
      ['CREATE OR REPLACE MEASURE all_hours string AS SELECT MIN(state)', 'the measure `double_hours` of concept `job`'],
    ] as const)
      expect(await made(sql), sql).toEqual(['type_mismatch', expect.stringContaining(what), expect.any(String)]);
  });

  it('is accepted if what reads it is valid with it, or changed in the same script', async () => {
    expect(await made('CREATE OR REPLACE PROPERTY hours bigint')).toBe(200);
    expect(
      await made(
        'CREATE OR REPLACE PROPERTY days string; CREATE OR REPLACE PROPERTY total string AS SELECT days; CREATE OR REPLACE PROPERTY busy bigint AS SELECT COUNT("done_in[job].days")',
      ),
    ).toBe(200);
    expect(await s.rows('SELECT total FROM svc.sum_job WHERE no = 1', 'retyped')).toEqual([{ total: '3' }]);
  });

  it('is accepted if what reads it was not valid before', async () => {
    // nothing checks the types of a new measure
    await s.rows(
      'CREATE MEASURE wrong bigint AS SELECT SUM(days); CREATE CONCEPT sum_job (total string, wrong MEASURE bigint) INHERITS (job)'.replace(
        'CREATE CONCEPT',
        'CREATE OR REPLACE CONCEPT',
      ),
      'retyped',
    );
    expect(await made('CREATE OR REPLACE PROPERTY days boolean')).toBe(200);
  });
});
