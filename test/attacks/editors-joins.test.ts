/** Editors without QUERY on the datasource, or on a concept, try to join links and values of hidden rows to rows that they may read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../support/service.ts';
import { Crew } from './editors-crew.ts';
import { workers } from './editors-model.ts';

let crew: Crew;
let s: TestService;
beforeAll(async () => {
  crew = await Crew.open();
  s = crew.service;
});
afterAll(() => s?.close());

const GUEST = 'CREATE OR REPLACE CONCEPT guest';
const BY_FIRM = 'CREATE OR REPLACE CONCEPT being (firm_id bigint, being_id bigint, given string, PRIMARY KEY (firm_id), LABEL (given))';

describe('links and values of rows that a mapping filters out', () => {
  it.each([
    ['a concept with the same keys lists the property', `${GUEST} (CONSTRAINT phone MULTIVALUE string) INHERITS (being)`],
    ['a concept with the same keys becomes a descendant', `${GUEST} INHERITS (worker)`],
    ['another property becomes the key', BY_FIRM],
    ['a calculated property takes the place of the key', 'CREATE OR REPLACE PROPERTY being_id bigint AS SELECT CAST(104 AS bigint)'],
  ])('cannot be joined by an editor without QUERY on the datasource: %s', async (_, script) => {
    const ontology = await crew.ontology(`CREATE OR REPLACE ${workers('firm = 1')}`);
    // 104 and its firm 2 are not in the mapping
    expect(await s.fault(script, ontology, crew.tokens.kim)).toMatch(/^(403 forbidden|400 bad_key)$/);
    for (const concept of ['guest', 'worker', 'being'])
      expect(JSON.stringify(await s.query(`SELECT phone FROM dsvc.${concept}`, ontology, crew.tokens.kim))).not.toContain('p-104');
  });

  it('are joined by editors with QUERY on the datasource, and if no row is filtered out', async () => {
    const left = await crew.ontology(`CREATE OR REPLACE ${workers('firm = 1')}`);
    await s.rows(`${GUEST} (CONSTRAINT phone MULTIVALUE string) INHERITS (being)`, left, crew.tokens.lee);
    const all = await crew.ontology();
    await s.rows(`${GUEST} (CONSTRAINT phone MULTIVALUE string) INHERITS (being)`, all, crew.tokens.kim);
  });

  it('do not prevent other changes by editors', async () => {
    const ontology = await crew.ontology(`CREATE OR REPLACE ${workers('firm = 1')}`);
    for (const script of [
      'CREATE CONCEPT lead INHERITS (worker)',
      'CREATE CONCEPT tiny INHERITS (worker) FROM dsvc.worker WHERE grade < 2',
      'CREATE CONCEPT staff (note string) INHERITS (being)',
      `${GUEST} (note string) INHERITS (being)`,
      'CREATE OR REPLACE CONCEPT own (k bigint, PRIMARY KEY (k), CONSTRAINT of_worker FOREIGN KEY (k) REFERENCES worker (being_id))',
    ])
      await s.rows(script, ontology, crew.tokens.kim);
  });
});

it('values of rows of a hidden concept are not joined by another key', async () => {
  const ontology = await crew.ontology(
    'CREATE CONCEPT top_c (t_id bigint, firm_id bigint, PRIMARY KEY (t_id))',
    'CREATE CONCEPT mid_c (CONSTRAINT mark MULTIVALUE string) INHERITS (top_c)',
    'CREATE CONCEPT low_c INHERITS (mid_c)',
    'CREATE MAPPING m_mid INTO (mid_c) AS SELECT id AS t_id, firm AS firm_id FROM crew.t_worker',
    'CREATE MAPPING m_low INTO (low_c) AS SELECT CAST(101 AS bigint) AS t_id, CAST(1 AS bigint) AS firm_id',
    'CREATE MAPPING m_mark INTO (mid_c) MULTIVALUE mark AS SELECT id AS t_id, firm AS firm_id, phone AS mark FROM crew.t_phone',
  );
  const una = await s.user(
    'una',
    `ACCESS ON ALL ontology.${ontology}`,
    ...['QUERY low_c', 'EDIT top_c'].map((g) => g.replace(' ', ` ON ontology.${ontology}.concept.`)),
  );
  expect(await s.fault('CREATE OR REPLACE CONCEPT top_c (t_id bigint, firm_id bigint, PRIMARY KEY (firm_id))', ontology, una)).toBe('403 forbidden');
  expect(await s.rows('SELECT t_id, mark FROM dsvc.low_c', ontology, una)).toEqual([{ t_id: 101, mark: 'p-101' }]);
});
