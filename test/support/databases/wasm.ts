/**
 * Arguments of Node for a process that owns embedded databases: V8 does not optimize WebAssembly. The code of PGlite is large, each database has its own, and
 * the queries of tests are short: to optimize it took more CPU time than it saved (4 of 7 seconds for a new database).
 */
export const QUICK_WASM: readonly string[] = ['--liftoff-only'];
