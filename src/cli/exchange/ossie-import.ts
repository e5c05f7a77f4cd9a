/** Ossie documents as an ontology (docs/exchange.md#ossie). */
import type { SqlReader } from '../../ontology/apply.ts';
import type { Model } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { Draft, type DraftConcept } from './draft.ts';
import { fromDotted, hasPath } from './expressions.ts';
import { Datasets } from './ossie-datasets.ts';
import { importMetrics } from './ossie-metrics.ts';
import { closureOf, inverseIn } from './ossie-ontology-read.ts';
import type { Documents } from './ossie-read.ts';
import type { Component, ConceptExtension, DatasetExtension, ModelExtension, OntologyRelationship, RelationshipExtension } from './ossie-types.ts';
import { extensionOf, ownType } from './ossie-values.ts';
import { definitionsOf } from './script-model.ts';

/** The result of an import. */
export interface Imported {
  readonly name: string;
  readonly model: Model;
  /** Statements to add to those of the model. */
  readonly statements: readonly string[];
  /** What the model does not have. */
  readonly losses: readonly string[];
}

/** A name in an expression that leads nowhere. */
class Unresolved extends Error {}

/** Converts documents. Everything that is not converted is in `losses`. */
export function importOssie(documents: Documents, reader: SqlReader): Imported {
  return new OssieImport(documents, reader).run();
}

class OssieImport {
  readonly #documents: Documents;
  readonly #draft = new Draft();
  readonly #datasets: Datasets;
  readonly #extension: ModelExtension;
  readonly #reader: SqlReader;
  /** Value types of the ontology document, as types of properties. */
  readonly #types = new Map<string, string>();

  constructor(documents: Documents, reader: SqlReader) {
    this.#documents = documents;
    this.#extension = extensionOf<ModelExtension>(documents.model?.custom_extensions) ?? {};
    this.#reader = reader;
    this.#datasets = new Datasets(documents, this.#draft, reader);
    this.#draft.losses.push(...documents.losses);
  }

  run(): Imported {
    const { model, ontology } = this.#documents;
    const draft = this.#draft;
    draft.description = model?.description ?? ontology?.description ?? null;
    draft.config = { ...this.#extension.config };
    const defined = definitionsOf(this.#extension.statements ?? [], this.#reader);
    for (const p of defined.properties) draft.define(p);
    draft.measures.push(...defined.measures);
    const components = (ontology?.ontology ?? []).filter((c) => c.type === 'EntityType');
    for (const c of ontology?.ontology ?? []) if (c.type === 'ValueType') this.#valueType(c);
    for (const c of components) this.#concept(c);
    this.#datasets.concepts();
    for (const c of draft.concepts) this.#extras(c);
    for (const c of components) this.#properties(c);
    for (const c of components) this.#keys(c);
    this.#datasets.fields();
    for (const c of components) this.#relationships(c);
    this.#datasets.relationships();
    this.#datasets.crossFields();
    for (const c of components) this.#derived(c);
    this.#datasets.mappings();
    importMetrics(this.#documents, draft, this.#datasets);
    this.#measuresOfExtensions();
    if (draft.untyped.length > 0) draft.losses.push(`no type is given for ${draft.untyped.join(', ')}: string is assumed`);
    return { name: ontology?.name ?? model?.name ?? 'ontology', model: draft.model(), statements: defined.others, losses: draft.losses };
  }

  #valueType(c: Component): void {
    const seen = new Set<string>();
    const base = (name: string): string | undefined => {
      const found = ownType(name);
      if (found !== undefined || seen.has(name)) return found;
      seen.add(name);
      const parent = this.#documents.ontology?.ontology.find((o) => o.concept === name && o.type === 'ValueType');
      return parent?.extends?.map(base).find((t) => t !== undefined);
    };
    const type = ownType(c.concept) ?? base(c.concept);
    if (type === undefined) this.#draft.losses.push(`value type ${c.concept} extends no built-in type: string is assumed`);
    this.#types.set(c.concept, type ?? 'string');
    for (const text of c.requires ?? []) this.#draft.losses.push(`condition of value type ${c.concept}: ${text}`);
    for (const text of c.derived_by ?? []) this.#draft.losses.push(`derivation of value type ${c.concept}: ${text}`);
  }

  #typeOf(concept: string): string | undefined {
    return this.#types.get(concept) ?? ownType(concept);
  }

  #concept(c: Component): void {
    const made = this.#draft.addConcept(c.concept);
    made.description = c.description ?? null;
    made.parents = (c.extends ?? []).filter((p) => p !== 'Any' && p !== c.concept);
    for (const text of c.requires ?? []) this.#draft.losses.push(`condition of ${c.concept}: ${text}`);
  }

