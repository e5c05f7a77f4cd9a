/** Names that look like others because of characters that nobody sees: an editor could make a reader, or a language model, take one concept for another. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

/** True: names are allowed as in older services, which did not look for invisible characters. */
const earlier = vi.hoisted(() => ({ isAllowed: false }));
vi.mock('../../src/ontology/names.ts', async (original) => {
  const names = await original<typeof import('../../src/ontology/names.ts')>();
  return { ...names, looksLikeAnother: (name: string) => !earlier.isAllowed && names.looksLikeAnother(name) };
});

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: [] });
  await s.rows('CREATE ONTOLOGY shop; CREATE CONCEPT person (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING m INTO (person) AS SELECT 1 AS id');
});
afterAll(() => s?.close());

/** Zero width space, word joiner, soft hyphen, byte order mark, right-to-left override, Hangul filler, line separator, tag character, joiners between Latin letters. */
const UNSEEN = ['\u200b', '\u2060', '\u00ad', '\ufeff', '\u202e', '\u3164', '\u2028', '\u{e0061}', '\u200c', '\u200d', '\ufe0f', '\u2800'];

const MAKERS: readonly (readonly [string, (name: string) => string])[] = [
  ['concept', (n) => `CREATE CONCEPT "${n}" INHERITS (person)`],
  ['property', (n) => `CREATE PROPERTY "${n}" string`],
  ['property of a concept', (n) => `CREATE CONCEPT c ("${n}" string)`],
  ['relationship', (n) => `CREATE CONCEPT c (CONSTRAINT "${n}" MULTIREFERENCE person)`],
  ['inverse', (n) => `CREATE CONCEPT c (id bigint, PRIMARY KEY (id), CONSTRAINT r MULTIREFERENCE person INVERSEOF "${n}")`],
  ['measure', (n) => `CREATE MEASURE "${n}" bigint AS SELECT COUNT(id)`],
  ['view', (n) => `CREATE ONTOLOGY VIEW "${n}" AS SELECT name FROM svc.person`],
  ['mapping', (n) => `CREATE MAPPING "${n}" INTO (person) AS SELECT 2 AS id`],
  ['ontology', (n) => `CREATE ONTOLOGY "${n}"`],
  ['agent', (n) => `CREATE AGENT "${n}" ONTOLOGY (shop)`],
];

describe.each(MAKERS)('The name of a new %s', (_kind, make) => {
  it('has no invisible characters', async () => {
    const answers = await Promise.all(UNSEEN.map((u) => s.fault(make(`pers${u}on`), 'shop')));
    expect(answers).toEqual(UNSEEN.map(() => '400 bad_name'));
  });
});

it('A name may have joiners where a script needs them, and emoji', async () => {
  for (const n of ['نامه\u200cها', 'ක්\u200dරම', '❤\ufe0f', '👩\u200d🚀', 'größe', '人', 'naïve co-op'])
    expect((await s.query(`CREATE CONCEPT "${n}" INHERITS (person)`, 'shop')).status, n).toBe(200);
});

it('A name has no joiner that changes nothing', async () => {
  const names = ['د\u200cا', 'کاربرد\u200cها', '😀\ufe0f', '👍🏽\ufe0f', '👩\ufe0f\u200d🚀'];
  for (const n of names) expect(await s.fault(`CREATE CONCEPT "${n}" INHERITS (person)`, 'shop'), JSON.stringify(n)).toBe('400 bad_name');
  for (const n of ['خانه\u200cها', '👍🏽', '🏳\ufe0f\u200d🌈', '👩\u200d❤\ufe0f\u200d👨', '😀'])
    expect((await s.query(`CREATE CONCEPT "${n}" INHERITS (person)`, 'shop')).status, JSON.stringify(n)).toBe(200);
});

/** Runs a script as an older service did. */
async function asEarlier(sql: string, ontology?: string): Promise<void> {
  earlier.isAllowed = true;
  try {
    await s.rows(sql, ontology);
  } finally {
    earlier.isAllowed = false;
  }
}

