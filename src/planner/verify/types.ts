/**
 * The types and collations that a finished statement may name. Types from pg_type of PostgreSQL 15 to 18: a value of theirs is read and written
 * without a look into the catalog. Left out: reg* and aclitem (they look names up), oid, xid and their like (they tell of storage), xml, money
 * (it is read by a setting), types of the system's own catalogs, and pseudo-types.
 */
const words = (text: string): string[] => text.trim().split(/\s+/);

export const TYPES: ReadonlySet<string> = new Set(
  words(`
    bit bool box bpchar bytea char cidr circle date datemultirange daterange float4 float8 inet int2 int4 int4multirange int4range int8
    int8multirange int8range interval json jsonb jsonpath line lseg macaddr macaddr8 name numeric nummultirange numrange path point polygon
    text time timestamp timestamptz timetz tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector uuid varbit varchar`),
);

/** `undefined`: the name is qualified by another schema. */
export const isType = (name: string | undefined): boolean => name !== undefined && TYPES.has(name);

const COLLATIONS: ReadonlySet<string> = new Set(words('C POSIX default pg_c_utf8 pg_unicode_fast ucs_basic unicode'));
/** Those that PostgreSQL makes of ICU's locales: `de-x-icu`, `zh-Hant-TW-x-icu`. */
const ICU = /^[a-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,5}-x-icu$/;

/** `undefined`: the name is qualified by another schema. */
export const isCollation = (name: string | undefined): boolean => name !== undefined && (COLLATIONS.has(name) || ICU.test(name));