  #extras(c: DraftConcept): void {
    const extras = this.#extensionOf(c);
    c.label = [...(extras.label ?? [])];
    c.tags = { ...extras.tags, ...c.tags };
  }

  #extensionOf(c: DraftConcept): ConceptExtension {
    const dataset = this.#datasets.of(c.name);
    return {
      ...Object.entries(this.#extension.concepts ?? {}).find(([name]) => sameName(name, c.name))?.[1],
      ...extensionOf<DatasetExtension>(dataset?.custom_extensions),
    };
  }

  /** Relationships to values are properties. */
  #properties(c: Component): void {
    const made = this.#draft.addConcept(c.concept);
    for (const r of c.relationships ?? []) {
      const [role, ...more] = r.roles ?? [];
      const type = role === undefined ? undefined : this.#typeOf(role.concept);
      if (role === undefined || more.length > 0 || type === undefined) continue;
      for (const text of r.requires ?? []) this.#draft.losses.push(`condition of ${c.concept}.${r.name}: ${text}`);
      const multi = r.multiplicity === undefined;
      const field = this.#datasets.fieldOf(c.concept, r.name);
      const name = this.#draft.addProperty(
        {
          name: r.name,
          type: field?.type ?? type,
          isExact: field?.type !== undefined,
          multi,
          description: r.description ?? field?.description ?? null,
          tags: field?.tags ?? {},
          expression: field?.expression ?? null,
        },
        c.concept,
      );
      const list = multi ? made.multi : made.properties;
      if (!list.some((p) => sameName(p, name))) list.push(name);
      this.#datasets.renamed(c.concept, r.name, name);
    }
  }

  /** The key: properties, and the columns of the foreign keys that identify the concept. @param tried concepts whose keys were tried for the first one */
  #keys(c: Component, tried = new Set<string>()): void {
    const made = this.#draft.addConcept(c.concept);
    if (made.key.length > 0 || tried.has(c.concept)) return;
    tried.add(c.concept);
    const wanted = (c.identify_by ?? []).map((name) => name.replace(`${c.concept}.`, ''));
    const parts = wanted.map((name): readonly string[] => {
      const role = c.relationships?.find((r) => sameName(r.name, name))?.roles?.[0];
      const target = this.#documents.ontology?.ontology.find((o) => o.concept === role?.concept && o.type === 'EntityType');
      if (target === undefined) return [this.#datasets.propertyOf(c.concept, name)].filter((p) => p !== undefined);
      this.#keys(target, tried);
      return this.#datasets.foreignKey(c.concept, name, target.concept)?.source ?? [];
    });
    if (wanted.length > 0 && parts.every((p) => p.length > 0)) made.key = parts.flat();
    else if (wanted.length > 0 && this.#datasets.keyProperties(c.concept).length > 0) made.key = [...this.#datasets.keyProperties(c.concept)];
    else if (wanted.length > 0) this.#draft.losses.push(`key of ${c.concept}: ${wanted.join(', ')} are not all mapped to columns`);
  }

  #relationships(c: Component): void {
    const made = this.#draft.addConcept(c.concept);
    const extras = this.#extensionOf(made);
    const all = c.relationships ?? [];
    for (const r of all) {
      const [role, ...more] = r.roles ?? [];
      if (role !== undefined && more.length === 0 && this.#typeOf(role.concept) !== undefined) continue;
      if (role === undefined || more.length > 0 || this.#draft.concept(role.concept) === undefined) {
        this.#draft.losses.push(
          `relationship ${c.concept}.${r.name}: ${role === undefined ? 'it has no second role' : more.length > 0 ? 'it has more than two roles' : `there is no concept ${role.concept}`}`,
        );
        continue;
      }
      const base = closureOf(c, r);
      if (base !== undefined) continue;
      if ((r.derived_by ?? []).length > 0) {
        this.#draft.losses.push(`relationship ${c.concept}.${r.name}: it is derived by ${r.derived_by?.join(' or ')}`);
        continue;
      }
      for (const text of r.requires ?? []) this.#draft.losses.push(`condition of ${c.concept}.${r.name}: ${text}`);
      const own = Object.entries(extras.relationships ?? {}).find(([name]) => sameName(name, r.name))?.[1] ?? {};
      this.#relationship(
        made,
        c,
        r,
        role.concept,
        own,
        all.some((other) => closureOf(c, other) === r.name),
      );
    }
  }

  #relationship(made: DraftConcept, c: Component, r: OntologyRelationship, target: string, own: RelationshipExtension, isTransitive: boolean): void {
    const columns = own.source && own.references ? { source: own.source, references: own.references } : this.#datasets.foreignKey(c.concept, r.name, target);
    const inverse = own.inverse !== undefined ? own.inverse : inverseIn(r, c.concept, target);
    if (columns === undefined && r.multiplicity !== undefined && !this.#datasets.isOwn && !this.#datasets.hasLinks(c.concept, r.name))
      this.#draft.losses.push(`relationship ${c.concept}.${r.name}: no columns are mapped to it, so it has no links`);
    made.relationships.push({
      name: r.name,
      kind: columns === undefined ? 'mtm' : 'fk',
      target: this.#draft.concept(target)?.name ?? target,
      source: columns?.source ?? [],
      references: columns?.references ?? [],
      inverse,
      transitive: own.transitive ?? (isTransitive ? 'default' : null),
      ...(own.symmetric ? { symmetric: own.symmetric } : {}),
      ...(own.includes === undefined ? {} : { includes: own.includes }),
      description: r.description ?? null,
    });
  }

  /** Logic concepts, and calculated properties that only the ontology document derives. */
  #derived(c: Component): void {
    const made = this.#draft.addConcept(c.concept);
    const { logic } = this.#extensionOf(made);
    if (logic?.condition !== undefined) made.logic = { schema: logic.schema, concept: logic.concept, condition: logic.condition };
    else if ((c.derived_by ?? []).length > 0) this.#condition(c, made, logic);
    for (const r of c.relationships ?? []) {
      const [role, ...more] = r.roles ?? [];
      const name = this.#datasets.propertyOf(c.concept, r.name);
      const expressions = r.derived_by ?? [];
      if (expressions.length === 0 || role === undefined || more.length > 0 || this.#typeOf(role.concept) === undefined) continue;
      const known = this.#draft.property(name ?? r.name);
      if (known?.expression != null) continue;
      const expression = expressions.length === 1 ? this.#expression(expressions[0] ?? '', c.concept) : undefined;
      if (expression === undefined || known === undefined || this.#datasets.fieldOf(c.concept, r.name) !== undefined)
        this.#draft.losses.push(`derivation of ${c.concept}.${r.name}: ${expressions.join(' or ')}`);
      else this.#draft.calculated(known.name, expression);
    }
  }

  #condition(c: Component, made: DraftConcept, given: ConceptExtension['logic']): void {
    const from = given?.concept ?? this.#draft.concept(made.parents[0] ?? '')?.name;
    const conditions = (c.derived_by ?? []).map((text) => (from === undefined ? undefined : this.#expression(text, from, c.concept)));
    if (from === undefined || conditions.includes(undefined) || this.#datasets.of(c.concept) !== undefined) {
      this.#draft.losses.push(`derivation of ${c.concept}: ${c.derived_by?.join(' or ')}`);
      return;
    }
    const condition = conditions.length === 1 ? (conditions[0] ?? '') : conditions.map((text) => `(${text})`).join(' OR ');
    made.logic = { schema: given?.schema ?? (hasPath(condition) ? 'dsvc' : 'svc'), concept: from, condition };
  }

  /** An expression over a concept; undefined if a name in it leads nowhere. */
  #expression(text: string, ...concepts: readonly string[]): string | undefined {
    const [from = ''] = concepts;
    try {
      return fromDotted(text, (names) => {
        const [first = '', ...rest] = names;
        if (!concepts.some((c) => sameName(c, first))) return names.length > 1 ? unresolved(names) : this.#draft.path(from, names);
        return rest.length === 0 ? unresolved(names) : (this.#draft.path(from, rest) ?? unresolved(names));
      });
    } catch (e) {
      if (e instanceof Unresolved) return undefined;
      throw e;
    }
  }

  #measuresOfExtensions(): void {
    for (const c of this.#draft.concepts) {
      const known = (name: string): boolean => this.#draft.measures.some((m) => sameName(m.name, name));
      const listed = (this.#extensionOf(c).measures ?? []).filter(known);
      c.measures = [...listed, ...c.measures.filter((name) => !listed.some((m) => fold(m) === fold(name)))];
    }
  }
}

function unresolved(names: readonly string[]): never {
  throw new Unresolved(names.join('.'));
}