describe('Objects that have such a name already', () => {
  const U = '\u200b';
  const CONCEPT = `CONCEPT "o${U}ld" ("na${U}me" string, id bigint, "su${U}m" MEASURE bigint, PRIMARY KEY (id),
    CONSTRAINT "li${U}ke" MULTIREFERENCE "o${U}ld" INVERSEOF "li${U}ked")`;
  const OBJECTS: readonly string[] = [
    `PROPERTY "twi${U}ce" bigint AS SELECT id * 2`,
    `MEASURE "su${U}m" bigint AS SELECT SUM(id)`,
    CONCEPT,
    `MAPPING "ma${U}p" INTO ("o${U}ld") AS SELECT 1 AS id, 'x' AS "na${U}me"`,
    `MAPPING "li${U}nk" (CONSTRAINT "li${U}ke" FOREIGN KEY (b) REFERENCES "o${U}ld" (id), CONSTRAINT "li${U}ked" FOREIGN KEY (a) REFERENCES "o${U}ld" (id)) AS SELECT 1 AS a, 1 AS b`,
    `ONTOLOGY VIEW "vi${U}ew" AS SELECT "na${U}me" FROM svc."o${U}ld"`,
  ];
  const send = async (what: 'plan' | 'apply', ontology: string, text: string) => {
    const response = await s.fetch(`/svc/api/model/${encodeURIComponent(ontology)}/${what}`, {
      method: 'POST',
      headers: { 'x-api-key': s.token, 'content-type': 'application/json' },
      body: JSON.stringify({ files: [{ name: 'model.sql', text }], prune: true }),
    });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };

  it('can be replaced, planned and applied again; new objects cannot have one', async () => {
    const name = `ol${U}der`;
    await asEarlier(`CREATE ONTOLOGY "${name}"; ${OBJECTS.map((o) => `CREATE ${o}`).join('; ')}`);
    for (const object of OBJECTS) expect(await s.fault(`CREATE OR REPLACE ${object}`, name), object).toBe('200 undefined');
    const [{ script }] = await s.rows(`SHOW CREATE ONTOLOGY "${name}"`, name);
    expect(script).toContain(`"na${U}me"`.replaceAll('"', ''));
    const unchanged = await send('plan', name, script);
    expect([unchanged.status, unchanged.json.data.changes], JSON.stringify(unchanged.json)).toEqual([200, []]);
    const described = script.replaceAll('SUM(id)', 'SUM(id + 1)').replaceAll("'x'", "'y'");
    expect(described).not.toBe(script);
    for (const what of ['plan', 'apply'] as const) {
      const { status, json } = await send(what, name, described);
      expect([status, json.data.changes?.length], JSON.stringify(json)).toEqual([200, 2]);
    }
    const more = await send('plan', name, `${script};\nCREATE CONCEPT "ne${U}w" (id bigint)`);
    expect([more.status, more.json.code], JSON.stringify(more.json)).toEqual([400, 'bad_name']);
    expect(await s.fault(`CREATE OR REPLACE ${CONCEPT.replace('id bigint', `id bigint, "n${U}ew" string`)}`, name)).toBe('400 bad_name');
    expect(await s.fault(`CREATE OR REPLACE ${CONCEPT.replace(`"li${U}ked"`, `"lik${U}ed"`)}`, name)).toBe('400 bad_name');
    expect(await s.fault(`CREATE OR REPLACE CONCEPT "ol${U}d" (id bigint)`, name)).toBe('400 bad_name');
  });

  it('can be replaced outside of a model too', async () => {
    const statements = [`AGENT "a${U}gent" ONTOLOGY (shop)`, `DATASOURCE "so${U}urce" TYPE postgres SECRET 'DATASOURCE_MAIN'`];
    for (const statement of statements) {
      expect(await s.fault(`CREATE OR REPLACE ${statement}`), statement).toBe('400 bad_name');
      await asEarlier(`CREATE ${statement}`);
      expect(await s.fault(`CREATE OR REPLACE ${statement}`), statement).toBe('200 undefined');
    }
  });
});
