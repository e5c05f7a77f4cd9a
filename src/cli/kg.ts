/** `npm run kg -- COMMAND`: the command line (docs/design/platform-rules.md#the-command-line). */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createToken } from '../auth/tokens.ts';
import { quoteBack } from '../language/quote.ts';
import { type ApplyOptions, apply, plan } from './apply.ts';
import { exportModel } from './export.ts';
import { Failure, faultText } from './failure.ts';
import type { Selection } from './introspect.ts';
import { runScript } from './run.ts';
import { readScript } from './script-file.ts';
import { findService } from './service-client.ts';
import type { Report } from './validate-data.ts';

const HELP = `Usage: npm run kg -- COMMAND

  plan FILES --ontology NAME     show what model files would change; the exit code is 3 if there are changes
  apply FILES --ontology NAME    make an ontology as model files say, in one version; creates it if it does not exist
    [--source s] [--expect v]    FILES may be folders; files that start with CREATE ONTOLOGY need no name
    [--prune] [--all] [--yes]    --prune drops what the files no longer contain: what the same --source made,
    [--json]                     or with --all everything; --yes does not ask
  run FILE --ontology NAME       run a script of any statements; the ontology is created if it does not exist
  export --ontology NAME --to DIR
    [--policies]                 write an ontology as model files, one for each concept
  export [FILES] --format F --to DIR
    [--ontology NAME]            write an ontology, or model files, in the format ossie or rdf; prints what the format cannot say
  import FILES --format F --to DIR
    [--ontology NAME]            read files in the format ossie or rdf and write model files; prints what they do not contain
  fmt FILES [--check]            format model files; --check changes nothing, the exit code is 3 if something would change
  lint FILES                     find missing descriptions, keys, labels and the like; the exit code is 3 for findings
  validate FILE                  check a script without a service; the exit code is 0 if there are only warnings
  validate --ontology NAME --data
                                 check the data of an ontology (keys, foreign keys, indexes) and store numbers
                                 of rows; errors give exit code 1. Connects to the catalog (CATALOG_URL) and to
                                 datasources (DATASOURCE_<NAME>), or to those of npm start (session file)
  advise --ontology NAME         propose how Citus should distribute the tables of an ontology, with reasons;
    [--datasource d] [--small N] tables of up to N rows (1000000) may be copied to each worker. Connects like --data
  doctor                         check service, token, catalog and datasources; a failure gives exit code 1
  introspect DATASOURCE          print a starting script for the tables of a datasource
    [--schema s] [--tables a,b]  (its secret DATASOURCE_<NAME>, or for main the session file's database);
    [--update FILE]              --update adds what is new in the database to a model file
  token USER                     print a new API token of a user
  token --new                    print a new value for ADMIN_TOKEN, without a service
  help                           print this help

FILE may be - for the standard input. The service is that of KG_URL and KG_TOKEN, or else that of the
session file that npm start writes (SESSION_FILE, default .dev/session.json). PRODUCT_NAME is the prefix
of its paths (default svc). Exit codes: 0 success, 1 failure, 2 wrong arguments.`;

type Env = Readonly<Record<string, string | undefined>>;

