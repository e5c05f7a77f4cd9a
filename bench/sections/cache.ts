/** (cache) Answers from the result cache against the same answers from the database. */
import { buildService } from '../lib/build.ts';
import { load } from '../lib/load.ts';
import { interleaved, median, ms, quantile, ratio, timed } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const QUERIES = [
  { name: 'point query', sql: "SELECT name, population, country_code FROM svc.city WHERE entity_id = 'city:2761369'", headers: {}, rounds: 400 },
  { name: '500 rows', sql: "SELECT entity_id, name, population, country_code FROM svc.city WHERE country_code = 'DEU' LIMIT 500", headers: {}, rounds: 300 },
  { name: '10,000 rows', sql: 'SELECT entity_id, name, population, country_code FROM svc.city LIMIT 10000', headers: {}, rounds: 60 },
  {
    name: 'nested: 30 countries with 10,000 cities',
    sql: 'SELECT entity_id, name, "has_city[city].entity_id", "has_city[city].name", "has_city[city].population" FROM dsvc.country WHERE "has_city[city].entity_id" IS NOT NULL LIMIT 10000',
    headers: { nested: 'true' },
    rounds: 60,
  },
] as const;

const CONNECTIONS = 16;
const MILLISECONDS = 2000;

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  const script = await buildService();
  const running = await startScripts({
    uncached: { script, bindings, more: SERVICE_BINDINGS },
    cached: {
      script,
      bindings: { ...bindings, RESULT_CACHE_TTL: '3600' },
      // a namespace of its own: it must not begin with a snapshot from before the model was created
      more: { ...SERVICE_BINDINGS, kvNamespaces: { CACHE: 'cached' } },
    },
  });
  try {
    const { uncached, cached } = running.urls as Record<'uncached' | 'cached', string>;
    await loadModel(uncached, adminToken);
    const rows: string[][] = [];
    for (const { name, sql, headers, rounds } of QUERIES) {
      const body = { ontology_name: 'world', query: sql };
      const of = (base: string) => ({ url: `${base}/svc/api/query/`, headers: { 'x-api-key': adminToken, ...headers } });
      const ask = (base: string) => post(of(base).url, body, of(base).headers);
      const first = () =>
        fetch(of(cached).url, { method: 'POST', body: JSON.stringify(body), headers: { ...of(cached).headers, 'content-type': 'application/json' } });
      await (await first()).text();
      const hit = await first();
      const answer = await hit.text();
      if (hit.headers.get('x-cache') !== 'hit' || (await ask(uncached)).length !== Buffer.byteLength(answer))
        throw new Error(`not the same answer out of the cache: ${name}: ${hit.headers.get('x-cache')}, ${answer.slice(0, 200)}`);
      const took = await interleaved({ uncached: () => timed(() => ask(uncached)), cached: () => timed(() => ask(cached)) }, rounds, 30);
      const rate = async (base: string): Promise<number> =>
        (await load({ ...of(base), body: JSON.stringify(body), connections: CONNECTIONS, milliseconds: MILLISECONDS })).perSecond;
      const [slow, quick] = [await rate(uncached), await rate(cached)];
      aim('cache', `cached against uncached, ${name}`, median(took.cached) / median(took.uncached), { most: 0.5 });
      rows.push([
        name,
        `${Math.ceil(answer.length / 1024)} KiB`,
        ms(median(took.uncached)),
        ms(median(took.cached)),
        ratio(median(took.cached), median(took.uncached)),
        ratio(quantile(took.cached, 0.95), quantile(took.uncached, 0.95)),
        `${slow.toFixed(0)} / ${quick.toFixed(0)}`,
      ]);
    }
    table(
      `(cache) answers out of the result cache against the database, ${database.name}`,
      ['request', 'answer', 'uncached p50', 'cached p50', 'p50', 'p95', `/s at ${CONNECTIONS} connections`],
      rows,
    );
    note(
      'The aim is x0.50 at p50. Hits come from the memory of the isolate; the first hit of another isolate costs a read of KV, which only a deployment can measure.',
    );
  } finally {
    await running.stop();
  }
}
