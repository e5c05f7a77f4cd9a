/**
 * The types and collations that a finished statement may name. The types are from pg_type of PostgreSQL 15 to 18; their values are read and written without a look-up in the
 * catalog. Left out are reg* and aclitem (they look up names), oid, xid and the like (they reveal details of the storage), xml, money (it depends on a setting), types of
 * system catalogs, and pseudo-types.
 */
import { words } from './tree.ts';
/** The names of the accepted types. */
export const TYPES: ReadonlySet<string> = new Set(
  words(`
    bit bool box bpchar bytea char cidr circle date datemultirange daterange float4 float8 inet int2 int4 int4multirange int4range int8
    int8multirange int8range interval json jsonb jsonpath line lseg macaddr macaddr8 name numeric nummultirange numrange path point polygon
    text time timestamp timestamptz timetz tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector uuid varbit varchar`),
);

/** True for a type of the list. @param name undefined if it is qualified by another schema */
export const isType = (name: string | undefined): boolean => name !== undefined && TYPES.has(name);

const COLLATIONS: ReadonlySet<string> = new Set(words('C POSIX default pg_c_utf8 pg_unicode_fast ucs_basic unicode'));
/** The collations of ICU's locales: `de-x-icu`, `zh-Hant-TW-x-icu`. */
const ICU = /^[a-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,5}-x-icu$/;

/** True for a collation of the list, and for those of ICU. @param name undefined if it is qualified by another schema */
export const isCollation = (name: string | undefined): boolean => name !== undefined && (COLLATIONS.has(name) || ICU.test(name));
