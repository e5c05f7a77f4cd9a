/** An ontology as Ossie's ontology document, and the mapping document that connects it with the core document (docs/exchange.md#ossie). */
import type { Concept, Relationship } from '../../ontology/graph.ts';
import type { PropertyDef, RelationshipDef } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { Failure } from '../failure.ts';
import { dotted, toDotted } from './expressions.ts';
import type { Source } from './ossie-export.ts';
import type {
  Component,
  ConceptExtension,
  ConceptMapping,
  LinkMapping,
  MappingDocument,
  ObjectMapping,
  OntologyDocument,
  OntologyRelationship,
  RelationshipExtension,
  SemanticModel,
} from './ossie-types.ts';
import { OSSIE_VERSION } from './ossie-types.ts';
import { BUILT_IN, ossieType } from './ossie-values.ts';

/** Whether a concept has rows of mappings, so that it is a dataset. */
export const isDataset = (c: Concept): boolean => c.rows.kind === 'mappings' && c.rows.sources.length > 0;

/** The role of the second concept, if a relationship leads to the concept itself. */
const OTHER = 'other';

/** A name in words. */
const words = (name: string): string => name.replaceAll('_', ' ');
/** Whether a name can be read from its words. */
const isWords = (name: string): boolean => /^[a-z0-9]+(_[a-z0-9]+)*$/.test(name);

/** What the other documents do not say about a concept. */
export function conceptExtension(c: Concept, source: Pick<Source, 'graph' | 'reader'>): ConceptExtension {
  const { def } = c;
  if (def === null) return {};
  const relationships = Object.fromEntries(
    def.relationships.flatMap((r) => {
      const extras = relationshipExtension(c, r, source);
      return Object.keys(extras).length === 0 ? [] : [[r.name, extras]];
    }),
  );
  const { logic } = def;
  const condition = logic === null ? undefined : derivation(c, source);
  const tags = isDataset(c) ? {} : allTags(c);
  return {
    ...(def.label.length === 0 ? {} : { label: def.label }),
    ...(def.measures.length === 0 ? {} : { measures: def.measures }),
    ...tags,
    ...(Object.keys(relationships).length === 0 ? {} : { relationships }),
    ...(logic === null ? {} : { logic: { schema: logic.schema, concept: logic.concept, ...(condition === undefined ? { condition: logic.condition } : {}) } }),
  };
}

/** The tags of a concept without a dataset: it has no ai_context. */
const allTags = (c: Concept) => (Object.keys(c.def?.tags ?? {}).length === 0 ? {} : { tags: c.def?.tags ?? {} });

function relationshipExtension(c: Concept, r: RelationshipDef, { graph }: Pick<Source, 'graph'>): RelationshipExtension {
  const target = graph.concept(r.target);
  const inCore = target !== undefined && isDataset(c) && isDataset(target);
  return {
    ...(r.inverse !== null && !isWords(r.inverse) ? { inverse: r.inverse } : {}),
    ...(typeof r.transitive === 'number' ? { transitive: r.transitive } : {}),
    ...(r.symmetric ? { symmetric: r.symmetric } : {}),
    ...(r.includes === undefined ? {} : { includes: r.includes }),
    ...(r.kind === 'fk' && !inCore ? { source: r.source, references: r.references } : {}),
  };
}

/** The condition of a logic concept with dotted names of the concept that it is a part of. */
function derivation(c: Concept, { graph, reader }: Pick<Source, 'graph' | 'reader'>): string | undefined {
  const from = graph.concept(c.def?.logic?.concept ?? '');
  return c.def?.logic && from ? toDotted(c.def.logic.condition, from, reader) : undefined;
}

/** Writes the ontology document and the mapping document. */
export class OntologyExport {
  readonly #source: Source;
  readonly #losses: string[] = [];
  readonly #types = new Set<string>();

  constructor(source: Source) {
    this.#source = source;
  }

  get losses(): readonly string[] {
    return this.#losses;
  }

