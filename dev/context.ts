/** `npm run context`: measures the part of a graph that a language model reads before it writes SQL (docs/ai.md#how-long-a-prompt-is). Needs no service and no model. */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { largeModel } from '../bench/lib/large-model.ts';
import { modelOfScripts } from '../src/cli/exchange/script-model.ts';
import { Failure } from '../src/cli/failure.ts';
import { loadNodeParser } from '../src/cli/node-parser.ts';
import { Knowledge, MAX_PROMPT } from '../src/llm/knowledge.ts';
import { rank } from '../src/llm/rank.ts';
import { type RankIndex, rankIndex } from '../src/llm/rank-index.ts';
import { sqlRules } from '../src/llm/templates.ts';
import { tokensOf } from '../src/llm/tree.ts';
import { compile } from '../src/ontology/compile.ts';
import type { Graph } from '../src/ontology/graph.ts';
import { subjectsOf } from '../src/service/ops/question-model.ts';
import type { QuestionModel, ServiceRequest, Subject } from '../src/service.ts';
import { type GoldQuestion, namesIn, readQuestions, readTables, type SourceTable, subjectsOfTables, withJoins } from './context/schemas.ts';

const HELP = `Usage: npm run context -- --sizes
       npm run context -- --tables FILE --gold FILE [--db NAME] [--joins FILE] [--whole] [--missing N]

--sizes       the tokens of the graph in the first prompt, by size of the model
--tables      the schemas of a public question set: the file tables.json of Spider or BIRD, or dev_tables.json of BEAVER
--gold        its questions with SQL: dev.json; may be given several times. Prints the share of questions whose SQL
              uses only tables and columns that are in the first prompt, without values and without a model
--db NAME     the database of questions that do not name one
--joins FILE  pairs of columns that refer to each other, which the schemas lack (dw_join_keys.json of BEAVER)
--whole       all databases of the file as one graph
--missing N   lists N questions whose names are missing

Exit codes: 0 done, 2 called wrongly.`;

/** The prompts of a question for SQL: one, and the `retries` of an agent without this option. */
const MAX_PROMPTS = 4;
/** Characters of a prompt that the question and its settings take. */
const AROUND = 400;

interface Known {
  readonly model: QuestionModel;
  readonly index: RankIndex;
}

let made = 0;
function knownOf(subjects: readonly Subject[]): Known {
  const byName = new Map(subjects.map((s) => [s.name.toLowerCase(), s]));
  const id = `graph ${made++}`;
  // values are not read, so no caller is needed
  const caller = undefined as unknown as QuestionModel['caller'];
  const model = { caller, ontology: 'graph', version: id, key: id, shape: id, subjects, subject: (name: string) => byName.get(name.toLowerCase()) };
  return { model, index: rankIndex(subjects) };
}

/** What a model reads of a graph for a question: the first prompt, chosen only by words. */
function contextOf({ model, index }: Known, question: string): { readonly text: string; readonly knowledge: Knowledge } {
  const { subjects } = model;
  const ranked = rank(question, subjects, { index });
  // values are not read, so no request is needed
  const request = undefined as unknown as ServiceRequest;
  const knowledge = Knowledge.byNames({ request, model, subjects, question, product: 'svc', depth: undefined, ranked, about: [] });
  return { text: knowledge.text(roomFor(question)), knowledge };
}

const roomFor = (question: string): number => MAX_PROMPT - sqlRules('svc', 'ask').length - question.length - AROUND;

const graphOf = async (file: string): Promise<Graph> => {
  const text = await readFile(new URL(`../examples/${file}/model.kg`, import.meta.url), 'utf8');
  return modelOfScripts([{ path: file, text }], file, await loadNodeParser(), 'svc').graph;
};

