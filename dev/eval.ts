/** `npm run eval -- --set FILE --ontology NAME`: measures the quality of answers to questions in words (docs/ai.md). */
import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Failure } from '../src/cli/failure.ts';
import { loadNodeParser } from '../src/cli/node-parser.ts';
import { graphOfService, judgeOf, type Mutant, mutate, tableOf } from './eval/mutate/run.ts';
import { askOracle, askQuestion, type Outcome } from './eval/outcome.ts';
import { findPlace, type Place } from './eval/place.ts';
import { startRelay } from './eval/relay.ts';
import { type ReplayModel, startReplay } from './eval/replay.ts';
import { jsonOf, lineOf, reportOf, totalsOf } from './eval/report.ts';
import { overMcp } from './eval/service.ts';
import { inAllWords, type Question, readSet } from './eval/set.ts';

const HELP = `Usage: npm run eval -- --set FILE --ontology NAME [options]

Asks each question of a set over MCP (query_data) and compares the rows with those of the set's own SQL.

  --oracle           no questions: the set's SQL only passes the checks, and is compared with the
                     SQL on the tables if the session file of npm start names the database
  --mutate           no questions: the set's SQL is broken in many ways; which of them the checks catch
  --replay PORT      a model that has the set's SQL by heart listens there (start the service with
                     LLM_TYPE=openai-compatible LLM_BASE_URL=http://127.0.0.1:PORT/v1 LLM_MODEL=x):
                     the whole chain without a model; with --mutate, with the broken statements
  --relay DIR        a model that listens there instead: it writes each prompt to a file NNNN.prompt.md of
                     the folder and waits for NNNN.answer.json, so that any model, or you, can answer
                     (start the service in the same way, and with a long LLM_TIMEOUT)
  --port PORT        the port of --relay (default 8899)
  --agent NAME       the agent with which the questions are asked
  --parallel N       so many questions at the same time (default 1; not with --replay)
  --also             each question in its other words too, where the set has some
  --limit N          the first N questions only
  --only TEXT        questions whose id or tags contain the text
  --min PERCENT      exit code 1 where the accuracy is below it (default 0; with --oracle 100)
  --json FILE        write all results there
  --url URL, --token TOKEN
                     the service (KG_URL, KG_TOKEN), else the session file of npm start
  --as NAME=TOKEN    the token of a caller that the set names; of others one is made, which needs an
                     administrator's token

--set and --ontology may be given several times, in pairs. Exit codes: 0 done, 1 below the minimum or
something could not be asked, 2 called wrongly.`;

/** Output: results to `out`, errors to `err`. */
export interface Output {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Runs the command. @returns the exit code */
export async function main(args: readonly string[], env: Env, output: Output): Promise<number> {
  try {
    const call = read(args);
    if (call === undefined) {
      output.out(HELP);
      return 0;
    }
    return await run(call, env, output.out);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    output.err(error.exitCode === 2 ? `${error.message}\nnpm run eval -- --help lists the options` : error.message);
    return error.exitCode;
  }
}

interface Call {
  readonly sets: readonly { readonly file: string; readonly ontology: string }[];
  readonly mode: 'ask' | 'oracle' | 'mutate';
  readonly also: boolean;
  /** undefined: the service uses its own model. */
  readonly replay: number | undefined;
  /** The folder of a relay, and its port. */
  readonly relay: { readonly folder: string; readonly port: number } | undefined;
  readonly agent: string | undefined;
  readonly parallel: number;
  readonly limit: number;
  readonly only: string | undefined;
  readonly min: number;
  readonly json: string | undefined;
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly tokens: Readonly<Record<string, string>>;
}

/** undefined: print the help. @throws Failure */
function read(args: readonly string[]): Call | undefined {
  const wrong = (message: string): Failure => new Failure(message, 2);
  let values: ReturnType<typeof parsed>;
  try {
    values = parsed(args);
  } catch (error) {
    throw wrong((error as Error).message);
  }
  if (values.help) return undefined;
  const files = values.set ?? [];
  const ontologies = values.ontology ?? [];
  if (files.length === 0) throw wrong('--set FILE is missing');
  if (files.length !== ontologies.length) throw wrong('each --set needs its own --ontology');
  if (values.oracle && values.replay !== undefined) throw wrong('--oracle needs no model, so --replay is not allowed');
  if (values.oracle && values.mutate) throw wrong('--oracle and --mutate cannot be combined');
  if (values.relay !== undefined && (values.replay !== undefined || values.oracle || values.mutate))
    throw wrong('--relay cannot be combined with --replay, --oracle or --mutate');
  if (values.parallel !== undefined && values.replay !== undefined) throw wrong('--parallel and --replay cannot be combined');
  const number = (name: 'limit' | 'min' | 'replay' | 'port' | 'parallel', otherwise: number): number => {
    const text = values[name];
    if (text === undefined) return otherwise;
    if (!/^\d+(\.\d+)?$/.test(text)) throw wrong(`--${name} must be a number`);
    return Number(text);
  };
  return {
    sets: files.map((file, i) => ({ file, ontology: ontologies[i] as string })),
    mode: values.oracle ? 'oracle' : values.mutate ? 'mutate' : 'ask',
    also: values.also ?? false,
    replay: values.replay === undefined ? undefined : number('replay', 0),
    relay: values.relay === undefined ? undefined : { folder: values.relay, port: number('port', 8899) },
    agent: values.agent,
    parallel: Math.max(1, Math.floor(number('parallel', 1))),
    limit: number('limit', Number.POSITIVE_INFINITY),
    only: values.only,
    min: number('min', values.oracle ? 100 : 0) / 100,
    json: values.json,
    url: values.url,
    token: values.token,
    tokens: Object.fromEntries(
      (values.as ?? []).map((pair) => {
        const [, name, token] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
        if (name === undefined || token === undefined) throw wrong('--as must have the form NAME=TOKEN');
        return [name, token];
      }),
    ),
  };
}

const TEXT = { type: 'string' } as const;
const parsed = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    options: {
      set: { type: 'string', multiple: true },
      ontology: { type: 'string', multiple: true, short: 'o' },
      as: { type: 'string', multiple: true },
      also: { type: 'boolean' },
      oracle: { type: 'boolean' },
      mutate: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      limit: TEXT,
      only: TEXT,
      min: TEXT,
      replay: TEXT,
      relay: TEXT,
      port: TEXT,
      agent: TEXT,
      parallel: TEXT,
      json: TEXT,
      url: TEXT,
      token: TEXT,
    },
  }).values;

