/** The options of CACHE MAPPING. */
import type { CacheOptions } from '../../catalog/caches.ts';
import { badRequest, didYouMean, nearest, quoted, type SvcError } from '../../errors.ts';
import type { TagList } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { optionsOf } from './changing.ts';

const KNOWN = ['schema', 'indexes', 'max_age', 'incremental', 'overlap'];
const DEFAULT_MAX_AGE = '1 hour';
const MOST_SECONDS = 30 * 86_400;
const UNITS: Readonly<Record<string, number>> = { s: 1, second: 1, minute: 60, hour: 3600, day: 86_400 };
const SCHEMA = /^(?!pg_|information_schema$|kg_catalog$)[a-z_][a-z0-9_]{0,62}$/;

/**
 * Reads the options of CACHE MAPPING.
 * @param offset that of the statement, for an option that is missing
 * @throws SvcError 400 `missing_option`, `unknown_option`, `bad_value`, `not_supported`, `exists`
 */
export function cacheOptions(list: TagList, offset: number): CacheOptions {
  const at = (key: string): number => list.find((o) => fold(o.key.text) === key)?.key.offset ?? offset;
  const bad = (key: string, message: string): SvcError => badRequest('bad_value', message, { offset: at(key) });
  const { schema, indexes = 'auto', max_age = DEFAULT_MAX_AGE, ...rest } = optionsOf(list);
  for (const key of Object.keys(rest)) {
    if (!KNOWN.includes(key)) throw badRequest('unknown_option', `unknown option ${quoted(key)}${didYouMean(nearest(key, KNOWN))}`, { offset: at(key) });
    throw badRequest('not_supported', `the option ${quoted(key)} is not supported yet: each refresh reads all rows`, { offset: at(key) });
  }
  if (schema === undefined) {
    const hint = "OPTIONS (schema = 's') names the schema of the datasource in which the writer may create tables";
    throw badRequest('missing_option', 'the option `schema` is missing', { offset, hint });
  }
  if (!SCHEMA.test(schema))
    throw bad('schema', 'the schema must have only small letters, digits and _, and must be none of PostgreSQL\u2019s or of the catalog\u2019s own');
  if (indexes !== 'auto' && indexes !== 'none') throw bad('indexes', 'indexes must be `auto` or `none`');
  const maxAge = secondsOf(max_age);
  if (maxAge === undefined) throw bad('max_age', "max_age must be a time of at most 30 days, such as '1 hour', '30 minutes' or '45 s'");
  return { schema, indexes: indexes === 'auto', maxAge };
}

function secondsOf(text: string): number | undefined {
  const [, number, unit] = /^\s*(\d{1,7})\s*([a-z]+?)s?\s*$/i.exec(text.trim().replace(/^(\d+)\s*s$/i, '$1 second')) ?? [];
  const seconds = Number(number) * (UNITS[unit?.toLowerCase() ?? ''] ?? Number.NaN);
  return seconds >= 1 && seconds <= MOST_SECONDS ? seconds : undefined;
}
