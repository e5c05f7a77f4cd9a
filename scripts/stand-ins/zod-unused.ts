/**
 * Replaces two parts of zod in the Worker (wrangler.toml): the reader of JSON Schema, and the compiler of schemas, which needs `eval`. Every module that names `z` contains
 * them, and nothing in the service calls them.
 */
function unused(): never {
  throw new Error('this part of zod is not in the script');
}
class Unused extends Error {}

export const INVALID = Symbol.for('zod.compile.invalid');
export {
  Unused as ZodCompileAsyncError,
  Unused as ZodCompileUnsupportedError,
  unused as compile,
  unused as compileFn,
  unused as fromJSONSchema,
  unused as withParser,
};
