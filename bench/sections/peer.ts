/** (peer) The service against PostGraphile 5 on the same PostgreSQL: one row, 500 rows and nested ones. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { READER } from '../../dev/roles.ts';
import { buildService } from '../lib/build.ts';
import { type LoadResult, load } from '../lib/load.ts';
import { median, ms, ratio } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = any;

interface Case {
  readonly name: string;
  readonly sql: string;
  readonly nested?: boolean;
  readonly graphql: string;
  /** The same rows out of both answers. */
  readonly ours: (data: Answer) => unknown;
  readonly theirs: (data: Answer) => unknown;
}

const number = (value: unknown): number => Number(value);
const byName = (a: readonly unknown[], b: readonly unknown[]): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** Objects that are equal in all their members are one object for the service, because its rows have no id for them. */
const distinct = (rows: readonly unknown[][]): unknown[][] => [...new Map(rows.map((r) => [JSON.stringify(r), r])).values()];

const ourCountry = (r: Answer): unknown[] => [r.country_code, r.name, r['has_city[city]'].map((c: Answer) => [c.name, number(c.population)]).sort(byName)];
const theirCountry = (r: Answer): unknown[] => [r.cc3, r.shortNm, distinct(r.tCitiesByCc3.nodes.map((c: Answer) => [c.cityNm, number(c.pop)])).sort(byName)];

const CASES: readonly Case[] = [
  {
    name: 'one row (a city by its key)',
    sql: 'SELECT name, population, country_code FROM svc.city WHERE geoname_id = 2761369',
    graphql: '{ tCityByGeoId(geoId: "2761369") { cityNm pop cc3 } }',
    ours: (data) => data.map((r: Answer) => [r.name, number(r.population), r.country_code]),
    theirs: ({ tCityByGeoId: r }) => [[r.cityNm, number(r.pop), r.cc3]],
  },
  {
    name: '500 rows (the first cities of a country)',
    sql: "SELECT geoname_id, name, population, country_code FROM svc.city WHERE country_code = 'DEU' ORDER BY geoname_id LIMIT 500",
    graphql: '{ allTCities(condition: {cc3: "DEU"}, orderBy: GEO_ID_ASC, first: 500) { nodes { geoId cityNm pop cc3 } } }',
    ours: (data) => data.map((r: Answer) => [number(r.geoname_id), r.name, number(r.population), r.country_code]),
    theirs: ({ allTCities }) => allTCities.nodes.map((r: Answer) => [number(r.geoId), r.cityNm, number(r.pop), r.cc3]),
  },
  {
    name: 'nested: a country with its cities',
    sql: `SELECT entity_id, country_code, name, "has_city[city].name", "has_city[city].population" FROM dsvc.country WHERE country_code = 'NOR'`,
    nested: true,
    graphql: '{ tCountryByCc3(cc3: "NOR") { cc3 shortNm tCitiesByCc3 { nodes { cityNm pop } } } }',
    ours: (data) => data.map(ourCountry),
    theirs: ({ tCountryByCc3 }) => [theirCountry(tCountryByCc3)],
  },
  {
    name: 'nested: countries of a subregion with their cities',
    sql: `SELECT entity_id, country_code, name, "has_city[city].name", "has_city[city].population" FROM dsvc.country WHERE subregion_name = 'Northern Europe'`,
    nested: true,
    graphql: '{ allTCountries(condition: {subRgn: "Northern Europe"}) { nodes { cc3 shortNm tCitiesByCc3 { nodes { cityNm pop } } } } }',
    ours: (data) => data.map(ourCountry).sort(byName),
    theirs: ({ allTCountries }) => allTCountries.nodes.map(theirCountry).sort(byName),
  },
  {
    name: 'nested: 500 cities, each with its country',
    sql: 'SELECT entity_id, name, population, "in_country[country].country_code", "in_country[country].name" FROM dsvc.city WHERE country_code = \'DEU\' ORDER BY geoname_id LIMIT 500',
    nested: true,
    graphql: '{ allTCities(condition: {cc3: "DEU"}, orderBy: GEO_ID_ASC, first: 500) { nodes { geoId cityNm pop tCountryByCc3 { cc3 shortNm } } } }',
    ours: (data) => data.map((r: Answer) => [r.name, number(r.population), r['in_country[country]'].map((c: Answer) => [c.country_code, c.name])]),
    theirs: ({ allTCities }) => allTCities.nodes.map((r: Answer) => [r.cityNm, number(r.pop), [[r.tCountryByCc3.cc3, r.tCountryByCc3.shortNm]]]),
  },
];