const SIZES: readonly (readonly [name: string, graph: () => Promise<Graph>, question: string])[] = [
  ['world', () => graphOf('world'), 'Which countries have more than ten cities?'],
  ['bikehire', () => graphOf('bikehire'), 'How many hires has each branch?'],
  ...([11, 16, 24, 342, 2000] as const).map(
    (n) => [`generated, 20 columns each, ${n}`, async () => compile(largeModel(n, 20), 'graph'), 'How many rows of concept_7 has each concept_5?'] as const,
  ),
  ['generated, 50 columns each, 2000', async () => compile(largeModel(2000, 50), 'graph'), 'How many rows of concept_7 has each concept_5?'],
];

async function sizes(out: (line: string) => void): Promise<void> {
  out('| Model | Concepts | Concepts in the prompt | Characters | Tokens | Milliseconds, later questions |');
  out('|---|---:|---:|---:|---:|---:|');
  for (const [name, graph, question] of SIZES) {
    const subjects = subjectsOf(await graph(), { condition: () => null });
    const known = knownOf(subjects);
    contextOf(known, question);
    const begun = performance.now();
    const { text, knowledge } = contextOf(known, `${question} `);
    const took = performance.now() - begun;
    const part = knowledge.isWhole ? 'all' : String(knowledge.part.length);
    out(`| ${name} | ${subjects.filter((s) => s.kind === 'concept').length} | ${part} | ${text.length} | ${tokensOf(text)} | ${took.toFixed(0)} |`);
  }
}

interface Found {
  readonly question: GoldQuestion;
  readonly missing: readonly string[];
  readonly isWhole: boolean;
  /**
   * How many prompts it takes to show all names, if a model reports the tables that are missing; undefined if they are not shown in as many as a question has. It can only
   * report those whose names a prompt lists.
   */
  readonly prompts: number | undefined;
}

/** The names of the SQL that are not in the prompts. */
function missingIn(known: Known, tables: readonly SourceTable[], question: GoldQuestion): Found {
  const { text, knowledge } = contextOf(known, question.question);
  const missing = lacking(text, knowledge, tables, question);
  const { isWhole } = knowledge;
  let shown = text;
  let lacks = missing;
  let prompts = 1;
  for (; lacks.length > 0 && prompts < MAX_PROMPTS; prompts++) {
    const listed = shown.toLowerCase();
    const reported = [...new Set(lacks.map((name) => name.replace(/\..*/, '')))].filter((name) => isNamed(listed, name.toLowerCase()));
    if (knowledge.widenByNames(`${reported.join(', ')} are not shown`) === undefined) break;
    shown = knowledge.text(roomFor(question.question));
    lacks = lacking(shown, knowledge, tables, question);
  }
  return { question, missing, isWhole, prompts: lacks.length === 0 ? prompts : undefined };
}

/** The names of the SQL that are not in a text: a table, or a column in the lines of the graph. */
function lacking(text: string, knowledge: Knowledge, tables: readonly SourceTable[], question: GoldQuestion): readonly string[] {
  const shown = new Set(knowledge.part.map((s) => s.name.toLowerCase()));
  const blocks = blocksOf(text);
  const missing: string[] = [];
  for (const [table, columns] of namesIn(question.sql, tables)) {
    const name = table.name.toLowerCase();
    if (!shown.has(name)) missing.push(table.name);
    else {
      const block = blocks.get(name) ?? '';
      for (const column of columns) if (!isNamed(block, column.toLowerCase())) missing.push(`${table.name}.${column}`);
    }
  }
  return missing;
}

