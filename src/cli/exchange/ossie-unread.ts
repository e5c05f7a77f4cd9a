/** Members of Ossie documents that have no place in an ontology, so that nothing is dropped silently. */
import type { Extension, OntologyDocument, SemanticModel } from './ossie-types.ts';
import { VENDOR } from './ossie-types.ts';
import { extensionOf } from './ossie-values.ts';

const DESCRIBED = ['name', 'description', 'ai_context', 'custom_extensions'];
const MODEL = [...DESCRIBED, 'datasets', 'relationships', 'metrics'];
const DATASET = [...DESCRIBED, 'source', 'primary_key', 'unique_keys', 'fields'];
const FIELD = [...DESCRIBED, 'expression', 'datatype'];
const RELATIONSHIP = [...DESCRIBED, 'from', 'to', 'from_columns', 'to_columns'];
const METRIC = [...DESCRIBED, 'expression', 'datatype'];
const COMPONENT = ['concept', 'type', 'description', 'extends', 'derived_by', 'identify_by', 'requires', 'relationships'];
const LINK = ['name', 'description', 'roles', 'multiplicity', 'derived_by', 'requires', 'verbalizes'];
const ONTOLOGY = ['version', 'name', 'description', 'requires', 'ontology', 'ontology_mappings'];

function others(what: string, value: object, known: readonly string[]): string[] {
  return Object.entries(value)
    .filter(([key, v]) => !known.includes(key) && v !== undefined)
    .map(([key, v]) => `${key} of ${what}: ${JSON.stringify(v)}`);
}

/** The extensions of other vendors. */
const foreign = (what: string, extensions: readonly Extension[] | undefined): string[] =>
  (extensions ?? []).filter((e) => e.vendor_name !== VENDOR && extensionOf([e]) === undefined).map((e) => `custom_extensions of ${e.vendor_name} at ${what}`);

/** What is not read of a core document. */
export function unreadOfModel(model: SemanticModel): string[] {
  const at = (what: string, value: { readonly custom_extensions?: readonly Extension[] }, known: readonly string[]): string[] => [
    ...others(what, value, known),
    ...foreign(what, value.custom_extensions),
  ];
  return [
    ...at(`semantic model ${model.name}`, model, MODEL),
    ...(model.ai_context === undefined ? [] : [`ai_context of semantic model ${model.name}`]),
    ...model.datasets.flatMap((d) => [...at(`dataset ${d.name}`, d, DATASET), ...(d.fields ?? []).flatMap((f) => at(`field ${d.name}.${f.name}`, f, FIELD))]),
    ...(model.relationships ?? []).flatMap((r) => at(`relationship ${r.name}`, r, RELATIONSHIP)),
    ...(model.metrics ?? []).flatMap((m) => at(`metric ${m.name}`, m, METRIC)),
  ];
}

/** What is not read of an ontology document. */
export const unreadOfOntology = (ontology: OntologyDocument): string[] => [
  ...others(`ontology ${ontology.name}`, ontology, ONTOLOGY),
  ...ontology.ontology.flatMap((c) => [
    ...others(`concept ${c.concept}`, c, COMPONENT),
    ...(c.type === 'ValueType' ? (c.relationships ?? []).map((r) => `relationship ${c.concept}.${r.name}: a value type has no relationships here`) : []),
    ...(c.relationships ?? []).flatMap((r) => others(`relationship ${c.concept}.${r.name}`, r, LINK)),
  ]),
];
