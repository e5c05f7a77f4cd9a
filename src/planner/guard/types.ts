/** The types, collations and columns that a caller's SQL may name. */

/** PostgreSQL's own names: what casts to them depends on the value alone. `reg*`, `oid`, `xml`, `money` (reads a setting), `aclitem` and their like are out. */
export const ALLOWED_TYPES: ReadonlySet<string> = new Set(
  `bool int2 int4 int8 float4 float8 numeric text varchar bpchar char name bytea bit varbit date time timetz timestamp timestamptz interval
   json jsonb jsonpath uuid int4range int8range numrange daterange tsrange tstzrange int4multirange int8multirange nummultirange
   datemultirange tsmultirange tstzmultirange point line lseg box path polygon circle inet cidr macaddr macaddr8 tsvector tsquery`.split(/\s+/),
);

/** PostgreSQL's oids below this one are its own objects'. */
const FIRST_USER_OID = 16384;

/**
 * Whether values of a column's type may meet the texts of a statement: a type of the list, an array of one, or one that is not PostgreSQL's own. A text
 * next to a value of another type (regclass, oid ...) may be looked up in the catalog. `type`: as the datasource names it (`int4`, `_text`, `oid:16400`);
 * undefined: not known.
 */
export function isPlainType(type: string | undefined): boolean {
  if (type === undefined) return true;
  const oid = /^oid:(\d+)$/.exec(type)?.[1];
  return oid === undefined ? ALLOWED_TYPES.has(type.replace(/^_/, '')) : Number(oid) >= FIRST_USER_OID;
}

/** Names that SQL itself or the modelling statements know, but that PostgreSQL does not take for a type. */
export const TYPE_HINTS: Readonly<Record<string, string>> = { string: 'text', double: 'double precision', datetime: 'timestamp', number: 'numeric' };

const COLLATIONS: ReadonlySet<string> = new Set(['C', 'POSIX', 'default', 'ucs_basic', 'unicode', 'pg_c_utf8', 'pg_unicode_fast']);
const ICU = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*-x-icu$/;

/** `"C"` and the like, and those that PostgreSQL makes of ICU's locales (`"de-x-icu"`). */
export const isAllowedCollation = (name: string): boolean => COLLATIONS.has(name) || ICU.test(name);

/** Columns of every table that tell of its storage. */
export const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']);

/** Schemas that no statement may name, mappings included (docs/design/statements-and-versions.md#what-sql-may-use). */
export const isSystemSchema = (name: string): boolean => /^(pg_.*|information_schema|kg_catalog)$/i.test(name);

/** What reads the clock among the functions without brackets; those that are not here read who is asking. */
export const CLOCK_VALUES: ReadonlySet<string> = new Set(
  `SVFOP_CURRENT_DATE SVFOP_CURRENT_TIME SVFOP_CURRENT_TIME_N SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N SVFOP_LOCALTIME
   SVFOP_LOCALTIME_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N`.split(/\s+/),
);
