/**
 * Runs one instance of the PostgreSQL grammar (libpg-query, compiled by emscripten): the few functions that it imports,
 * and the calls in and out. Synchronous, and free of Node's and the Worker's own APIs; the package's own loader is neither.
 */

/** The short names that emscripten gave imports and exports (made by scripts/build-parser.ts). */
export interface ParserGlue {
  /** Key inside the import module `a` -> the function's name in emscripten's loader. */
  readonly imports: Readonly<Record<string, string>>;
  readonly exports: Readonly<
    Record<'init' | 'malloc' | 'free' | 'parse' | 'freeResult' | 'setThrew' | 'stackRestore' | 'stackSave' | 'memory' | 'table', string>
  >;
}

/** What the grammar says of a text: the tree as JSON text, or a message and where (1-based character, 0: nowhere). */
export type RawResult = { readonly json: string } | { readonly message: string; readonly cursor: number };

export interface Instance {
  /** Bytes that its memory holds; it never shrinks. */
  readonly size: () => number;
  /** Parses `sql`. Throws RuntimeError or RangeError when the module traps; the instance must not be used again then. */
  readonly parse: (sql: string) => RawResult;
}

/** No statement of 64 KiB needs as much; past it the grammar is told that memory is out. */
const MEMORY_CAP = 96 * 2 ** 20;
const PAGE = 65_536;

/** WASI's errno for a seek on what is no file. */
const ESPIPE = 70;

/** What the C code throws in place of longjmp; caught by the innermost `invoke_`. */
class LongJump {}

type Call = (...args: number[]) => number;
type Imports = Record<string, (...args: number[]) => number | bigint | undefined>;

/** Signatures of functions that the C code calls where a longjmp may come back. */
const INVOKES = ['i', 'ii', 'iii', 'iiii', 'iiiii', 'ji', 'v', 'vi', 'vii', 'viii', 'viiii', 'viiiii', 'viiiiiiiiiiiii'];

/** All imports that the runtime can answer. */
export const IMPORTS: readonly string[] = [
  ...INVOKES.map((signature) => `invoke_${signature}`),
  '___assert_fail',
  '__abort_js',
  '__emscripten_runtime_keepalive_clear',
  '__emscripten_throw_longjmp',
  '__setitimer_js',
  '_emscripten_resize_heap',
  '_exit',
  '_fd_close',
  '_fd_read',
  '_fd_seek',
  '_fd_write',
  '_proc_exit',
];

/** A new instance of `module`. Throws RangeError where the machine has no memory for it. */
export function instantiate(module: WebAssembly.Module, glue: ParserGlue): Instance {
  const named = importsOf(() => ({ memory, functions, setThrew, stackRestore, stackSave }));
  const imports: Record<string, WebAssembly.ImportValue> = {};
  for (const [key, name] of Object.entries(glue.imports)) imports[key] = named[name] as WebAssembly.ImportValue;

  const exports = new WebAssembly.Instance(module, { a: imports }).exports;
  const fn = (name: keyof ParserGlue['exports']): Call => exports[glue.exports[name]] as Call;
  const memory = exports[glue.exports.memory] as WebAssembly.Memory;
  const functions = exports[glue.exports.table] as WebAssembly.Table;
  const [init, malloc, free, parse, freeResult] = [fn('init'), fn('malloc'), fn('free'), fn('parse'), fn('freeResult')];
  const [setThrew, stackRestore, stackSave] = [fn('setThrew'), fn('stackRestore'), fn('stackSave')];
  init();

  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const i32 = (at: number): number => new DataView(memory.buffer).getInt32(at, true);
  const text = (at: number): string => {
    if (at === 0) return '';
    const bytes = new Uint8Array(memory.buffer, at);
    return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  };

  return {
    size: () => memory.buffer.byteLength,
    parse: (sql) => {
      const bytes = encoder.encode(sql);
      const query = malloc(bytes.length + 1);
      if (query === 0) throw new RangeError('out of memory');
      const heap = new Uint8Array(memory.buffer);
      heap.set(bytes, query);
      heap[query + bytes.length] = 0;

      const result = parse(query);
      if (result === 0) throw new RangeError('out of memory');
      // PgQueryParseResult {char *tree; char *stderr; PgQueryError *error}, PgQueryError {message, funcname, filename, lineno, cursorpos}
      const [tree, error] = [i32(result), i32(result + 8)];
      const answer: RawResult = error === 0 ? { json: text(tree) } : { message: text(i32(error)), cursor: i32(error + 16) };
      freeResult(result);
      free(query);
      return answer;
    },
  };
}

interface Runtime {
  readonly memory: WebAssembly.Memory;
  readonly functions: WebAssembly.Table;
  readonly setThrew: Call;
  readonly stackRestore: Call;
  readonly stackSave: Call;
}

/** The imports by their names in emscripten's loader; `runtime` is asked when one is called, after instantiation. */
function importsOf(runtime: () => Runtime): Imports {
  const stop = (): never => {
    throw new WebAssembly.RuntimeError('aborted');
  };
  const imports: Imports = {
    ___assert_fail: stop,
    __abort_js: stop,
    _exit: stop,
    _proc_exit: stop,
    __emscripten_runtime_keepalive_clear: () => undefined,
    __emscripten_throw_longjmp: () => {
      throw new LongJump();
    },
    __setitimer_js: () => 0,
    _emscripten_resize_heap: (wanted) => grow(runtime().memory, (wanted as number) >>> 0),
    _fd_close: () => 0,
    _fd_read: (_file, _vectors, _count, read) => store(runtime().memory, read as number, 0),
    _fd_seek: () => ESPIPE,
    _fd_write: (_file, vectors, count, written) => {
      const view = new DataView(runtime().memory.buffer);
      let total = 0;
      for (let i = 0; i < (count as number); i++) total += view.getUint32((vectors as number) + i * 8 + 4, true);
      return store(runtime().memory, written as number, total);
    },
  };
  const mirror: Call[] = [];
  for (const signature of INVOKES) {
    const nothing = signature.startsWith('j') ? 0n : undefined;
    imports[`invoke_${signature}`] = (index, ...args) => {
      const { functions, setThrew, stackRestore, stackSave } = runtime();
      const stack = stackSave();
      mirror[index as number] ??= functions.get(index as number) as Call;
      try {
        return (mirror[index as number] as Call)(...args);
      } catch (e) {
        stackRestore(stack);
        if (!(e instanceof LongJump)) throw e;
        setThrew(1, 0);
        return nothing;
      }
    };
  }
  return imports;
}

function store(memory: WebAssembly.Memory, at: number, value: number): 0 {
  new DataView(memory.buffer).setUint32(at, value, true);
  return 0;
}

/** Grows to `wanted` bytes and a fifth of what there was; 1 when that was possible. */
function grow(memory: WebAssembly.Memory, wanted: number): 0 | 1 {
  if (wanted > MEMORY_CAP) return 0;
  const have = memory.buffer.byteLength;
  const target = Math.min(MEMORY_CAP, Math.max(wanted, have * 1.2));
  try {
    memory.grow(Math.ceil((target - have) / PAGE));
    return 1;
  } catch {
    return 0;
  }
}
