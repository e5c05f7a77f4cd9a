/** Prints a model as modelling statements that re-create it (SHOW CREATE, export). The inverse of parsing and applying them. */
import type { ConceptDef, LinkEnd, MappingDef, MeasureDef, Model, PropertyDef, RelationshipDef, Tags, ViewDef } from '../ontology/model.ts';
import { nameList } from './print-service.ts';
import { quoteBack, quoteLiteral } from './quote.ts';

const description = (text: string | null): string[] => (text === null ? [] : [`DESCRIPTION = ${quoteLiteral(text)}`]);

function tags(of: Tags): string[] {
  const pairs = Object.entries(of).map(([key, value]) => `${quoteBack(key)} = ${quoteLiteral(value)}`);
  return pairs.length === 0 ? [] : [`WITH TAGS (${pairs.join(', ')})`];
}

const join = (...parts: (string | string[])[]): string => parts.flat().join(' ');

export const printProperty = (p: PropertyDef): string =>
  join(
    'CREATE OR REPLACE PROPERTY',
    quoteBack(p.name),
    p.multi ? ['MULTIVALUE'] : [],
    p.type,
    description(p.description),
    tags(p.tags),
    p.expression === null ? [] : [`AS SELECT ${p.expression}`],
  );

export const printMeasure = (m: MeasureDef): string =>
  join(
    'CREATE OR REPLACE MEASURE',
    quoteBack(m.name),
    m.type,
    description(m.description),
    tags(m.tags),
    `AS SELECT ${m.expression}`,
    m.filter === null ? [] : [`WHERE ${m.filter}`],
  );

/** Prints a concept. `model` provides the types of its elements; `product` names the schema of a logic concept's source. */
export const printConcept = (c: ConceptDef, model: Model, product: string): string => concept(c, typesOf(model), product);

interface Types {
  readonly property: (name: string) => string;
  readonly measure: (name: string) => string;
}

/** Names are matched case-insensitively (docs/design/paths-and-cardinality.md#names-in-a-query). */
function typesOf(model: Model): Types {
  const lookup = (defs: readonly { readonly name: string; readonly type: string }[]) => {
    const types = new Map(defs.map((def) => [def.name.toLowerCase(), def.type]));
    return (name: string): string => {
      const type = types.get(name.toLowerCase());
      if (type === undefined) throw new Error(`the model has no \`${name}\``);
      return type;
    };
  };
  return { property: lookup(model.properties), measure: lookup(model.measures) };
}

function concept(c: ConceptDef, types: Types, product: string): string {
  const elements = [
    ...c.properties.map((p) => `${quoteBack(p)} ${types.property(p)}`),
    ...c.measures.map((m) => `${quoteBack(m)} MEASURE ${types.measure(m)}`),
    ...(c.primaryKey.length === 0 ? [] : [`PRIMARY KEY ${nameList(c.primaryKey)}`]),
    ...(c.label.length === 0 ? [] : [`LABEL ${nameList(c.label)}`]),
    ...c.multi.map((p) => `CONSTRAINT ${quoteBack(p)} MULTIVALUE ${types.property(p)}`),
    ...c.relationships.map(printRelationship),
  ];
  return join(
    'CREATE OR REPLACE CONCEPT',
    quoteBack(c.name),
    elements.length === 0 ? [] : [`(\n  ${elements.join(',\n  ')}\n)`],
    `INHERITS ${nameList(c.parents.length === 0 ? ['thing'] : c.parents)}`,
    description(c.description),
    tags(c.tags),
    c.logic === null ? [] : [`FROM ${quoteBack(schemaOf(c.logic.schema, product))}.${quoteBack(c.logic.concept)} WHERE ${c.logic.condition}`],
  );
}

/** The element of a concept for a relationship. */
export function printRelationship(r: RelationshipDef): string {
  return join(
    `CONSTRAINT ${quoteBack(r.name)}`,
    r.kind === 'mtm'
      ? `MULTIREFERENCE ${quoteBack(r.target)}`
      : `FOREIGN KEY ${nameList(r.source)} REFERENCES ${quoteBack(r.target)} ${nameList(r.references)}`,
    r.inverse === null ? [] : [`INVERSEOF ${quoteBack(r.inverse)}`],
    r.transitive === null ? [] : [r.transitive === 'default' ? 'TRANSITIVE' : `TRANSITIVE(${r.transitive})`],
    r.symmetric ? ['SYMMETRIC'] : [],
    r.includes === undefined ? [] : [`INCLUDES ${nameList(r.includes)}`],
    description(r.description),
  );
}

export function printMapping(m: MappingDef): string {
  const end = (e: LinkEnd): string =>
    `CONSTRAINT ${quoteBack(e.relationship)} FOREIGN KEY ${nameList(e.columns)} REFERENCES ${quoteBack(e.concept)} ${nameList(e.references)}`;
  return join(
    'CREATE OR REPLACE MAPPING',
    quoteBack(m.name),
    m.link === null ? `INTO ${nameList([m.concept ?? ''])}` : `(\n  ${end(m.link.forward)},\n  ${end(m.link.back)}\n)`,
    m.property === null ? [] : [`MULTIVALUE ${quoteBack(m.property)}`],
    `USING ${quoteBack(m.datasource)}`,
    `AS ${m.sql}`,
  );
}

export const printView = (v: ViewDef): string =>
  join(
    `CREATE OR REPLACE ONTOLOGY ${v.cube ? 'CUBE' : 'VIEW'}`,
    quoteBack(v.name),
    v.datasource === null ? [] : [`USING ${quoteBack(v.datasource)}`],
    description(v.description),
    tags(v.tags),
    `AS ${v.sql}`,
  );

/**
 * A script that re-creates the whole ontology, and can be run where it exists. Run in a service without it, it yields a model
 * equal to `model`. SQL appears as in the model; the schema of a logic concept has the product's name. `more`: statements to print
 * after those of the ontology itself and before its objects.
 */
export const printModel = (model: Model, ontologyName: string, product: string, more: readonly string[] = []): string =>
  printedModel(model, ontologyName, product, more)
    .map((statement) => `${statement};\n`)
    .join('');

/** The statements of `printModel`. */
export function printedModel(model: Model, ontologyName: string, product: string, more: readonly string[] = []): readonly string[] {
  const ontology = quoteBack(ontologyName);
  const types = typesOf(model);
  return [
    `CREATE ONTOLOGY ${ontology} IF NOT EXISTS`,
    ...Object.entries({ ...(model.description === null ? {} : { description: model.description }), ...model.config }).map(
      ([key, value]) => `ALTER ONTOLOGY ${ontology} SET ${quoteBack(key)} = ${quoteLiteral(value)}`,
    ),
    ...more,
    ...model.properties.map(printProperty),
    ...model.measures.map(printMeasure),
    ...model.concepts.map((c) => concept(c, types, product)),
    ...model.mappings.map(printMapping),
    ...model.views.map(printView),
  ];
}

/** Maps a schema's neutral name to the product's name. */
const schemaOf = (schema: string, product: string): string => schema.replace(/svc$/, () => product);
