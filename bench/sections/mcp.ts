/** (mcp) A tool call that runs SQL against the same query over the REST API. */
import { isDeepStrictEqual } from 'node:util';
import { buildService } from '../lib/build.ts';
import { callOf, REVISIONS, type Revision } from '../lib/mcp.ts';
import { interleaved, median, ms, quantile, ratio, timed } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const QUERIES = [
  { name: 'point query', sql: "SELECT name, population, country_code FROM svc.city WHERE entity_id = 'city:2761369'", rounds: 500 },
  { name: '500 rows', sql: "SELECT entity_id, name, population, country_code FROM svc.city WHERE country_code = 'DEU' LIMIT 500", rounds: 300 },
  { name: '3,000 rows', sql: 'SELECT entity_id, name, population, country_code FROM svc.city LIMIT 3000', rounds: 150 },
] as const;

const KiB = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`;

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  const running = await startScripts({ service: { script: await buildService('mcp'), bindings, more: SERVICE_BINDINGS } });
  try {
    const base = running.urls.service as string;
    await loadModel(base, adminToken);
    const key = { 'x-api-key': adminToken };
    const rows: string[][] = [];
    for (const { name, sql, rounds } of QUERIES) {
      const rest = () => post(`${base}/svc/api/query`, { ontology_name: 'world', query: sql }, key);
      const over = (revision: Revision, search = '') => {
        const { body, headers } = callOf(revision, 'execute_sql', { ontology: 'world', query: sql });
        return () => post(`${base}/svc/api/mcp${search}`, body, { ...headers, ...key });
      };
      const ask = { rest, '2025-11-25': over('2025-11-25'), '2026-07-28': over('2026-07-28'), once: over('2026-07-28', '?content=structured') };
      const restAnswer = await rest();
      const expected = JSON.parse(String(restAnswer)).data;
      let answer = 0;
      for (const revision of REVISIONS) {
        const bytes = await ask[revision]();
        const { result } = JSON.parse(String(bytes));
        const text = JSON.parse(result.content[0].text);
        if (expected.length === 0 || !isDeepStrictEqual(result.structuredContent?.rows, expected) || !isDeepStrictEqual(text, result.structuredContent))
          throw new Error(`not the same answer over ${revision}: ${name}: ${String(bytes).slice(0, 300)}`);
        answer = bytes.length;
      }
      const took = await interleaved(
        {
          rest: () => timed(ask.rest),
          '2025-11-25': () => timed(ask['2025-11-25']),
          '2026-07-28': () => timed(ask['2026-07-28']),
          once: () => timed(ask.once),
        },
        rounds,
        80,
      );
      const against = (revision: Revision | 'once', q: number): string => ratio(quantile(took[revision], q), quantile(took.rest, q));
      const worst = Math.max(...REVISIONS.map((revision) => median(took[revision])));
      aim('mcp', `a tool call against the same REST query, ${name}`, worst / median(took.rest), { most: 1.25 });
      aim('mcp', `the same, rows once, ${name}`, median(took.once) / median(took.rest), { most: 1.25 });
      rows.push([
        name,
        `${KiB(restAnswer.length)} / ${KiB(answer)}`,
        ms(median(took.rest)),
        ms(median(took['2025-11-25'])),
        ms(median(took['2026-07-28'])),
        against('2025-11-25', 0.5),
        against('2026-07-28', 0.5),
        against('once', 0.5),
        against('2025-11-25', 0.95),
        against('2026-07-28', 0.95),
      ]);
    }
    table(
      `(mcp) execute_sql against POST /query, same workerd, ${database.name}`,
      [
        'query',
        'answers, REST / MCP',
        'REST p50',
        '2025-11-25 p50',
        '2026-07-28 p50',
        '2025-11-25, p50',
        '2026-07-28, p50',
        'rows once, p50',
        '2025-11-25, p95',
        '2026-07-28, p95',
      ],
      rows,
    );
    note(
      'The aim is x1.25 at p50. One request after the other on a kept-alive connection, with a cached credential. By default a tool returns each row as structured content and in a text; with ?content=structured (rows once, 2026-07-28) the text has no rows.',
    );
  } finally {
    await running.stop();
  }
}
