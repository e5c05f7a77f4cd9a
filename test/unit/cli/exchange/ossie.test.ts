/** Apache Ossie: what is written has the documents' shape, and reading it gives the model again. */
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OSSIE } from '../../../../src/cli/exchange/ossie.ts';
import { scriptOf } from '../../../../src/cli/exchange/script-model.ts';
import { generated, patience } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { CORE_0_1, CORE_0_2, MAPPING, ONTOLOGY } from './ossie-schemas.ts';
import { objectsOf, sourceOf, sources } from './support.ts';

const SIZES = sizesOf('unit/cli/exchange/ossie');
const ajv = new Ajv2020({ allErrors: true });
const SCHEMAS = {
  '.ossie.yaml': ajv.compile(CORE_0_2),
  '.ossie-0.1.yaml': ajv.compile(CORE_0_1),
  '.ontology.yaml': ajv.compile(ONTOLOGY),
  '.mapping.yaml': ajv.compile(MAPPING),
};

type Source = Parameters<typeof OSSIE.write>[0];

async function written(source: Source) {
  const { files, losses } = await OSSIE.write(source);
  for (const { name, text } of files) {
    const check = SCHEMAS[name.slice(name.indexOf('.')) as keyof typeof SCHEMAS];
    check(parse(text));
    expect(check.errors, name).toBe(null);
  }
  return { files, losses };
}

/** A model through Ossie, and the losses on both ways. @param only the ending of the core document that is read */
async function moved(source: Source, only = '') {
  const { files, losses } = await written(source);
  const read = files.filter(({ name }) => only === '' || !name.includes('.ossie') || name.endsWith(only)).map(({ name, text }) => ({ path: name, text }));
  const imported = await OSSIE.read(read, source.reader);
  const back = sourceOf(scriptOf(imported.model, imported.name, 'svc', imported.statements), imported.name);
  return { files, back, losses, lost: imported.losses };
}

const sample = async (path: string, name: string) => sourceOf(await readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8'), name);

describe('the samples', () => {
  it.each([
    ['examples/world/model.kg', 'world'],
    ['examples/bikehire/model.kg', 'bikehire'],
    ['bench/tpch/model.kg', 'tpch'],
  ])('%s is the same after a way through Ossie, also in version 0.1', async (path, name) => {
    const source = await sample(path, name);
    for (const version of ['', '.ossie.yaml', '.ossie-0.1.yaml']) {
      const { back, lost } = await moved(source, version);
      expect(lost, version).toEqual([]);
      expect(objectsOf(back.graph.model), version).toEqual(objectsOf(source.graph.model));
    }
  });

  it('lose to other tools what is printed', async () => {
    const { losses } = await written(await sample('examples/bikehire/model.kg', 'bikehire'));
    expect(losses).toContain('depth 5 of employee.reports_to: only in custom_extensions');
    expect(losses).toContain('concept late_hire: not in the core document, because it is derived; the ontology document has it');
  });
});

it('a calculated property of a concept without a dataset keeps its tags, although a concept below has the field', async () => {
  const { back, lost } = await moved(
    sourceOf(`CREATE CONCEPT mapped (no integer, PRIMARY KEY (no)); CREATE MAPPING m INTO mapped AS SELECT no FROM s.t;
      CREATE PROPERTY next integer WITH TAGS (unit = 'x', synonyms = 'following') AS SELECT 1 + no;
      CREATE CONCEPT base (no integer); CREATE CONCEPT other (next integer) INHERITS (base); CREATE CONCEPT both INHERITS (other, mapped)`),
  );
  expect(lost).toEqual([]);
  expect(back.graph.property('next')).toMatchObject({ tags: { unit: 'x', synonyms: 'following' }, expression: expect.stringContaining('1 +') });
});

it('links to keys without a type compare texts, as the keys are', async () => {
  const fields = (...names: string[]) => names.map((name) => ({ name, expression: { dialects: [{ dialect: 'ANSI_SQL', expression: name }] } }));
  const model = {
    name: 'film',
    datasets: [
      { name: 'actors', source: 's.actors', primary_key: ['actor_id'], fields: fields('actor_id') },
      { name: 'movies', source: 's.movies', primary_key: ['movie_id'], fields: fields('movie_id') },
      { name: 'roles', source: 's.roles', primary_key: ['actor_id', 'movie_id'], fields: fields('actor_id', 'movie_id') },
    ],
    relationships: ['actor', 'movie'].map((of) => ({ name: of, from: 'roles', to: `${of}s`, from_columns: [`${of}_id`], to_columns: [`${of}_id`] })),
  };
  const text = JSON.stringify({ version: '0.1.1', semantic_model: [model] });
  const imported = await OSSIE.read([{ path: 'film.json', text }], (await sample('examples/world/model.kg', 'world')).reader);
  expect(imported.losses).toEqual(['no type is given for actor_id, movie_id: string is assumed']);
  expect(imported.model.mappings.find((m) => m.kind === 'link')?.sql).toBe(
    'SELECT DISTINCT CAST(actor_id AS text) AS "actor_id", CAST(movie_id AS text) AS "movie_id" FROM s.roles AS "roles"',
  );
});

describe('generated models', () => {
  it(
    'are the same after a way through Ossie, and the second export equals the first',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          sources.filter((s) => s !== null),
          async (source) => {
            fc.pre(source.graph.model.mappings.some((m) => m.kind === 'concept'));
            const { files, back, lost } = await moved(source);
            expect(lost).toEqual([]);
            expect(objectsOf(back.graph.model)).toEqual(objectsOf(source.graph.model));
            const again = (await written(back)).files;
            for (const [i, { name, text }] of files.entries()) expect(again[i]?.text, name).toBe(text);
          },
        ),
        generated(SIZES.models, SIZES.models),
      );
    },
    patience(120_000),
  );
});
