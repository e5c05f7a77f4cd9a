/**
 * Arguments of Node for a process that owns embedded databases: V8 optimizes only functions of WebAssembly that have run very often. The code of PGlite is large
 * and the queries of tests are short: with the default budget, to optimize takes more CPU time than it saves. To optimize nothing costs more where tests fill
 * tables: 30,000 grants and the queries about them took a sixth more.
 */
export const QUICK_WASM: readonly string[] = ['--wasm-tiering-budget=100000000'];
