/** (nested) Nested and formatted results and other formats against the same rows sent flat, at 10,000 rows. */
import { buildService } from '../lib/build.ts';
import { interleaved, median, ms, quantile, ratio, timed } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const QUERIES = [
  {
    name: 'few roots: countries with 10,000 of their cities',
    sql: 'SELECT entity_id, name, "has_city[city].entity_id", "has_city[city].name", "has_city[city].population" FROM dsvc.country WHERE "has_city[city].entity_id" IS NOT NULL LIMIT 10000',
  },
  {
    name: 'a root a row: 10,000 cities, each with its country',
    sql: 'SELECT entity_id, name, population, "in_country[country].entity_id", "in_country[country].name" FROM dsvc.city LIMIT 10000',
  },
  {
    name: 'three levels: regions, countries, 10,000 cities',
    sql: 'SELECT entity_id, "has_country[country].entity_id", "has_country[country].name", "has_country[country].has_city[city].name", "has_country[country].has_city[city].population" FROM dsvc.region WHERE "has_country[country].has_city[city].name" IS NOT NULL LIMIT 10000',
  },
] as const;

const VARIANTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  flat: {},
  nested: { nested: 'true' },
  mode: { nested: 'true', 'api-nested-format-properties': 'true' },
  csv: { accept: 'text/csv' },
  ndjson: { accept: 'application/x-ndjson' },
};

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  const running = await startScripts({ service: { script: await buildService(), bindings, more: SERVICE_BINDINGS } });
  try {
    const service = running.urls.service as string;
    await loadModel(service, adminToken);
    const rows: string[][] = [];
    for (const { name, sql } of QUERIES) {
      const ask = (headers: Readonly<Record<string, string>>) =>
        post(`${service}/svc/api/query/`, { ontology_name: 'world', query: sql }, { 'x-api-key': adminToken, ...headers });
      const flat = JSON.parse(String(await ask({}))).data as object[];
      const nested = JSON.parse(String(await ask({ nested: 'true' }))).data as object[];
      if (flat.length !== 10_000 || nested.length === 0 || !Object.values(nested[0] as object).some(Array.isArray))
        throw new Error(`not 10,000 rows that nest: ${name}`);
      const took = await interleaved(
        Object.fromEntries(Object.entries(VARIANTS).map(([variant, headers]) => [variant, () => timed(() => ask(headers))])),
        60,
        15,
      );
      const of = (variant: string): readonly number[] => took[variant] as number[];
      aim('nested', `nested against flat, ${name}`, median(of('nested')) / median(of('flat')), { most: 1.3 });
      rows.push([
        name,
        String(nested.length),
        ms(median(of('flat'))),
        ms(median(of('nested'))),
        ...Object.keys(VARIANTS)
          .slice(1)
          .map((variant) => ratio(median(of(variant)), median(of('flat')))),
        ratio(quantile(of('nested'), 0.95), quantile(of('flat'), 0.95)),
      ]);
    }
    table(
      `(nested) nested and formatted rows against the same rows flat, ${database.name}`,
      ['10,000 rows', 'roots', 'flat p50', 'nested p50', 'nested', 'nested, formatted', 'CSV', 'NDJSON', 'nested, p95'],
      rows,
    );
    note('Ratios are of whole requests, database included, on a kept-alive connection. The aim is nested at most x1.30 of flat.');
  } finally {
    await running.stop();
  }
}