/** Receives lines to print: results in `out`, errors in `err`. */
export interface Output {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/** Runs one command. @returns the exit code */
export async function main(args: readonly string[], env: Env, output: Output): Promise<number> {
  try {
    const result = await run(args, env);
    const { lines, exitCode } = Array.isArray(result) ? { lines: result, exitCode: 0 } : result;
    for (const line of lines) output.out(line);
    return exitCode;
  } catch (e) {
    if (!(e instanceof Failure)) throw e;
    output.err(e.exitCode === 2 ? `${e.message}\nnpm run kg -- help lists the commands` : e.message);
    return e.exitCode;
  }
}

/** Runs a command. Those with packages or files of their own are loaded when they are used. @throws Failure */
type Command = (call: Call, env: Env) => Promise<string[] | Report>;

const COMMANDS: Readonly<Record<string, Command>> = {
  plan: ({ operands, files, ontology }, env) => plan(operands, { ...files, ontology }, env),
  apply: ({ operands, files, ontology }, env) => apply(operands, { ...files, ontology }, env),
  run: async (call, env) => {
    const file = await readScript(operandOf(call, 'FILE'), env);
    return runScript(await findService(env), file, call.ontology);
  },
  import: async ({ operands, files, ontology }, env) => {
    const { importAs } = await import('./exchange/exchange.ts');
    return importAs(operands, { format: files.format, to: files.to, ontology }, env);
  },
  export: async ({ operands, files, ontology }, env) => {
    if (files.format !== undefined) {
      const { exportAs } = await import('./exchange/exchange.ts');
      return exportAs(operands, { format: files.format, to: files.to, ontology }, env);
    }
    if (ontology === undefined || files.to === undefined || operands.length > 0) throw new Failure('export needs --ontology NAME and --to DIR', 2);
    return exportModel(await findService(env), ontology, files.to, files.policies, env);
  },
  fmt: async ({ operands, files }, env) => {
    const { format } = await import('./format.ts');
    return format(operands, files.check, env);
  },
  lint: async ({ operands }, env) => {
    const [{ lint }, { readModelFiles }] = await Promise.all([import('./lint.ts'), import('./model-files.ts')]);
    return lint(await readModelFiles(operands, env));
  },
  validate: (call, env) => (call.data ? validateStored(call, env) : validateFile(call, env)),
  advise: async ({ operands, ontology, advice }, env) => {
    if (ontology === undefined || operands.length > 0) throw new Failure('advise needs --ontology NAME, and no operands', 2);
    const [{ advise }, { loadNodeParser }] = await Promise.all([import('./advise.ts'), import('./node-parser.ts')]);
    return advise({ ontology, ...advice }, env, await loadNodeParser());
  },
  doctor: async ({ operands }, env) => {
    if (operands.length > 0) throw new Failure('doctor takes no operands', 2);
    const { doctor } = await import('./doctor.ts');
    return doctor(env);
  },
  introspect: async (call, env) => {
    const datasource = operandOf(call, 'DATASOURCE');
    if (call.files.update !== undefined) {
      const { updateFromDatabase } = await import('./introspect-update.ts');
      return updateFromDatabase(datasource, call.selection, call.files.update, env);
    }
    const { introspect } = await import('./introspect.ts');
    return [await introspect(datasource, call.selection, env)];
  },
  token: async (call, env) => (call.fresh ? [createToken()] : token(operandOf(call, 'USER, or --new'), env)),
  help: async () => [HELP],
};

async function run(args: readonly string[], env: Env): Promise<string[] | Report> {
  const call = read(args);
  const { command } = call;
  if (command === undefined) throw new Failure('a command is missing', 2);
  const found = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (found === undefined) throw new Failure(`unknown command ${command}`, 2);
  return found(call, env);
}

/** The only operand of a command. @throws Failure if it has none, or several */
function operandOf({ command, operands }: Call, what: string): string {
  const [operand, ...more] = operands;
  if (operand === undefined || more.length > 0) throw new Failure(`${command} needs one ${what}`, 2);
  return operand;
}

async function validateStored({ operands, ontology }: Call, env: Env): Promise<Report> {
  if (ontology === undefined || operands.length > 0) throw new Failure('validate --data needs --ontology NAME, and no FILE', 2);
  const [{ validateData }, { loadNodeParser }] = await Promise.all([import('./validate-data.ts'), import('./node-parser.ts')]);
  return validateData(ontology, env, await loadNodeParser());
}

async function validateFile(call: Call, env: Env): Promise<string[] | Report> {
  const file = await readScript(operandOf(call, 'FILE'), env);
  // only this command loads the parser and the planner
  const [{ validateScript }, { loadNodeParser }] = await Promise.all([import('./validate.ts'), import('./node-parser.ts')]);
  return validateScript(file, { parser: await loadNodeParser(), product: env.PRODUCT_NAME?.trim() || 'svc', ontology: call.ontology });
}

interface Call {
  readonly command: string | undefined;
  readonly operands: readonly string[];
  readonly ontology: string | undefined;
  readonly fresh: boolean;
  readonly data: boolean;
  readonly selection: Selection;
  readonly advice: { readonly datasource: string | undefined; readonly small: string | undefined };
  readonly files: Omit<ApplyOptions, 'ontology'> & {
    readonly to: string | undefined;
    readonly format: string | undefined;
    readonly policies: boolean;
    readonly check: boolean;
    readonly update: string | undefined;
  };
}

function read(args: readonly string[]): Call {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ontology: { type: 'string', short: 'o' },
        new: { type: 'boolean' },
        data: { type: 'boolean' },
        datasource: { type: 'string' },
        small: { type: 'string' },
        schema: { type: 'string' },
        tables: { type: 'string' },
        source: { type: 'string' },
        expect: { type: 'string' },
        prune: { type: 'boolean' },
        all: { type: 'boolean' },
        yes: { type: 'boolean' },
        json: { type: 'boolean' },
        to: { type: 'string' },
        format: { type: 'string' },
        policies: { type: 'boolean' },
        check: { type: 'boolean' },
        update: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const [command, ...operands] = positionals;
    return {
      command: values.help ? 'help' : command,
      operands,
      ontology: values.ontology,
      fresh: values.new ?? false,
      data: values.data ?? false,
      selection: { schema: values.schema, tables: values.tables },
      advice: { datasource: values.datasource, small: values.small },
      files: {
        source: values.source,
        expect: values.expect,
        prune: values.prune ?? false,
        all: values.all ?? false,
        yes: values.yes ?? false,
        json: values.json ?? false,
        to: values.to,
        format: values.format,
        policies: values.policies ?? false,
        check: values.check ?? false,
        update: values.update,
      },
    };
  } catch (e) {
    throw new Failure(e instanceof Error ? e.message : 'the arguments cannot be read', 2);
  }
}

async function token(user: string, env: Env): Promise<string[]> {
  const service = await findService(env);
  const { fault, rows } = await service.query(`CREATE TOKEN FOR ${quoteBack(user)}`, '');
  if (fault) throw new Failure(faultText(service.base, fault.code, fault.message, fault.hint));
  const made = rows[0]?.token;
  if (typeof made !== 'string' || !/^\w+$/.test(made)) throw new Failure(`${service.base} returned no token`);
  return [made];
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2), process.env, { out: console.log, err: console.error });
}
