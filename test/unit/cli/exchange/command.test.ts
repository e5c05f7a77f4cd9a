/** `kg export --format` and `kg import --format`: files, losses that are printed, and errors. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportAs, importAs } from '../../../../src/cli/exchange/exchange.ts';
import { writeModel } from '../../../../src/cli/export.ts';

let folder: string;
const write = (name: string, text: string) => writeFile(join(folder, name), text);
const env = () => ({ INIT_CWD: folder });
const ossie = (to: string, ontology?: string) => ({ format: 'ossie', to, ontology });

/** All files below a folder. */
async function textOf(name: string): Promise<string> {
  const files = (await readdir(join(folder, name), { recursive: true })).filter((f) => f.endsWith('.kg')).sort();
  return (await Promise.all(files.map((f) => readFile(join(folder, name, f), 'utf8')))).join('\n');
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exchange-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('model files go out and come back the same, and losses are printed', async () => {
  await write(
    'shop.kg',
    `CREATE CONCEPT customer (no integer, name string, PRIMARY KEY (no), LABEL (name));
     CREATE MAPPING customers INTO customer AS select no, name from shop.customers;
     CREATE POLICY few ON CONCEPT customer TO PUBLIC USING (no < 10);
     /* of readers */ CREATE EXAMPLE 'Who buys?' AS SELECT name FROM svc.customer; CREATE DATASOURCE other TYPE postgres SECRET 'OTHER'`,
  );
  expect(await exportAs(['shop.kg'], ossie('out', 'shop'), env())).toEqual([
    'not exported, because it is not part of a model: CREATE DATASOURCE other',
    'loss: policy few: only in custom_extensions',
    "loss: example 'Who buys?': only in custom_extensions",
    'loss: labels: only in custom_extensions (1 concepts)',
    'shop: 4 files in out, 3 losses',
  ]);
  expect(await exportAs(['shop.kg'], { format: 'rdf', to: 'rdf', ontology: 'shop' }, env())).toContain("loss: example 'Who buys?': only in kg:statement");
  expect((await importAs(['out'], ossie('model'), env())).at(-1)).toMatch(/^shop: .*, 0 losses$/);
  const text = await textOf('model');
  expect(text).toContain('LABEL (`name`)');
  expect(text).toContain('CREATE POLICY few');
});

it('columns of keys without a field, and names of fields without a dataset, are understood', async () => {
  const field = (name: string, datatype?: string) => ({ name, datatype, expression: { dialects: [{ dialect: 'ANSI_SQL', expression: name }] } });
  const model = {
    name: 'sales',
    datasets: [
      { name: 'sale', source: 's.sales', primary_key: ['no'], fields: [field('no', 'Integer'), field('price', 'Decimal')] },
      { name: 'item', source: 's.items', primary_key: ['sk'], fields: [field('sk', 'Integer'), field('brand', 'String')] },
    ],
    relationships: [{ name: 'of_item', from: 'sale', to: 'item', from_columns: ['item_sk'], to_columns: ['sk'] }],
    metrics: [{ name: 'total', expression: { dialects: [{ dialect: 'ANSI_SQL', expression: 'SUM(price)' }] } }],
  };
  await write('sales.json', JSON.stringify({ version: '0.1.1', semantic_model: [model] }));
  expect((await importAs(['sales.json'], ossie('sales'), env())).at(-1)).toMatch(/, 0 losses$/);
  const text = await textOf('sales');
  expect(text).toContain('`item_sk` bigint');
  expect(text).toMatch(/sum\(`price`\)/i);
});

it('names the policies of a document, which may be that of somebody else', async () => {
  await write(
    'open.kg',
    'CREATE CONCEPT c (no integer, PRIMARY KEY (no)); CREATE MAPPING m INTO c AS SELECT no FROM t; CREATE POLICY all_rows ON CONCEPT c TO PUBLIC USING (true)',
  );
  for (const format of ['ossie', 'rdf']) {
    await exportAs(['open.kg'], { format, to: `open_${format}`, ontology: 'open' }, env());
    const lines = await importAs([`open_${format}`], { format, to: `opened_${format}`, ontology: undefined }, env());
    expect(lines).toContain('policy all_rows: the document defines it. Read it before you apply the files');
  }
});

const POLICY = 'CREATE POLICY all_rows ON CONCEPT item TO PUBLIC USING (true)';
it.each([
  ['a metric', { metrics: [{ name: 'total', expression: { dialects: [{ dialect: 'ANSI_SQL', expression: `SUM(price); ${POLICY}` }] } }] }, 'price'],
  ['a field', {}, `price; ${POLICY}`],
])('refuses a document whose expression has a second statement: %s', async (_, more, expression) => {
  const field = (name: string, text: string) => ({ name, datatype: 'Integer', expression: { dialects: [{ dialect: 'ANSI_SQL', expression: text }] } });
  const datasets = [{ name: 'item', source: 's.items', primary_key: ['sk'], fields: [field('sk', 'sk'), field('price', expression)] }];
  await write('second.json', JSON.stringify({ version: '0.1.1', semantic_model: [{ name: 'shop', datasets, ...more }] }));
  await expect(importAs(['second.json'], ossie('second'), env())).rejects.toThrow(/several statements|syntax_error|unknown_/);
});

it('refuses a document whose query has a second statement', async () => {
  await write(
    'second.ttl',
    `@prefix rr: <http://www.w3.org/ns/r2rml#> . <#a> rr:logicalTable [ rr:sqlQuery "SELECT no FROM s.c; ${POLICY.replace('item', 'Customer')}" ] ;
rr:subjectMap [ rr:template "http://x/c/{no}" ; rr:class <#Customer> ] .`,
  );
  await expect(importAs(['second.ttl'], { format: 'rdf', to: 'second', ontology: undefined }, env())).rejects.toThrow(/several statements|syntax_error/);
});

it('writes only into the folder, also for an ontology with a hostile name', async () => {
  await write('up.kg', 'CREATE ONTOLOGY `../../Up`; CREATE CONCEPT c (no integer, PRIMARY KEY (no)); CREATE MAPPING m INTO c AS select no from t');
  await exportAs(['up.kg'], ossie('deep/er/out'), env());
  await exportAs(['up.kg'], { ...ossie('deep/er/out'), format: 'rdf' }, env());
  expect((await readdir(join(folder, 'deep'), { recursive: true })).sort()).toEqual([
    'er',
    'er/out',
    ...['mapping.yaml', 'ontology.yaml', 'ossie-0.1.yaml', 'ossie.yaml', 'owl.ttl', 'r2rml.ttl', 'shacl.ttl'].map(
      (kind) => `er/out/%2e%2e%2f%2e%2e%2fup.${kind}`,
    ),
  ]);
});

it('writes through no symbolic link, which a folder of somebody else may have', async () => {
  await write('linked.kg', 'CREATE ONTOLOGY linked; CREATE CONCEPT c (no integer, PRIMARY KEY (no)); CREATE MAPPING m INTO c AS SELECT no FROM t');
  await write('mine.txt', 'mine');
  await mkdir(join(folder, 'theirs', 'model'), { recursive: true });
  await mkdir(join(folder, 'elsewhere'));
  await symlink(join(folder, 'mine.txt'), join(folder, 'theirs', 'linked.ontology.yaml'));
  await expect(exportAs(['linked.kg'], ossie('theirs'), env())).rejects.toThrow(/is a symbolic link/);
  const script = 'CREATE ONTOLOGY linked; CREATE CONCEPT c (no integer, PRIMARY KEY (no))';
  await symlink(join(folder, 'mine.txt'), join(folder, 'theirs', 'model', 'ontology.kg'));
  await expect(writeModel(script, 'linked', 'theirs/model', false, env())).rejects.toThrow(/is a symbolic link/);
  await rm(join(folder, 'theirs', 'model', 'ontology.kg'));
  await symlink(join(folder, 'elsewhere'), join(folder, 'theirs', 'model', 'concepts'));
  await expect(writeModel(script, 'linked', 'theirs/model', false, env())).rejects.toThrow(/is a symbolic link/);
  // the folder itself, or one on the way to it
  await symlink(join(folder, 'elsewhere'), join(folder, 'theirs', 'out'));
  for (const to of ['theirs/out', 'theirs/out/deep']) {
    await expect(exportAs(['linked.kg'], ossie(to), env())).rejects.toThrow(/is a symbolic link/);
    await expect(writeModel(script, 'linked', to, false, env())).rejects.toThrow(/is a symbolic link/);
  }
  expect([await readFile(join(folder, 'mine.txt'), 'utf8'), await readdir(join(folder, 'elsewhere'))]).toEqual(['mine', []]);
});

it.each([
  [['shop.kg'], { format: 'word', to: 'out', ontology: 'shop' }, /--format must be one of/],
  [['shop.kg'], { format: 'ossie', to: undefined, ontology: 'shop' }, /--to DIR/],
  [[], { format: 'ossie', to: 'out', ontology: undefined }, /--ontology NAME or FILES/],
] as const)('refuses %j %j', async (paths, options, message) => {
  await expect(exportAs(paths, options, env())).rejects.toThrow(message);
});

it.each([
  ['a: [1', /is neither YAML nor JSON/],
  ['version: 1', /is not an Ossie document/],
  ['semantic_model: [{name: x, datasets: [{name: y}]}]', /does not have the shape of an Ossie document/],
  ['semantic_model: [{name: x, datasets: []}, {name: y, datasets: []}]\nversion: 0.1.1', /2 semantic models/],
])('refuses the document %j', async (text, message) => {
  await write('bad.yaml', text);
  await expect(importAs(['bad.yaml'], ossie('bad'), env())).rejects.toThrow(message);
});
