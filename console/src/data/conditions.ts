/** What a search reads of a concept's values. Pure: no DOM, no request. */
import { identifier, literal } from '../api/names.ts';
import type { Model } from '../model/model.ts';
import type { Property } from '../model/types.ts';

/** How many properties of a concept a search reads. */
const MOST = 20;

/** A property whose values a search reads. */
export interface Condition {
  readonly name: string;
  /** True for the rows that the search finds. */
  readonly sql: string;
  /** Whether the property has several values, which only `dsvc` reads. */
  readonly isMulti: boolean;
  readonly isCalculated: boolean;
}

/** A text inside a LIKE pattern. */
export const pattern = (text: string): string => literal(`%${text.replace(/[\\%_]/g, '\\$&')}%`);

const NUMBER = /^-?\d{1,18}(\.\d+)?$/;
const TIME = /^\d{4}(-\d\d(-\d\d([ T]\d\d(:\d\d){0,2})?)?)?$/;
/** A part of a time of day or of a UUID. */
const PART = /^[\da-f:-]{4,36}$/i;

/** Texts contain what is wanted, numbers are it, and dates begin with it. Null: no value of the type can. */
function conditionOf({ name, type }: Property, wanted: string): string | null {
  const column = identifier(name);
  if (/^(string|text|(var)?char)/i.test(type)) return `${column} ILIKE ${pattern(wanted)}`;
  if (/^(date|timestamp)/i.test(type))
    return TIME.test(wanted) ? `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS') LIKE ${literal(`${wanted.replace('T', ' ')}%`)}` : null;
  if (/^(time|uuid)/i.test(type)) return PART.test(wanted) ? `CAST(${column} AS text) ILIKE ${pattern(wanted)}` : null;
  const isNumber = /^(small|big)?int|^(decimal|numeric|real|float|double)/i.test(type) && NUMBER.test(wanted);
  return isNumber ? `${column} = ${wanted}` : null;
}

/** The conditions of a search in a concept. @param isOwn without labels and inherited properties, which a search in all concepts finds elsewhere */
export function conditionsOf(model: Model, concept: string, wanted: string, isOwn: boolean): readonly Condition[] {
  const { properties = [], label_keys: labels = [] } = model.concepts.get(concept) ?? {};
  if (wanted === '') return [];
  return properties
    .filter((p) => !p.is_measure && !(isOwn && (p.inherited_from !== null || labels.includes(p.name))))
    .flatMap((p): Condition[] => {
      const sql = conditionOf(p, wanted);
      return sql === null ? [] : [{ name: p.name, sql, isMulti: p.is_multi, isCalculated: model.detail.properties[p.name]?.expression != null }];
    })
    .slice(0, MOST);
}
