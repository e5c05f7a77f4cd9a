/**
 * `npm run build:parser`: builds `dist/parser/` from the package libpg-query.
 *
 * - `libpg-query.wasm`: the PostgreSQL grammar, with an initial memory of 640 pages (40 MiB) instead of 2,048 (128 MiB, the
 *   whole memory of a Worker's isolate), and without the functions that only other exports call (PL/pgSQL, fingerprints, ...).
 * - `glue.js`, `glue.d.ts`: the short names by which that module imports and exports its functions. The package's own
 *   loader detects Node, files and URLs; `src/language/parser.ts` replaces it and needs only these names.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IMPORTS } from '../src/language/parser-runtime.ts';

/** The initial memory of the parser in pages of 64 KiB; it grows on demand. */
export const INITIAL_PAGES = 640;

const TARGET = fileURLToPath(new URL('../dist/parser/', import.meta.url));
const MEMORY_SECTION = 5;

/** Functions that the runtime calls, and their names in the package's loader. */
const EXPORTS = {
  malloc: '_malloc',
  free: '_free',
  parse: '_wasm_parse_query_raw',
  freeResult: '_wasm_free_parse_result',
  setThrew: '_setThrew',
  stackRestore: '__emscripten_stack_restore',
  stackSave: '_emscripten_stack_get_current',
  memory: 'memory',
  table: '__indirect_function_table',
} as const;

function fail(what: string): never {
  throw new Error(`libpg-query is not built as expected: ${what}`);
}

/** An unsigned LEB128 number at `at`: its value and the offset after it. */
function leb(bytes: Uint8Array, at: number): { value: number; end: number } {
  let value = 0;
  for (let i = at, shift = 0; i < bytes.length && shift < 35; i++, shift += 7) {
    const byte = bytes[i] as number;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, end: i + 1 };
  }
  return fail('a number does not end');
}

/**
 * The minimum of the module's only memory, in pages, and the offset of that number.
 * Reads the sections of the WebAssembly binary format, version 1 (section 5: a vector of limits).
 */
export function memoryMinimum(wasm: Uint8Array): { pages: number; start: number; end: number } {
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  if (header.some((byte, i) => wasm[i] !== byte)) fail('not a WebAssembly module');
  for (let at = header.length; at < wasm.length; ) {
    const size = leb(wasm, at + 1);
    if (wasm[at] === MEMORY_SECTION) {
      const count = leb(wasm, size.end);
      if (count.value !== 1) fail('more than one memory');
      // one byte of flags (maximum, shared, 64 bit) precedes the minimum
      const start = count.end + 1;
      const minimum = leb(wasm, start);
      return { pages: minimum.value, start, end: minimum.end };
    }
    at = size.end + size.value;
  }
  return fail('no memory of its own');
}

/** A copy of the module with an initial memory of `pages`; the number keeps its length, so that no section moves. */
export function withMemoryMinimum(wasm: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  const { start, end, pages: declared } = memoryMinimum(wasm);
  if (declared < pages) fail(`memory starts at ${declared} pages already`);
  const copy = new Uint8Array(wasm);
  let rest = pages;
  for (let i = start; i < end; i++) {
    copy[i] = (rest & 0x7f) | (i + 1 < end ? 0x80 : 0);
    rest >>>= 7;
  }
  if (rest !== 0 || memoryMinimum(copy).pages !== pages) fail('the new minimum does not fit');
  return copy;
}

/** The short names in the package's loader: import key -> function, and the exports that the runtime needs. */
export function glueOf(loader: string): { imports: Record<string, string>; exports: Record<string, string> } {
  const table = /\bwasmImports=\{([^{}]*)\}/.exec(loader)?.[1] ?? fail('no table of imports');
  const imports = Object.fromEntries(table.split(',').map((entry) => entry.split(':') as [string, string]));
  for (const name of Object.values(imports)) if (!IMPORTS.includes(name)) fail(`unknown import ${name}`);
  if (!/imports=\{a:wasmImports\}/.test(loader)) fail('imports are not named a');

  const exports: Record<string, string> = {
    init: /\binitRuntime\(\)\{[^}]*?wasmExports\["(\w+)"\]\(\)/.exec(loader)?.[1] ?? fail('no constructor'),
  };
  for (const [key, name] of Object.entries(EXPORTS)) {
    const assignment = new RegExp(`[;{]${name}=[^;]*?wasmExports\\["(\\w+)"\\]`);
    exports[key] = assignment.exec(loader)?.[1] ?? fail(`no export ${name}`);
  }
  return { imports, exports };
}

/** A copy of the module with only the exports `names`, and without the functions and data that only others need. @throws Error if an export is missing */
export async function withExports(wasm: Uint8Array, names: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const { default: binaryen } = await import('binaryen');
  const module = binaryen.readBinary(wasm);
  const all = Array.from({ length: module.getNumExports() }, (_, i) => binaryen.getExportInfo(module.getExportByIndex(i)).name);
  for (const name of names) if (!all.includes(name)) fail(`no export ${name}`);
  for (const name of all) if (!names.includes(name)) module.removeExport(name);
  module.runPasses(['remove-unused-module-elements']);
  const smaller = new Uint8Array(module.emitBinary());
  module.dispose();
  return smaller;
}

async function write(name: string, content: string | Uint8Array): Promise<void> {
  const temporary = join(TARGET, `${name}.${process.pid}.tmp`);
  await writeFile(temporary, content);
  await rename(temporary, join(TARGET, name));
}

/** Writes `dist/parser/`, unless it is there already; each file is written atomically, so that another process may read at the same time. */
export async function buildParser(): Promise<void> {
  const source = join(dirname(createRequire(import.meta.url).resolve('libpg-query')), 'libpg-query');
  const whole = await readFile(`${source}.wasm`);
  const loader = await readFile(`${source}.js`, 'utf8');
  const own = await readFile(fileURLToPath(import.meta.url));
  // the outputs are part of the stamp: an earlier version of this script may have replaced them
  const stampOf = async (): Promise<string> => {
    const written = await Promise.all(['glue.js', 'glue.d.ts', 'libpg-query.wasm'].map((name) => readFile(join(TARGET, name)).catch(() => '')));
    return [whole, loader, own, ...written].reduce((hash, content) => hash.update(content), createHash('sha256')).digest('hex');
  };
  const stamp = await readFile(join(TARGET, '.stamp'), 'utf8').catch(() => '');
  if (stamp === (await stampOf())) return;
  const glue = glueOf(loader);
  const wasm = await withExports(withMemoryMinimum(whole, INITIAL_PAGES), Object.values(glue.exports));
  if (memoryMinimum(wasm).pages !== INITIAL_PAGES) fail('the new minimum is lost');
  for (const { name, kind } of WebAssembly.Module.imports(new WebAssembly.Module(wasm))) {
    if (kind !== 'function' || !(name in glue.imports)) fail(`import ${name} (${kind}) is not in the loader`);
  }
  await mkdir(TARGET, { recursive: true });
  await write('glue.js', `// Made by scripts/build-parser.ts.\nexport const glue = ${JSON.stringify(glue, null, 2)};\n`);
  await write('glue.d.ts', `import type { ParserGlue } from '../../src/language/parser-runtime.ts';\nexport declare const glue: ParserGlue;\n`);
  await write('libpg-query.wasm', wasm);
  await write('.stamp', await stampOf());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildParser();
