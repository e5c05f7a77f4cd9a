/** `kg export --format` and `kg import --format`: other formats of ontologies (docs/exchange.md). */
import { mkdir } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { createSqlReader } from '../../language/expressions.ts';
import { printedModel } from '../../language/print.ts';
import { splitScript } from '../../language/split.ts';
import { scriptOf as fetchScript, writeModel } from '../export.ts';
import { Failure, printable } from '../failure.ts';
import { readModelFiles } from '../model-files.ts';
import { loadNodeParser } from '../node-parser.ts';
import { findService } from '../service-client.ts';
import { requireNoLinks, writeBelow } from '../written.ts';
import type { Imported } from './ossie-import.ts';
import { modelOfScripts, type ScriptModel, scriptOf, titleOf, withoutRoot } from './script-model.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ExchangeOptions {
  readonly format: string | undefined;
  /** The folder to write. */
  readonly to: string | undefined;
  readonly ontology: string | undefined;
}

/** A file of an export. */
export interface ExchangeFile {
  /** A name without a folder. */
  readonly name: string;
  readonly text: string;
}

/** A format. */
export interface Format {
  /** The endings of its files. */
  readonly endings: readonly string[];
  /** Writes a model. Losses say what the files do not have in a form that other tools read. */
  write(source: ScriptModel): Promise<{ readonly files: readonly ExchangeFile[]; readonly losses: readonly string[] }>;
  /** Reads files. */
  read(files: readonly { readonly path: string; readonly text: string }[], reader: ScriptModel['reader']): Promise<Imported>;
}

/** Each format is loaded on its first use. */
const FORMATS: Readonly<Record<string, () => Promise<Format>>> = {
  ossie: async () => (await import('./ossie.ts')).OSSIE,
  rdf: async () => (await import('./rdf.ts')).RDF,
};

async function formatOf(name: string | undefined): Promise<Format> {
  const load = name !== undefined && Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (load === undefined) throw new Failure(`--format must be one of ${Object.keys(FORMATS).join(', ')}`, 2);
  return load();
}

const product = (env: Env): string => env.PRODUCT_NAME?.trim() || 'svc';

/**
 * Writes an ontology of the service, or model files, in a format.
 * @returns lines to print: what the format cannot say, then a summary
 * @throws Failure
 */
export async function exportAs(paths: readonly string[], { format, to, ontology }: ExchangeOptions, env: Env): Promise<string[]> {
  const { write } = await formatOf(format);
  if (to === undefined) throw new Failure('export --format needs --to DIR', 2);
  if (paths.length === 0 && ontology === undefined) throw new Failure('export --format needs --ontology NAME or FILES', 2);
  const files =
    paths.length > 0 ? await readModelFiles(paths, env) : [{ path: ontology ?? '', text: await fetchScript(await findService(env), ontology ?? '') }];
  const { source, losses } = withoutRoot(modelOfScripts(files, ontology, await loadNodeParser(), product(env)));
  const made = await write(source);
  const base = resolve(env.INIT_CWD ?? '.');
  const folder = resolve(base, to);
  await requireNoLinks(base, folder, []);
  await mkdir(folder, { recursive: true });
  const outside = made.files.find(({ name }) => basename(name) !== name);
  if (outside !== undefined) throw new Error(`${outside.name} is not a file name`);
  for (const { name, text } of made.files) await writeBelow(base, folder, name, text);
  return [
    // only the start: the rest may have a password
    ...source.left.map((text) => `not exported, because it is not part of a model: ${printable(text.trim().split(/\s+/).slice(0, 3).join(' '))}`),
    ...[...losses, ...made.losses].map((loss) => `loss: ${printable(loss)}`),
    `${source.name}: ${made.files.length} files in ${to}, ${counted(losses.length + made.losses.length)}`,
  ];
}

/**
 * Reads files in a format and writes model files, after it has checked the model.
 * @returns lines to print: what the model does not have, then a summary
 * @throws Failure
 */
export async function importAs(paths: readonly string[], { format, to, ontology }: ExchangeOptions, env: Env): Promise<string[]> {
  const { read, endings } = await formatOf(format);
  if (to === undefined) throw new Failure('import needs --to DIR', 2);
  const parser = await loadNodeParser();
  const imported = await read(await readModelFiles(paths, env, endings), createSqlReader(parser, product(env)));
  const name = ontology ?? imported.name;
  requireSingle(printedModel(imported.model, name, product(env)));
  const script = scriptOf(imported.model, name, product(env), imported.statements);
  const checked = modelOfScripts([{ path: 'the imported model', text: script }], name, parser, product(env));
  const policies = checked.others.map(titleOf).filter((title) => title.startsWith('policy '));
  const lines = await writeModel(scriptOf(checked.graph.model, name, product(env), checked.others), name, to, true, env);
  return [
    ...imported.losses.map((loss) => `loss: ${printable(loss)}`),
    ...policies.map((title) => `${printable(title)}: the document defines it. Read it before you apply the files`),
    ...lines.slice(0, -1),
    `${lines.at(-1)}, ${counted(imported.losses.length)}`,
  ];
}

/** Checks that expressions and queries of a document, which are copied as they are, do not end their statement and begin another one, such as a policy. @throws Failure */
function requireSingle(statements: readonly string[]): void {
  const other = statements.find((text) => splitScript(text).length !== 1);
  if (other !== undefined) throw new Failure(`the document has an expression or query with several statements: ${printable(other)}`);
}

const counted = (losses: number): string => `${losses} loss${losses === 1 ? '' : 'es'}`;
