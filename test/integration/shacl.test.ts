/** The rows of the samples, as triples by the exported R2RML, meet the exported SHACL shapes, and shapes find planted faults. The validator is not ours. */
import { readFile } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import { Parser, type Quad, Store } from 'n3';
import Validator from 'rdf-validate-shacl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadBikehireTables } from '../../examples/bikehire/load.ts';
import { loadWorldTables } from '../../examples/world/load.ts';
import { RDF } from '../../src/cli/exchange/rdf.ts';
import { localName } from '../../src/cli/exchange/rdf-terms.ts';
import { modelOfScripts } from '../../src/cli/exchange/script-model.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { memoryDatabase } from '../support/databases/memory.ts';
import { triplesOf } from '../support/r2rml.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('integration/shacl');
const parser = await loadNodeParser();

const SAMPLES = [
  {
    name: 'world',
    load: (db: PGlite) => loadWorldTables(async (sql, params) => void (await db.query(sql, params as never[]))),
    most: { 'mapping/map_city': 300 },
    faults: `INSERT INTO world.t_country_curr (cc3, curr) VALUES ('FRA', 'QQQ');
      CREATE TEMP TABLE twin AS SELECT * FROM world.t_country WHERE cc3 = 'ITA'; UPDATE twin SET cc2 = 'Q2'; INSERT INTO world.t_country SELECT * FROM twin`,
    found: ['FRA uses ClassConstraintComponent', 'ITA alpha2 MaxCountConstraintComponent'],
  },
  {
    name: 'bikehire',
    load: (db: PGlite) => loadBikehireTables((sql) => db.query(sql)),
    most: {},
    faults: "INSERT INTO bikehire.t_hire_extra SELECT min(hire_no), 'QQQ', 1 FROM bikehire.t_hire",
    found: [expect.stringMatching(/^\d+ with_extra ClassConstraintComponent$/)],
  },
];

describe.each(oneIn(SIZES.everySample, SAMPLES, 1))('the sample $name', ({ name, load, most, faults, found }) => {
  let db: PGlite;
  let texts: Record<'owl' | 'r2rml' | 'shacl', string>;
  beforeAll(async () => {
    db = await memoryDatabase();
    await load(db);
    const model = await readFile(new URL(`../../examples/${name}/model.kg`, import.meta.url), 'utf8');
    const { files } = await RDF.write(modelOfScripts([{ path: 'model.kg', text: model }], name, parser, 'svc'));
    texts = Object.fromEntries(files.map((f) => [f.name.split('.')[1], f.text])) as typeof texts;
  });
  afterAll(() => db?.close());

  async function report() {
    const rowsOf = async (sql: string) =>
      (await db.query<{ row: Record<string, unknown> }>(`SELECT row_to_json(q) AS row FROM (${sql}) q`)).rows.map((r) => r.row);
    const triples = await triplesOf(texts.r2rml, rowsOf, most);
    // classes of the OWL document, so that a shape of a class also checks the objects of its subclasses
    const data = new Store([...triples, ...new Parser().parse(texts.owl)] as Quad[]);
    const results = (await new Validator(new Store(new Parser().parse(texts.shacl)) as never).validate(data as never)).results;
    return {
      triples: triples.length,
      results: results
        .map(
          (r) =>
            `${localName(r.focusNode?.value ?? '')} ${localName((r.path as { value?: string } | null)?.value ?? '')
              .split('.')
              .at(-1)} ${localName(r.sourceConstraintComponent?.value ?? '')}`,
        )
        .sort(),
    };
  }

  it('meets its shapes', async () => {
    const { triples, results } = await report();
    expect(triples).toBeGreaterThan(2000);
    expect(results).toEqual([]);
  });

  it('does not meet them with planted faults', async () => {
    const keys = await db.query<{ drop: string }>(
      `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I CASCADE', conrelid::regclass, conname) AS drop FROM pg_constraint c JOIN pg_class t ON t.oid = conrelid
       WHERE t.relnamespace = '${name}'::regnamespace AND contype IN ('p', 'u', 'f') ORDER BY contype <> 'f'`,
    );
    for (const { drop } of keys.rows) await db.exec(drop.replace('DROP CONSTRAINT', 'DROP CONSTRAINT IF EXISTS'));
    await db.exec(faults);
    expect((await report()).results).toEqual(found);
  });
});
