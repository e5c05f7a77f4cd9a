/** The SQL parser in Node, for the command line and for tests. */
import { access, readFile } from 'node:fs/promises';
import { createParser, type ParserGlue, type SqlParser } from '../language/parser.ts';

const BUILT = new URL('../../dist/parser/', import.meta.url);

let loading: Promise<SqlParser> | undefined;

/** One parser for the process, from `dist/parser/`, which is built if it is missing. */
export function loadNodeParser(): Promise<SqlParser> {
  loading ??= load();
  return loading;
}

async function load(): Promise<SqlParser> {
  const wasm = new URL('libpg-query.wasm', BUILT);
  if (!(await exists(wasm))) {
    const { buildParser } = await import('../../scripts/build-parser.ts');
    await buildParser();
  }
  const { glue } = (await import(new URL('glue.js', BUILT).href)) as { glue: ParserGlue };
  return createParser(await WebAssembly.compile(await readFile(wasm)), glue);
}

async function exists(file: URL): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
