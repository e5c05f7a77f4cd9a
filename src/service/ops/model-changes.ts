/** The differences between two models, object by object, as the statements that create the objects. */
import { printConcept, printMapping, printMeasure, printProperty, printView } from '../../language/print.ts';
import { quoteBack, quoteLiteral } from '../../language/quote.ts';
import type { ConceptDef, MeasureDef, Model, PropertyDef, Tags, ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { keyOf } from './file-statements.ts';

/** A change of an object: its text before and after, each null if the object does not exist then, or if the caller may not see the text. */
export interface Change {
  readonly action: 'create' | 'change' | 'drop';
  readonly kind: string;
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Prepares a definition for printing with the product's names. */
export interface Definitions {
  property(p: PropertyDef): PropertyDef | null;
  measure(m: MeasureDef): MeasureDef | null;
  concept(c: ConceptDef): ConceptDef | null;
  view(v: ViewDef): ViewDef | null;
}

/** An object of a model. `text`: its statement with neutral names, for comparisons. `shown`: the statement as answers have it. */
export interface ModelObject {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
  readonly shown: () => string;
}

/** True for a property that only exists because concepts list it: it belongs to them. */
export const isPlain = (p: PropertyDef): boolean => p.description === null && p.expression === null && Object.keys(p.tags).length === 0;

/** The folded names of the properties that concepts list. */
export const listedProperties = (concepts: readonly ConceptDef[]): ReadonlySet<string> =>
  new Set(concepts.flatMap((c) => [...c.properties, ...c.multi].map(fold)));

/** The text of the ontology's description and settings. */
function settingsOf({ description, config }: Model, name: string): string {
  const about = description === null ? '' : ` DESCRIPTION = ${quoteLiteral(description)}`;
  const settings = Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    `CREATE OR REPLACE ONTOLOGY ${quoteBack(name)}${about}`,
    ...settings.map(([k, v]) => `ALTER ONTOLOGY ${quoteBack(name)} SET ${quoteBack(k)} = ${quoteLiteral(v)}`),
  ].join(';\n');
}

/** A definition with its tags in one order: their order in a file has no meaning. */
const sortedTags = <T extends { readonly tags: Tags }>(o: T): T => ({
  ...o,
  tags: Object.fromEntries(Object.entries(o.tags).sort(([a], [b]) => (a < b ? -1 : 1))),
});

/**
 * The objects of a model by key. Properties that belong to concepts are left out, except those in `explicit`.
 * @param explicit keys of objects with a statement of their own
 */
export function objectsOf(
  model: Model,
  ontology: string,
  product: string,
  explicit: ReadonlySet<string>,
  definitions?: Definitions,
): ReadonlyMap<string, ModelObject> {
  const listed = listedProperties(model.concepts);
  const found = new Map<string, ModelObject>();
  const add = (kind: string, name: string, text: string, shown: () => string = () => text): void => {
    found.set(keyOf(kind, name), { kind, name, text, shown });
  };
  add('ontology', ontology, settingsOf(model, ontology));
  for (const p of model.properties)
    if (explicit.has(keyOf('property', p.name)) || !isPlain(p) || !listed.has(fold(p.name)))
      add('property', p.name, printProperty(sortedTags(p)), () => printProperty(definitions?.property(p) ?? p));
  for (const m of model.measures) add('measure', m.name, printMeasure(sortedTags(m)), () => printMeasure(definitions?.measure(m) ?? m));
  for (const c of model.concepts)
    add('concept', c.name, printConcept(sortedTags(c), model, 'svc'), () => printConcept(definitions?.concept(c) ?? c, model, product));
  for (const m of model.mappings) add('mapping', m.name, printMapping(m));
  for (const v of model.views) add(v.cube ? 'cube' : 'view', v.name, printView(sortedTags(v)), () => printView(definitions?.view(v) ?? v));
  return found;
}

/** The changes from one set of objects to another, in the order of the objects. */
export function changesBetween(before: ReadonlyMap<string, ModelObject>, after: ReadonlyMap<string, ModelObject>): Change[] {
  const changed = [...after].flatMap(([key, { kind, name, text, shown }]): Change[] => {
    const old = before.get(key);
    if (old === undefined) return [{ action: 'create', kind, name, before: null, after: shown() }];
    return old.text === text ? [] : [{ action: 'change', kind, name, before: old.shown(), after: shown() }];
  });
  const dropped = [...before].flatMap(([key, { kind, name, shown }]): Change[] =>
    after.has(key) ? [] : [{ action: 'drop', kind, name, before: shown(), after: null }],
  );
  return [...changed, ...dropped];
}

/** A model without some of its objects. @param gone keys of objects */
export function without(model: Model, gone: (key: string) => boolean): Model {
  const keep =
    (kind: string) =>
    ({ name }: { readonly name: string }): boolean =>
      !gone(keyOf(kind, name));
  return {
    ...model,
    properties: model.properties.filter(keep('property')),
    measures: model.measures.filter(keep('measure')),
    concepts: model.concepts.filter(keep('concept')),
    mappings: model.mappings.filter(keep('mapping')),
    views: model.views.filter(keep('view')),
  };
}

/** A model without the plain properties that only the given concepts list. */
export function withoutPropertiesOf(model: Model, gone: readonly ConceptDef[], kept: readonly ConceptDef[]): Model {
  const [listed, used] = [listedProperties(gone), listedProperties(kept)];
  return { ...model, properties: model.properties.filter((p) => !listed.has(fold(p.name)) || used.has(fold(p.name)) || !isPlain(p)) };
}

/** The properties of a model by folded name. */
export const propertiesOf = ({ properties }: Model): ReadonlyMap<string, PropertyDef> => new Map(properties.map((p) => [fold(p.name), p]));
