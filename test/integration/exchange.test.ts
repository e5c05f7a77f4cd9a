/** The samples answer their questions alike after a way through each format of kg export and kg import. Expected rows are those of SQL written by hand over the tables. */
import { readFile } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { intoPglite, loadTpch } from '../../bench/tpch/load.ts';
import { QUERIES, texts } from '../../bench/tpch/queries/index.ts';
import { compareRows, type Row } from '../../dev/eval/compare.ts';
import { loadBikehireTables } from '../../examples/bikehire/load.ts';
import { loadWorldTables } from '../../examples/world/load.ts';
import { QUESTIONS } from '../../examples/world/questions.ts';
import type { Format } from '../../src/cli/exchange/exchange.ts';
import { OSSIE } from '../../src/cli/exchange/ossie.ts';
import { RDF } from '../../src/cli/exchange/rdf.ts';
import { modelOfScripts, scriptOf } from '../../src/cli/exchange/script-model.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('integration/exchange');
const SCALE = 0.002;
const FORMATS: readonly (readonly [string, Format])[] = [
  ['Ossie', OSSIE],
  ['OWL and R2RML', RDF],
];
const parser = await loadNodeParser();

interface Asked {
  readonly name: string;
  readonly sql: string;
  readonly byHand: string;
  readonly isOrdered: boolean;
}

const bikehire = async (): Promise<Asked[]> => {
  const list = JSON.parse(await readFile(new URL('../../examples/bikehire/questions.json', import.meta.url), 'utf8')) as {
    id: string;
    gold: string;
    by_hand?: string;
    caller?: string;
  }[];
  // questions of a caller have other rows for other callers
  return list
    .filter((q) => q.caller === undefined && q.by_hand !== undefined)
    .map((q) => ({ name: q.id, sql: q.gold, byHand: q.by_hand ?? '', isOrdered: false }));
};
const SAMPLES = [
  {
    name: 'world',
    path: 'examples/world/model.kg',
    load: (db: PGlite) => loadWorldTables(async (sql, params) => void (await db.query(sql, params as never[]))),
    questions: async () => QUESTIONS.map((q) => ({ name: q.question, sql: q.sql, byHand: q.byHand, isOrdered: true })),
  },
  { name: 'bikehire', path: 'examples/bikehire/model.kg', load: (db: PGlite) => loadBikehireTables((sql) => db.query(sql)), questions: bikehire },
  {
    name: 'tpch',
    path: 'bench/tpch/model.kg',
    load: (db: PGlite) => loadTpch(intoPglite(db), SCALE),
    questions: async () =>
      QUERIES.map((q) => ({ name: `${q.number}: ${q.title}`, sql: texts(q, SCALE, true).sql, byHand: texts(q, SCALE, true).byHand, isOrdered: true })),
  },
];

/** A model after a way through a format. */
async function moved(format: Format, path: string, name: string): Promise<Graph> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const source = modelOfScripts([{ path, text }], name, parser, 'svc');
  const { files } = await format.write(source);
  const imported = await format.read(
    files.map((f) => ({ path: f.name, text: f.text })),
    source.reader,
  );
  return modelOfScripts([{ path: 'imported', text: scriptOf(imported.model, imported.name, 'svc', imported.statements) }], name, parser, 'svc').graph;
}

/** Each sample with the formats that it is tested in. */
const WAYS = oneIn(
  SIZES.everyWay,
  SAMPLES.flatMap((sample) => FORMATS.map((format) => ({ sample, format }))),
  // without the sample world if not all are tested: to load its tables takes seconds
  1,
);
const TESTED = SAMPLES.map((sample) => ({ ...sample, formats: WAYS.filter((w) => w.sample === sample).map((w) => w.format) })).filter(
  (t) => t.formats.length > 0,
);

describe.each(TESTED)('the sample $name', ({ name, path, load, questions, formats }) => {
  let db: PGlite;
  beforeAll(async () => {
    db = await memoryDatabase();
    await load(db);
  });
  afterAll(() => db?.close());

  const rowsOf = async (sql: string, params: readonly unknown[] = []): Promise<Row[]> =>
    (await db.query<{ row: Row }>(`SELECT row::text::json AS row FROM (${sql}) q(row)`, [...params] as never[])).rows.map(({ row }) => row);

  it.each(formats)(
    'answers its questions after a way through %s',
    async (_, format) => {
      const graph = await moved(format, path, name);
      const asked = await questions();
      let answered = 0;
      for (const q of asked) {
        const plan = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main' }, { text: q.sql, offset: 0 });
        const found = await rowsOf(plan.sql, plan.params);
        const expected = await rowsOf(`SELECT row_to_json(hand) FROM (${q.byHand}) hand`);
        if (expected.length > 0) answered++;
        expect({ name: q.name, ...compareRows(expected, found, { ordered: q.isOrdered, mostExtra: 0 }) }).toEqual({ name: q.name, same: true, why: '' });
      }
      expect(answered).toBeGreaterThan(asked.length * 0.8);
    },
    180_000,
  );
});