async function run(call: Call, env: Env, out: (line: string) => void): Promise<number> {
  const sets = [];
  for (const { file, ontology } of call.sets) sets.push({ ontology, questions: await questionsOf(file, call) });
  const model = call.replay === undefined ? undefined : await startReplay(call.replay);
  const relay = call.relay === undefined ? undefined : await startRelay(call.relay.folder, call.relay.port);
  try {
    const place = await findPlace({ url: call.url, token: call.token, tokens: call.tokens, env });
    try {
      return await (call.mode === 'mutate' ? mutateAll : askAll)({ sets, call, place, model, out });
    } finally {
      await place.close();
    }
  } finally {
    await model?.close();
    await relay?.close();
  }
}

async function questionsOf(file: string, { limit, only, mode, also }: Call): Promise<readonly Question[]> {
  const all = await readSet(file).catch((error: Error) => {
    throw new Failure(error.message);
  });
  return (also && mode === 'ask' ? inAllWords(all) : all)
    .filter((q) => only === undefined || q.id.includes(only) || q.tags.includes(only))
    .filter((q) => mode === 'ask' || q.gold !== null)
    .slice(0, limit);
}

interface Job {
  readonly sets: readonly { readonly ontology: string; readonly questions: readonly Question[] }[];
  readonly call: Call;
  readonly place: Place;
  readonly model: ReplayModel | undefined;
  readonly out: (line: string) => void;
}

async function askAll({ sets, call, place, model, out }: Job): Promise<number> {
  const outcomes: Outcome[] = [];
  for (const { ontology, questions } of sets) {
    const service = overMcp(place, ontology, call.agent);
    try {
      await inParallel(questions, call.parallel, async (question) => {
        model?.play(
          new Map([[question.question, question.gold === null ? { refusal: 'This is not in the graph' } : { sql: question.gold, concept: question.concept }]]),
        );
        const outcome = call.mode === 'oracle' ? await askOracle(service, question, place.tables) : await askQuestion(service, question);
        outcomes.push(outcome);
        out(lineOf(outcome));
      });
    } finally {
      await service.close();
    }
  }
  for (const line of reportOf(outcomes, call.mode === 'oracle')) out(line);
  if (call.json !== undefined) await writeFile(call.json, jsonOf(outcomes, { mode: call.mode, ontologies: sets.map((s) => s.ontology) }));
  return outcomes.length === 0 || outcomes.some((o) => o.kind === 'failed') || totalsOf(outcomes).accuracy < call.min ? 1 : 0;
}

/** Works on all of a list, so many at the same time. */
async function inParallel<T>(all: readonly T[], most: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, worker));
}

async function mutateAll({ sets, call, place, model, out }: Job): Promise<number> {
  const parser = await loadNodeParser();
  const mutants: Mutant[] = [];
  for (const { ontology, questions } of sets) {
    const service = overMcp(place, ontology);
    try {
      const graph = await graphOfService(await place.restOf(undefined), ontology, parser);
      for (const question of questions) {
        const made = await mutate(question, graph, parser, judgeOf(service, place.restOf, ontology, model));
        mutants.push(...made);
        const countOf = (fate: Mutant['fate']): number => made.filter((m) => m.fate === fate).length;
        out(
          `${question.id.padEnd(36)} ${made.length} mutants, ${countOf('planner') + countOf('datasource') + countOf('run')} refused, ${countOf('other')} with other rows`,
        );
      }
    } finally {
      await service.close();
    }
  }
  for (const line of ['', ...tableOf(mutants, model !== undefined)]) out(line);
  if (call.json !== undefined) await writeFile(call.json, `${JSON.stringify(mutants, null, 2)}\n`);
  return mutants.length === 0 ? 1 : 0;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2), process.env, { out: console.log, err: console.error });
}
