/** The types, collations and columns that a caller's SQL may name. */

/** PostgreSQL's internal names of types. A cast to one of them depends only on the value. `reg*`, `oid`, `xml`, `money` (reads a setting), `aclitem` and the like are left out. */
export const ALLOWED_TYPES: ReadonlySet<string> = new Set(
  `bool int2 int4 int8 float4 float8 numeric text varchar bpchar char name bytea bit varbit date time timetz timestamp timestamptz interval
   json jsonb jsonpath uuid int4range int8range numrange daterange tsrange tstzrange int4multirange int8multirange nummultirange
   datemultirange tsmultirange tstzmultirange point line lseg box path polygon circle inet cidr macaddr macaddr8 tsvector tsquery`.split(/\s+/),
);

/** Objects with lower oids are PostgreSQL's own. */
const FIRST_USER_OID = 16384;

/**
 * True if values of a column's type may be combined with texts of a statement: a type of the list, an array of one, or a user-defined type. PostgreSQL may look up a text in
 * its catalog if it is combined with a value of another type (regclass, oid ...).
 * @param type the name that the datasource reports (`int4`, `_text`, `oid:16400`); undefined: unknown
 */
export function isPlainType(type: string | undefined): boolean {
  if (type === undefined) return true;
  const oid = /^oid:(\d+)$/.exec(type)?.[1];
  return oid === undefined ? ALLOWED_TYPES.has(type.replace(/^_/, '')) : Number(oid) >= FIRST_USER_OID;
}

/** Names of types that PostgreSQL does not have, and the types that are meant. */
export const TYPE_HINTS: Readonly<Record<string, string>> = { string: 'text', double: 'double precision', datetime: 'timestamp', number: 'numeric' };

const COLLATIONS: ReadonlySet<string> = new Set(['C', 'POSIX', 'default', 'ucs_basic', 'unicode', 'pg_c_utf8', 'pg_unicode_fast']);
const ICU = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*-x-icu$/;

/** The hint for other collations. */
export const COLLATION_HINT = 'Allowed are "C", "POSIX", "default" and the collations of ICU ("en-x-icu").';

/** True for `"C"` and the like, and for the collations of ICU's locales (`"de-x-icu"`). */
export const isAllowedCollation = (name: string): boolean => COLLATIONS.has(name) || ICU.test(name);

/** The system columns, which every table has. */
export const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']);

/** True for schemas that no statement or mapping may name (docs/design/statements-and-versions.md#what-sql-may-use). */
export const isSystemSchema = (name: string): boolean => /^(pg_.*|information_schema|kg_catalog)$/i.test(name);

/** The functions without brackets that read the clock. The others return the current user, role, schema or catalog. */
export const CLOCK_VALUES: ReadonlySet<string> = new Set(
  `SVFOP_CURRENT_DATE SVFOP_CURRENT_TIME SVFOP_CURRENT_TIME_N SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N SVFOP_LOCALTIME
   SVFOP_LOCALTIME_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N`.split(/\s+/),
);
