/**
 * The type of Node's `Buffer`. TypeScript uses the first of several declarations of one global variable, and @cloudflare/workers-types declares this
 * one as `any`. `types` of tsconfig.json therefore lists this file first.
 */
declare var Buffer: BufferConstructor;