  /** @throws Failure if a concept has the name of one of Ossie's types */
  document(): OntologyDocument {
    const { name, graph } = this.#source;
    const components = graph.concepts.map((c) => this.#component(c));
    const declared = [...this.#types].filter((t) => !BUILT_IN.includes(t)).sort();
    const wrong = graph.concepts.find((c) => [...BUILT_IN, 'Any', ...declared].includes(c.name));
    if (wrong) throw new Failure(`the concept ${wrong.name} has the name of a type of Ossie; rename it first`);
    const types = declared.map((concept): Component => ({ concept, type: 'ValueType', extends: ['String'] }));
    return {
      version: OSSIE_VERSION,
      name,
      ...(graph.model.description === null ? {} : { description: graph.model.description }),
      ontology: [...types, ...components],
    };
  }

  #component(c: Concept): Component {
    const def = c.def;
    const logic = derivation(c, this.#source);
    if (def?.logic && logic === undefined) this.#losses.push(`condition of ${c.name}: only in custom_extensions, because Ossie has no names for its paths`);
    const properties = [...(def?.properties ?? []), ...(def?.multi ?? [])].flatMap((name) => {
      const property = this.#source.graph.property(name);
      return property ? [this.#property(c, property)] : [];
    });
    const relationships = [...properties, ...(def?.relationships ?? []).flatMap((r) => this.#relationship(c, r))];
    return {
      concept: c.name,
      type: 'EntityType',
      ...(def?.description == null ? {} : { description: def.description }),
      ...((def?.parents.length ?? 0) === 0 ? {} : { extends: def?.parents ?? [] }),
      ...(logic === undefined ? {} : { derived_by: [logic] }),
      ...((def?.primaryKey.length ?? 0) === 0 ? {} : { identify_by: def?.primaryKey ?? [] }),
      ...(relationships.length === 0 ? {} : { relationships }),
    };
  }

  #property(c: Concept, p: PropertyDef): OntologyRelationship {
    const type = ossieType(p.type);
    this.#types.add(type);
    const isKey = c.def?.primaryKey.length === 1 && sameName(c.def.primaryKey[0] ?? '', p.name);
    const derived = p.expression === null ? undefined : toDotted(p.expression, c, this.#source.reader);
    if (p.expression !== null && derived === undefined)
      this.#losses.push(`expression of ${c.name}.${p.name}: only in custom_extensions, because Ossie has no names for its paths`);
    return {
      name: p.name,
      ...(p.description === null ? {} : { description: p.description }),
      roles: [{ concept: type }],
      ...(p.multi ? {} : { multiplicity: isKey ? 'OneToOne' : 'ManyToOne' }),
      ...(derived === undefined ? {} : { derived_by: [derived] }),
      verbalizes: [`{${c.name}} has ${words(p.name)} {${type}}`],
    };
  }

  #relationship(c: Concept, r: RelationshipDef): OntologyRelationship[] {
    const target = this.#source.graph.concept(r.target);
    if (target === undefined) return [];
    const isSelf = sameName(target.name, c.name);
    const far = isSelf ? `${target.name}:${OTHER}` : target.name;
    const role = { concept: target.name, ...(isSelf ? { name: OTHER } : {}) };
    const isComposed = r.symmetric === true || r.includes !== undefined;
    const toOne = !isComposed && r.kind === 'fk' && target.key?.properties.every((k) => r.references.some((name) => sameName(name, k.name)));
    const inverse = r.inverse !== null && isWords(r.inverse) ? [`{${far}} ${words(r.inverse)} {${c.name}}`] : [];
    if (r.inverse !== null && inverse.length === 0) this.#losses.push(`inverse name ${r.inverse} of ${c.name}.${r.name}: only in custom_extensions`);
    if (r.symmetric) this.#losses.push(`SYMMETRIC of ${c.name}.${r.name}: only in custom_extensions`);
    if (r.includes !== undefined) this.#losses.push(`INCLUDES (${r.includes.join(', ')}) of ${c.name}.${r.name}: only in custom_extensions`);
    const plain: OntologyRelationship = {
      name: r.name,
      ...(r.description === null ? {} : { description: r.description }),
      roles: [role],
      ...(toOne ? { multiplicity: 'ManyToOne' } : {}),
      verbalizes: [`{${c.name}} ${words(r.name)} {${far}}`, ...inverse],
    };
    if (r.transitive === null) return [plain];
    if (typeof r.transitive === 'number') this.#losses.push(`depth ${r.transitive} of ${c.name}.${r.name}: only in custom_extensions`);
    const all = this.#freeName(c, `${r.name}_all`);
    const closure: OntologyRelationship = {
      name: all,
      roles: [{ concept: target.name, name: OTHER }],
      derived_by: [`${dotted(c.name, r.name)}(${OTHER})`, `${dotted(c.name, all, r.name)}(${OTHER})`],
      verbalizes: [`{${c.name}} ${words(all)} {${target.name}:${OTHER}}`],
    };
    return [plain, closure];
  }

  #freeName(c: Concept, wanted: string): string {
    const taken = new Set([...c.properties, ...c.multi].map((p) => fold(p.def.name)).concat(c.relationships.map((r) => fold(r.name))));
    let name = wanted;
    for (let i = 2; taken.has(fold(name)); i++) name = `${wanted}_${i}`;
    return name;
  }

  /** The document that says which fields have the objects and links of the ontology. @param model the core document's model */
  mapping(model: SemanticModel): MappingDocument {
    const { name, graph } = this.#source;
    const mappings = graph.concepts.filter(isDataset).flatMap((c) => this.#conceptMapping(c, model));
    return {
      version: OSSIE_VERSION,
      name: `${name}_mapping`,
      ontology_ref: { name, iri: `${name}.ontology.yaml` },
      semantic_model_ref: { name, iri: `${name}.ossie.yaml` },
      concept_mappings: mappings,
    };
  }

  #conceptMapping(c: Concept, model: SemanticModel): ConceptMapping[] {
    const { graph } = this.#source;
    const key = c.key?.properties.map((p) => p.name);
    if (key === undefined) {
      this.#losses.push(`concept ${c.name}: not in the mapping document, because it has no key`);
      return [];
    }
    const fields = model.datasets.find((d) => d.name === c.name)?.fields ?? [];
    const self = objectOf(c, c.name, key);
    const own = [...(c.def?.properties ?? [])].filter((name) => fields.some((f) => sameName(f.name, name)));
    const values = own.map(
      (name): LinkMapping => ({
        relationship: name,
        object_mapping: { concept: ossieType(graph.property(name)?.type ?? 'string'), expression: dotted(c.name, name) },
      }),
    );
    const declared = c.relationships.filter((r) => !r.isInverse && r.declaredBy === c);
    const links = declared.filter((r) => r.kind === 'fk').flatMap((r) => this.#foreignKey(c, r));
    const sides = [
      ...c.multiMappings.map((m) => sideOf(c, m.name, m.property ?? '', graph.property(m.property ?? '')?.type ?? 'string', key)),
      ...declared.flatMap(linksOf),
    ];
    const children = [...values, ...links];
    return [
      { concept: c.name, object_mappings: [self], link_mappings: [...(children.length === 0 ? [] : [{ object_mapping: self, children }]), ...sides] },
    ].map((m) => (m.link_mappings.length === 0 ? { concept: m.concept, object_mappings: m.object_mappings } : m));
  }

  #foreignKey(c: Concept, r: Relationship): LinkMapping[] {
    const key = r.target.key?.properties ?? [];
    const columns = key.map((k) => r.source[r.references.findIndex((p) => sameName(p.name, k.name))]?.name);
    if (key.length === 0 || columns.includes(undefined)) {
      this.#losses.push(`relationship ${c.name}.${r.name}: not in the mapping document, because it does not refer to the key of ${r.target.name}`);
      return [];
    }
    return [{ relationship: r.name, object_mapping: objectOf(r.target, c.name, columns as string[]) }];
  }
}

/** An object of a concept by the columns of its key in a dataset. */
function objectOf(c: Concept, dataset: string, columns: readonly string[]): ObjectMapping {
  const [column, ...more] = columns;
  if (more.length === 0) return { concept: c.name, expression: dotted(dataset, column ?? '') };
  return {
    concept: c.name,
    referent_mappings: columns.map((name, i) => ({ relationship: c.key?.properties[i]?.name ?? name, expression: dotted(dataset, name) })),
  };
}

const sideOf = (c: Concept, dataset: string, property: string, type: string, key: readonly string[]): LinkMapping => ({
  object_mapping: objectOf(c, dataset, key),
  children: [{ relationship: property, object_mapping: { concept: ossieType(type), expression: dotted(dataset, property) } }],
});

/** The links of a many-to-many relationship, if its mappings refer to the keys. */
const linksOf = (r: Relationship): LinkMapping[] =>
  r.links.flatMap(({ mapping, near, far }) => {
    const inOrder = (concept: Concept, end: typeof near): (string | undefined)[] =>
      (concept.key?.properties ?? []).map((k) => end.columns[end.references.findIndex((name) => sameName(name, k.name))]);
    const [from, to] = [inOrder(r.from, near), inOrder(r.target, far)];
    if (from.length === 0 || to.length === 0 || from.includes(undefined) || to.includes(undefined)) return [];
    return [
      {
        object_mapping: objectOf(r.from, mapping.name, from as string[]),
        children: [{ relationship: r.name, object_mapping: objectOf(r.target, mapping.name, to as string[]) }],
      },
    ];
  });