const CONNECTIONS = [1, 16] as const;
const ROUNDS = 3;
const MILLISECONDS = 1000 * Number(process.env.BENCH_SECONDS ?? 2);

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const direct = database.local.direct?.(READER);
  if (direct === undefined) {
    note('(peer) is skipped: PostGraphile needs an installed PostgreSQL.');
    return;
  }
  const { adminToken, bindings } = await serviceSettings(database);
  const running = await startScripts({ service: { script: await buildService(), bindings, more: SERVICE_BINDINGS } });
  const peer = await startPeer(direct);
  try {
    const service = running.urls.service as string;
    await loadModel(service, adminToken);
    const rows: string[][] = [];
    for (const { name, sql, nested, graphql, ours, theirs } of CASES) {
      const asks = {
        ours: {
          url: `${service}/svc/api/query/`,
          headers: { 'x-api-key': adminToken, ...(nested ? { nested: 'true' } : {}) },
          body: { ontology_name: 'world', query: sql },
        },
        theirs: { url: `${peer.url}/graphql`, headers: {}, body: { query: graphql } },
      };
      const answers = {
        ours: String(await post(asks.ours.url, asks.ours.body, asks.ours.headers)),
        theirs: String(await post(asks.theirs.url, asks.theirs.body)),
      };
      if (!isDeepStrictEqual(ours(JSON.parse(answers.ours).data), theirs(JSON.parse(answers.theirs).data))) throw new Error(`the answers differ: ${name}`);
      for (const connections of CONNECTIONS) {
        const results: Record<'ours' | 'theirs', LoadResult[]> = { ours: [], theirs: [] };
        for (let round = -1; round < ROUNDS; round++) {
          for (const side of round % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const)) {
            const { url, headers, body } = asks[side];
            const result = await load({ url, headers, body: JSON.stringify(body), connections, milliseconds: MILLISECONDS });
            if (round >= 0) results[side].push(result);
          }
        }
        const of = (side: 'ours' | 'theirs', what: keyof LoadResult): number => median(results[side].map((r) => r[what]));
        const p50 = of('ours', 'p50') / of('theirs', 'p50');
        const throughput = of('ours', 'perSecond') / of('theirs', 'perSecond');
        if (nested) aim('peer', `${name}, p50 at ${connections}`, p50, { most: 1 });
        else if (name.startsWith('one row') && connections === 1) aim('peer', `${name}, p50 at 1`, p50, { most: 1.7 });
        else if (name.startsWith('one row')) aim('peer', `${name}, throughput at ${connections}`, throughput, { least: 0.6 });
        rows.push([
          name,
          String(connections),
          ms(of('theirs', 'p50')),
          ms(of('ours', 'p50')),
          ratio(p50, 1),
          of('theirs', 'perSecond').toFixed(0),
          of('ours', 'perSecond').toFixed(0),
          ratio(throughput, 1),
          `${Math.round(answers.theirs.length / 1024)} / ${Math.round(answers.ours.length / 1024)} KiB`,
        ]);
      }
    }
    table(
      `(peer) the service against PostGraphile 5 on the same ${database.name}`,
      ['request', 'connections', 'PostGraphile p50', 'service p50', 'p50', 'PostGraphile /s', 'service /s', '/s', 'answers'],
      rows,
    );
    note(
      'The aims: one row at most x1.70 at p50 with one connection and at least x0.60 of the throughput with 16; nested at most x1.00 at p50 with either. BENCH_SECONDS makes a run shorter. PostGraphile: one Node process with a pool of 16 connections of PostgreSQL\u2019s own protocol. The service: workerd, which uses the SQL endpoint over HTTP, as on Neon; here that endpoint is a separate Node process. The service authenticates each request; PostGraphile does not. The client runs in a thread of its own.',
    );
  } finally {
    peer.stop();
    await running.stop();
  }
}

async function startPeer(connectionString: string): Promise<{ readonly url: string; stop(): void }> {
  const script = fileURLToPath(new URL('../peer/postgraphile.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script], {
    env: { ...process.env, DATABASE_URL: connectionString, NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`PostGraphile ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() };
}
