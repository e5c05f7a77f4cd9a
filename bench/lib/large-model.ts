/** Models of any size and one shape: a large model has more of the same objects. */
import { type ConceptDef, EMPTY_MODEL, type MappingDef, type Model, type PropertyDef } from '../../src/ontology/model.ts';

const TYPES = ['string', 'integer', 'decimal(12,2)', 'date', 'boolean'] as const;
const COLUMN_TYPES: Readonly<Record<(typeof TYPES)[number], string>> = {
  string: 'text',
  integer: 'int4',
  'decimal(12,2)': 'numeric',
  date: 'date',
  boolean: 'bool',
};

/** Concepts come in families of ten: a parent, six unrelated concepts, two children of the parent, and a logic concept. */
const FAMILY = 10;

/** Mapped concepts with a key, two foreign keys, a link and `properties` properties each; every concept but the first family refers to another family. */
export function largeModel(concepts: number, properties: number): Model {
  const propertyDefs: PropertyDef[] = [];
  const conceptDefs: ConceptDef[] = [];
  const mappings: MappingDef[] = [];
  for (let i = 0; i < concepts; i++) {
    const name = `concept_${i}`;
    const top = i - (i % FAMILY);
    const place = i % FAMILY;
    const isHeir = place === 7 || place === 8;
    const isLogic = place === 9;
    const own = Array.from({ length: properties }, (_, p) => ({ name: `${name}_property_${p}`, type: TYPES[p % TYPES.length] ?? 'string' }));
    for (const { name: property, type } of own) {
      propertyDefs.push({ name: property, type, multi: false, description: `The ${property} of a ${name}`, tags: {}, expression: null });
    }
    const key = `concept_${isHeir || isLogic ? top : i}_property_1`;
    // another concept of the family, and the concept at the same position of the next family
    const targets = [top + ((place + 1) % 7), (top + FAMILY + (place % 7)) % concepts];
    conceptDefs.push({
      name,
      parents: isHeir || isLogic ? [`concept_${top}`] : [],
      properties: own.map((p) => p.name),
      multi: [],
      measures: [],
      primaryKey: isHeir || isLogic ? [] : [key],
      label: isHeir || isLogic ? [] : [`${name}_property_0`],
      relationships: isLogic
        ? []
        : targets.map((target, r) => ({
            name: `refers_${r}_${i}`,
            kind: 'fk' as const,
            target: `concept_${target}`,
            source: [`${name}_property_${r === 0 ? 6 : properties - 4}`],
            references: [`concept_${target}_property_1`],
            inverse: `referred_${r}_${i}`,
            transitive: null,
            description: null,
          })),
      description: `A thing of the family ${top}`,
      tags: {},
      logic: isLogic ? { schema: 'svc', concept: `concept_${top}`, condition: `concept_${top}_property_1 > 10` } : null,
    });
    if (isLogic) continue;
    const columns = isHeir ? [{ name: key, type: 'integer' as const }, ...own] : own;
    mappings.push({
      name: `map_${i}`,
      kind: 'concept',
      concept: name,
      property: null,
      link: null,
      datasource: 'main',
      sql: `SELECT ${columns.map((c, n) => `c${n} AS ${c.name}`).join(', ')} FROM data.table_${i}`,
      columns: columns.map((c) => ({ name: c.name, type: COLUMN_TYPES[c.type] })),
    });
  }
  return { ...EMPTY_MODEL, properties: propertyDefs, concepts: conceptDefs, mappings };
}

/** Queries that models of all sizes answer with the same plan. */
export const LARGE_QUERIES = {
  plain: 'SELECT concept_1_property_0, concept_1_property_2 FROM svc.concept_1 WHERE concept_1_property_1 = 7',
  path: `SELECT concept_1_property_0 AS a, "refers_0_1[concept_2].concept_2_property_0" AS b, SUM("referred_0_0[concept_0].concept_0_property_2") AS c
    FROM dsvc.concept_1 WHERE concept_1_property_3 > DATE '2020-01-01' GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 10`,
  union: 'SELECT entity_id, entity_type, concept_0_property_0 FROM svc.concept_0 ORDER BY concept_0_property_0 LIMIT 5',
} as const;