/** The lines of each concept, by its name in lower case: a line with the name, and indented lines with its columns. */
function blocksOf(text: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  let name = '';
  for (const line of text.toLowerCase().split('\n')) {
    if (line.startsWith('relationships (')) break;
    if (!line.startsWith(' '))
      name =
        /^`([^`]+)`|^([^\s:<]+)/
          .exec(line)
          ?.slice(1)
          .find((part) => part !== undefined) ?? '';
    blocks.set(name, `${blocks.get(name) ?? ''}\n${line}`);
  }
  return blocks;
}

const isNamed = (text: string, name: string): boolean => new RegExp(`(?<![\\w$])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w$])`).test(text);

async function gold(call: Call, out: (line: string) => void): Promise<void> {
  const read = await readTables(call.tables ?? '');
  const databases = call.joins === undefined ? read : await withJoins(read, call.joins);
  const questions = (await Promise.all(call.gold.map(readQuestions))).flat();
  const all = [...databases].flatMap(([, tables]) => tables);
  const whole = call.whole ? knownOf(subjectsOfTables(all)) : undefined;
  const known = new Map<string, Known>();
  const results: Found[] = [];
  for (const q of questions) {
    const db = q.db === '' ? (call.db ?? '') : q.db;
    const tables = databases.get(db);
    if (tables === undefined) throw new Failure(`${call.tables}: no database ${db}`);
    const graph = whole ?? known.get(db) ?? knownOf(subjectsOfTables(tables));
    known.set(db, graph);
    results.push(missingIn(graph, tables, q));
  }
  const right = results.filter((r) => r.missing.length === 0);
  const parts = results.filter((r) => !r.isWhole);
  const share = (n: number, of: number): string => (of === 0 ? '-' : `${((100 * n) / of).toFixed(1)} %`);
  const dbs = [...new Set(questions.map((q) => (q.db === '' ? (call.db ?? '') : q.db)))];
  const counts = dbs.map((db) => databases.get(db)?.length ?? 0);
  out(`questions: ${results.length}, databases: ${dbs.length}, tables: ${call.whole ? all.length : `${Math.min(...counts)} to ${Math.max(...counts)}`}`);
  out(`all names in the first prompt: ${right.length} of ${results.length} (${share(right.length, results.length)})`);
  for (let n = 2; n <= MAX_PROMPTS; n++) {
    const later = results.filter((r) => r.prompts !== undefined && r.prompts <= n).length;
    out(`in at most ${n} prompts, if a model reports the tables that are missing: ${later} of ${results.length} (${share(later, results.length)})`);
  }
  out(`of ${parts.length} questions whose graph is not written whole: ${share(parts.filter((r) => r.missing.length === 0).length, parts.length)}`);
  for (const { question, missing } of results.filter((r) => r.missing.length > 0).slice(0, call.missing))
    out(`- ${question.db}: ${question.question.slice(0, 150)}: ${missing.join(', ')}`);
}

interface Call {
  readonly sizes: boolean;
  readonly tables: string | undefined;
  readonly gold: readonly string[];
  readonly db: string | undefined;
  readonly joins: string | undefined;
  readonly whole: boolean;
  readonly missing: number;
}

function read(args: readonly string[]): Call | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean' },
        sizes: { type: 'boolean' },
        tables: { type: 'string' },
        gold: { type: 'string', multiple: true },
        db: { type: 'string' },
        joins: { type: 'string' },
        whole: { type: 'boolean' },
        missing: { type: 'string' },
      },
    });
    const call = {
      sizes: values.sizes ?? false,
      tables: values.tables,
      gold: values.gold ?? [],
      db: values.db,
      joins: values.joins,
      whole: values.whole ?? false,
      missing: Number(values.missing ?? 0),
    };
    if (values.help) return undefined;
    if (!call.sizes && (call.tables === undefined || call.gold.length === 0)) throw new Failure('give --sizes, or --tables and --gold', 2);
    return call;
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(error instanceof Error ? error.message : String(error), 2);
  }
}

/** Runs the command. @returns the exit code */
export async function main(args: readonly string[], output: { readonly out: (line: string) => void; readonly err: (line: string) => void }): Promise<number> {
  try {
    const call = read(args);
    if (call === undefined) output.out(HELP);
    else if (call.sizes) await sizes(output.out);
    else await gold(call, output.out);
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    output.err(error.message);
    return error.exitCode;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2), { out: console.log, err: console.error });
}
