/** (a) A request to the service against the bare driver that runs the same SQL in the same runtime. */
import { isDeepStrictEqual } from 'node:util';
import { READER } from '../../dev/roles.ts';
import { graphOf, worldModel } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { buildBenchWorker, buildService } from '../lib/build.ts';
import { interleaved, median, ms, quantile, ratio, timed } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const QUERIES = [
  { name: 'point query (one city by its id)', sql: "SELECT name, population, country_code FROM svc.city WHERE entity_id = 'city:2761369'", rounds: 600 },
  {
    name: '500 rows (cities of one country)',
    sql: "SELECT entity_id, name, population, country_code FROM svc.city WHERE country_code = 'DEU' LIMIT 500",
    rounds: 400,
  },
];

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  const { local } = database;
  const running = await startScripts({
    service: { script: await buildService(), bindings, more: SERVICE_BINDINGS },
    engine: { script: await buildBenchWorker('engine'), bindings },
    driver: { script: await buildBenchWorker('driver'), bindings: { URL: local.connectionString(READER), ENDPOINT: local.endpoint } },
  });
  try {
    const service = running.urls.service as string;
    const engine = running.urls.engine as string;
    const driver = running.urls.driver as string;
    await loadModel(service, adminToken);
    const parser = await loadNodeParser();
    const graph = graphOf(await worldModel(), 'world', parser);
    const rows: string[][] = [];
    for (const { name, sql, rounds } of QUERIES) {
      const plan = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main', keepsNames: () => true }, { text: sql, offset: 0 });
      const ask = {
        service: () => post(`${service}/svc/api/query/`, { ontology_name: 'world', query: sql }, { 'x-api-key': adminToken }),
        engine: () => post(engine, { sql: plan.sql, params: plan.params }),
        driver: () => post(driver, { sql: plan.sql, params: plan.params }),
      };
      const answers = {
        service: JSON.parse(String(await ask.service())).data,
        engine: JSON.parse(String(await ask.engine())).data,
        driver: (JSON.parse(String(await ask.driver())) as object[]).map((r) => Object.values(r)[0]),
      };
      if (answers.service.length === 0 || !isDeepStrictEqual(answers.service, answers.driver) || !isDeepStrictEqual(answers.engine, answers.driver)) {
        throw new Error(`the answers differ: ${name}`);
      }
      const took = await interleaved({ service: () => timed(ask.service), engine: () => timed(ask.engine), driver: () => timed(ask.driver) }, rounds, 100);
      const against = (q: number, variant: 'service' | 'engine'): string => ratio(quantile(took[variant], q), quantile(took.driver, q));
      aim('a', `service against the bare driver, ${name}`, median(took.service) / median(took.driver), { most: 1.1 });
      rows.push([
        name,
        ms(median(took.driver)),
        ms(median(took.engine)),
        ms(median(took.service)),
        against(0.5, 'engine'),
        against(0.5, 'service'),
        against(0.95, 'service'),
      ]);
    }
    table(
      `(a) service against the bare driver, same SQL, same workerd, ${database.name}`,
      ['request', 'driver p50', 'engine p50', 'service p50', 'engine, p50', 'service, p50', 'service, p95'],
      rows,
    );
    note(
      'One request after the other on a kept-alive connection. Driver and engine (our own client of the same protocol) get the finished SQL; the service authenticates and plans. The aim of the point query is x1.10 at p50.',
    );
  } finally {
    await running.stop();
  }
}
