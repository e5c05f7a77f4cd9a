/** Types, synonyms and extensions as Ossie writes them. */
import { findType } from '../../ontology/types.ts';
import { type AiContext, type Expression, type Extension, OLD_VENDOR, VENDOR } from './ossie-types.ts';

/** Ossie's types for the types of the ontology language without their numbers. */
const OSSIE: Readonly<Record<string, string>> = {
  string: 'String',
  integer: 'Integer',
  bigint: 'Integer',
  smallint: 'Integer',
  float: 'Float',
  double: 'Float',
  decimal: 'Decimal',
  boolean: 'Boolean',
  date: 'Date',
  time: 'Time',
  timestamp: 'DateTime',
  datetime: 'DateTime',
  timestamptz: 'DateTimeTz',
};
/** The types that Ossie's types are read as. The width of an Integer is not known, so it is the widest. */
const OURS: Readonly<Record<string, string>> = {
  String: 'string',
  Integer: 'bigint',
  Float: 'double',
  Decimal: 'decimal',
  Boolean: 'boolean',
  Date: 'date',
  Time: 'time',
  DateTime: 'timestamp',
  DateTimeTz: 'timestamptz',
};

/** Value types that ontology documents know without a declaration. */
export const BUILT_IN = ['Boolean', 'Date', 'DateTime', 'Decimal', 'Float', 'Integer', 'String'];

/** The type of a field. */
export const ossieType = (type: string): string => OSSIE[type.replace(/\(.*/, '')] ?? 'Opaque';
/** The type of a property, or undefined if Ossie has no type of this name. */
export const ownType = (datatype: string): string | undefined => (Object.hasOwn(OURS, datatype) ? OURS[datatype] : undefined);
/** The exact type, if reading the Ossie type would give another one. */
export const exactType = (type: string): { readonly type?: string } => (ownType(ossieType(type)) === type ? {} : { type });
/** PostgreSQL's name of a type. */
export const sqlType = (type: string): string => findType(type)?.sql ?? 'text';

/** An expression in standard SQL. */
export const ansi = (expression: string): Expression => ({ dialects: [{ dialect: 'ANSI_SQL', expression }] });

/** The text of an expression in standard SQL, otherwise in another dialect of SQL; undefined if the expression has no SQL. */
export function sqlOf(expression: Expression | string | undefined): string | undefined {
  if (expression === undefined || typeof expression === 'string') return expression;
  const by = (names: readonly string[]) => expression.dialects.find((d) => names.includes(d.dialect))?.expression;
  return by(['OSSIE_SQL_2026', 'OSI_SQL_2026', 'ANSI_SQL']) ?? by(['SNOWFLAKE', 'DATABRICKS', 'BIGQUERY']);
}

const withoutSynonyms = (tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(tags).filter(([key]) => key !== 'synonyms'));
const isList = (text: string): boolean =>
  text ===
    text
      .split(',')
      .map((s) => s.trim())
      .join(', ') && !text.split(',').some((s) => s.trim() === '');

/** Tags: synonyms as ai_context, the others for an extension. */
export function tagsAsContext(tags: Readonly<Record<string, string>>): {
  readonly context: { readonly ai_context?: AiContext };
  readonly tags: { readonly tags?: Readonly<Record<string, string>> };
} {
  const { synonyms } = tags;
  const asList = synonyms !== undefined && isList(synonyms);
  const others = asList ? withoutSynonyms(tags) : tags;
  return {
    context: asList ? { ai_context: { synonyms: synonyms.split(', ') } } : {},
    tags: Object.keys(others).length === 0 ? {} : { tags: others },
  };
}

/** Synonyms of an ai_context as tags. */
export function contextAsTags(context: AiContext | undefined): Readonly<Record<string, string>> {
  const synonyms = typeof context === 'object' ? context.synonyms : undefined;
  return synonyms === undefined || synonyms.length === 0 ? {} : { synonyms: synonyms.join(', ') };
}

/** The member `custom_extensions` with the extension of this service; no member if the extension has no content. */
export const extension = (data: object): { readonly custom_extensions?: readonly Extension[] } =>
  Object.keys(data).length === 0 ? {} : { custom_extensions: [{ vendor_name: VENDOR, data: JSON.stringify(data) }] };

/** The content of this service's extension. Documents of version 0.1.1 have it under another vendor, marked by the key `svc`. */
export function extensionOf<T extends object>(extensions: readonly Extension[] | undefined): T | undefined {
  for (const { vendor_name, data } of extensions ?? []) {
    const content = parsed(data);
    if (vendor_name === VENDOR && content !== undefined) return content as T;
    if (vendor_name === OLD_VENDOR && content !== undefined && 'svc' in content) return content.svc as T;
  }
  return undefined;
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
