/** (scale) A model of 2,000 concepts and 20,000 properties against one of 20: planning, memory, loading. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { parseModel } from '../../src/ontology/compact.ts';
import { compile } from '../../src/ontology/compile.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { planSelect } from '../../src/planner/index.ts';
import { LARGE_QUERIES, largeModel } from '../lib/large-model.ts';
import { interleaved, median, ms, ratio, timed, us } from '../lib/measure.ts';
import { planContext } from '../lib/planning.ts';
import { aim, note, table } from '../lib/table.ts';

const PROPERTIES = 10;
const MIB = 1024 * 1024;
const mib = (bytes: number): string => `${(Math.max(0, bytes) / MIB).toFixed(2)} MiB`;

export async function run(): Promise<void> {
  const parser = await loadNodeParser();
  const texts = { small: JSON.stringify(largeModel(20, PROPERTIES)), large: JSON.stringify(largeModel(2000, PROPERTIES)) };
  const graphOf = (text: string): Graph => compile(parseModel(text), 'scale');
  const plan = (graph: Graph, text: string) => planSelect(planContext(graph, parser), { text, offset: 0 });
  const graphs = { small: graphOf(texts.small), large: graphOf(texts.large) };

  // the code must be compiled before the measurement
  for (const [name, query] of Object.entries(LARGE_QUERIES)) {
    if (plan(graphs.small, query).sql !== plan(graphs.large, query).sql) throw new Error(`the plans of ${name} differ`);
    for (let i = 0; i < 500; i++) for (const graph of [graphs.small, graphs.large]) plan(graph, query);
  }
  const rows: string[][] = [];
  for (const [name, query] of Object.entries(LARGE_QUERIES)) {
    const each = (graph: Graph) => async (): Promise<number> => (await timed(() => Array.from({ length: 5 }, () => plan(graph, query)))) / 5;
    const took = await interleaved({ small: each(graphs.small), large: each(graphs.large) }, 200, 20);
    aim('scale', `planning (${name}) over 2,000 concepts against 20`, median(took.large) / median(took.small), { most: 1.2 });
    rows.push([name, us(median(took.small)), us(median(took.large)), ratio(median(took.large), median(took.small))]);
  }
  table('(scale) planning a query that has not been seen', ['query', '20 concepts', '2,000 concepts', 'ratio'], rows);

  const first = (text: string) => (): Promise<number> => timed(() => plan(graphOf(text), LARGE_QUERIES.path));
  const load = (text: string) => (): Promise<number> => timed(() => parseModel(text));
  const took = await interleaved(
    { loadSmall: load(texts.small), loadLarge: load(texts.large), firstSmall: first(texts.small), firstLarge: first(texts.large) },
    10,
    3,
  );
  const memory = { small: heapOf(texts.small, plan), large: heapOf(texts.large, plan) };
  aim('scale', 'a model of 2,000 concepts in memory, one query planned', memory.large.planned / 2 ** 20, { most: 12 }, 'MiB');
  const sized = (what: string, of: (size: 'small' | 'large') => string): string[] => [what, of('small'), of('large')];
  table(
    '(scale) the model in memory',
    ['', '20 concepts', '2,000 concepts'],
    [
      sized('JSON in the catalog', (s) => mib(Buffer.byteLength(texts[s]))),
      sized('heap: the parsed model', (s) => mib(memory[s].model)),
      sized('heap: with its graph, one query planned', (s) => mib(memory[s].planned)),
      sized('heap: with its graph, a query of each concept planned', (s) => mib(memory[s].all)),
      sized('parsing the JSON', (s) => ms(median(s === 'small' ? took.loadSmall : took.loadLarge))),
      sized('parsing, building the graph, planning the first query', (s) => ms(median(s === 'small' ? took.firstSmall : took.firstLarge))),
    ],
  );
  note('Aims: planning x1.20, less than 12 MiB of heap with one query planned.');
}

/** Bytes of heap that a model uses, for each step. */
function heapOf(text: string, plan: (graph: Graph, text: string) => unknown): { model: number; planned: number; all: number } {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  const model = parseModel(text);
  const parsed = used() - before;
  const graph = compile(model, 'scale');
  plan(graph, LARGE_QUERIES.path);
  const planned = used() - before;
  for (const concept of graph.concepts) plan(graph, `SELECT entity_id, entity_label FROM esvc.${concept.name} LIMIT 1`);
  const all = used() - before;
  if (graph.model !== model) throw new Error('the model was let go');
  return { model: parsed, planned, all };
}
