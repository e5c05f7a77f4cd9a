/** (mcp-load) The MCP server with many clients for a long time: no error, and memory that does not grow. Started by hand; BENCH_SECONDS makes it shorter. */
import { buildService } from '../lib/build.ts';
import { type Call, work } from '../lib/mcp-clients.ts';
import { median, ms, ratio } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { note, table } from '../lib/table.ts';
import { workerdMemory } from '../lib/workerd.ts';

const CLIENTS = 16;
/** Users, each with a Durable Object of its own. */
const USERS = 4;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 600);
/** Not counted: caches fill, and the heap reaches its size. */
const WARM_UP = SECONDS / 5;
const SAMPLE_MS = 1000;

const sql = (query: string, rows: number): Call => ({ tool: 'execute_sql', args: { ontology: 'world', query }, rows });
const ROWS = 'SELECT entity_id, name, population, country_code FROM svc.city';
const point: Call = sql("SELECT name, population, country_code FROM svc.city WHERE entity_id = 'city:2761369'", 1);
const some: Call = sql(`${ROWS} WHERE country_code = 'DEU' LIMIT 500`, 500);
const many: Call = sql(`${ROWS} LIMIT 3000`, 3000);
const wrong: Call = { tool: 'execute_sql', args: { ontology: 'world', query: 'SELECT nane FROM svc.city' }, rows: null };
const graphs: Call = { tool: 'list_ontologies', args: {}, rows: 1 };
const values: Call = { tool: 'search_values', args: { ontology: 'world', concept: 'country', property: 'name', text: 'land', max_results: 5 }, rows: 5 };
/** Twenty calls, three of 3,000 rows among them. */
const CALLS = [graphs, point, some, point, values, many, point, wrong, some, point, many, point, some, values, point, many, point, some, graphs, point];

/** An isolate of the platform has 128 MB; workerd by itself has no limit, and does not collect garbage before it uses a gigabyte. */
const HEAP = '--max-old-space-size=128';

export async function run(): Promise<void> {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = HEAP;
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  const running = await startScripts({ service: { script: await buildService('mcp-load'), bindings, more: SERVICE_BINDINGS } });
  try {
    const base = running.urls.service as string;
    await loadModel(base, adminToken);
    const tokens: string[] = [];
    for (let user = 0; user < USERS; user++) {
      const name = `reader_${user}`;
      const body = { ontology_name: '', query: `CREATE USER ${name}; GRANT QUERY ON ALL ontology.world TO USER ${name}; CREATE TOKEN FOR ${name}` };
      tokens.push(JSON.parse(String(await post(`${base}/svc/api/query`, body, { 'x-api-key': adminToken }))).data[0].token);
    }
    const clients = { url: `${base}/svc/api/mcp`, tokens, clients: CLIENTS, calls: CALLS };
    const warm = await work({ ...clients, milliseconds: WARM_UP * 1000 });
    const memory: number[] = [];
    const sampling = setInterval(() => memory.push(workerdMemory()), SAMPLE_MS);
    const result = await work({ ...clients, milliseconds: SECONDS * 1000 });
    clearInterval(sampling);
    const fifths = Array.from({ length: 5 }, (_, i) => median(memory.slice(Math.floor((memory.length * i) / 5), Math.floor((memory.length * (i + 1)) / 5))));
    const [first = Number.NaN] = fifths;
    const last = fifths.at(-1) ?? Number.NaN;
    table(
      `(mcp-load) ${CLIENTS} clients of ${USERS} users for ${SECONDS} s, ${database.name}`,
      ['loops', 'calls', 'calls/s', 'answers', 'faults', ...fifths.map((_, i) => `memory, fifth ${i + 1}`), 'last to first'],
      [
        [
          String(result.loops),
          String(result.calls),
          (result.calls / SECONDS).toFixed(0),
          `${(result.bytes / 2 ** 20).toFixed(0)} MiB`,
          String(result.faultCount + warm.faultCount),
          ...fifths.map((value) => `${value.toFixed(0)} MiB`),
          ratio(last, first),
        ],
      ],
    );
    table(
      '(mcp-load) a call, by the rows of its answer',
      ['rows', 'p50', 'p95'],
      result.milliseconds.map(({ rows, p50, p95 }) => [rows, ms(p50), ms(p95)]),
    );
    note(
      `Each loop: initialization, tools/list and ${CALLS.length} calls; half of the clients use 2025-11-25, half 2026-07-28. Memory: the resident memory of workerd, the median of each fifth of the time, after ${WARM_UP} s that do not count. Aims: no error, the last fifth within x1.05 of the first.`,
    );
    const faults = [...warm.faults, ...result.faults];
    if (faults.length > 0) throw new Error(`there were errors:\n${faults.join('\n')}`);
    if (last > first * 1.05) throw new Error('memory grows');
  } finally {
    await running.stop();
  }
}
