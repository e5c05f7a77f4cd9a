/** The options of CACHE MAPPING, CACHE CUBE and CACHE VIEW. */
import type { CacheOptions } from '../../catalog/caches.ts';
import { badRequest, didYouMean, nearest, quoted, type SvcError } from '../../errors.ts';
import type { TagList } from '../../language/statements.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { optionsOf } from './changing.ts';
import { incrementalOf, secondsOf } from './increments.ts';

const KNOWN = ['schema', 'indexes', 'max_age', 'incremental', 'overlap', 'full_every'];
const DEFAULT_MAX_AGE = '1 hour';
const SCHEMA = /^(?!pg_|information_schema$|kg_catalog$)[a-z_][a-z0-9_]{0,62}$/;

/**
 * Reads the options of CACHE MAPPING, CACHE CUBE and CACHE VIEW.
 * @param mapping undefined: a cube or view is cached
 * @param offset that of the statement, for an option that is missing
 * @param key the columns of the mapping's key; undefined: it has none
 * @throws SvcError 400 `missing_option`, `unknown_option`, `bad_value`, `not_supported`, `exists`
 */
export function cacheOptions(list: TagList, offset: number, mapping: MappingDef | undefined, key: readonly number[] | undefined): CacheOptions {
  const at = (key: string): number => list.find((o) => fold(o.key.text) === key)?.key.offset ?? offset;
  const bad = (key: string, message: string): SvcError => badRequest('bad_value', message, { offset: at(key) });
  const { schema, indexes = 'auto', max_age = DEFAULT_MAX_AGE, incremental, overlap, full_every, ...rest } = optionsOf(list);
  for (const name of Object.keys(rest))
    throw badRequest('unknown_option', `unknown option ${quoted(name)}${didYouMean(nearest(name, KNOWN))}`, { offset: at(name) });
  if (schema === undefined) {
    const hint = "OPTIONS (schema = 's') names the schema of the datasource in which the writer may create tables";
    throw badRequest('missing_option', 'the option `schema` is missing', { offset, hint });
  }
  if (!SCHEMA.test(schema))
    throw bad('schema', 'the schema must have only small letters, digits and _, and must be none of PostgreSQL\u2019s or of the catalog\u2019s own');
  if (indexes !== 'auto' && indexes !== 'none') throw bad('indexes', 'indexes must be `auto` or `none`');
  const maxAge = secondsOf(max_age);
  if (maxAge === undefined) throw bad('max_age', "max_age must be a time of at most 30 days, such as '1 hour', '30 minutes' or '45 s'");
  const full = { schema, indexes: indexes === 'auto', maxAge };
  if (mapping !== undefined) return { ...full, incremental: incrementalOf({ incremental, overlap, full_every, at, mapping, key }) };
  for (const [name, value] of Object.entries({ incremental, overlap, full_every }))
    if (value !== undefined)
      throw badRequest('not_supported', `the option ${quoted(name)} is for mappings: cubes and views are read in full`, { offset: at(name) });
  return { ...full, incremental: null };
}
