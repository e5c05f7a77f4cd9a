/** Names that look like others because of characters that nobody sees: an editor could make a reader, or a language model, take one concept for another. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

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
