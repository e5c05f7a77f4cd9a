/** The datasets of a core document as concepts, properties and relationships. */

import { quoteBack } from '../../language/quote.ts';
import type { SqlReader } from '../../ontology/apply.ts';
import { fold, sameName } from '../../ontology/names.ts';
import type { Draft } from './draft.ts';
import { fromDotted, plainColumn } from './expressions.ts';
import { type FieldRef, Mapped } from './ossie-mapped.ts';
import { MappingSql } from './ossie-mappings.ts';
import { crossDataset, namesIn } from './ossie-metrics.ts';
import type { Documents } from './ossie-read.ts';
import type { CoreRelationship, Dataset, DatasetExtension, Field, FieldExtension } from './ossie-types.ts';
import { contextAsTags, extensionOf, ownType, sqlOf } from './ossie-values.ts';

/** What a field says about a property. */
export interface FieldFacts {
  readonly type: string | undefined;
  readonly description: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** The expression of a calculated property. */
  readonly expression: string | null;
}

/** The extension of a core relationship. */
interface EndExtension {
  readonly name?: string;
  readonly end?: 'forward' | 'back';
}

/** Connects concepts with datasets. */
export class Datasets {
  readonly #documents: Documents;
  /** What the mapping document says. */
  readonly mapped: Mapped;
  readonly #draft: Draft;
  readonly #reader: SqlReader;
  /** Datasets of links and of properties with several values, in order. */
  readonly #sides: ReadonlySet<Dataset>;
  /** Names of properties by concept and the name in the document. */
  readonly #names = new Map<string, string>();
  #byName: ReadonlyMap<string, Dataset> | undefined;
  readonly #used = new Set<CoreRelationship>();
  readonly #sql: MappingSql;

  constructor(documents: Documents, draft: Draft, reader: SqlReader) {
    this.#documents = documents;
    this.mapped = new Mapped(documents);
    this.#draft = draft;
    this.#reader = reader;
    this.#sides = new Set(this.all.filter((d) => this.#isSide(d)));
    this.#sql = new MappingSql(documents, draft, this);
  }

  get all(): readonly Dataset[] {
    return this.#documents.model?.datasets ?? [];
  }
  get links(): readonly CoreRelationship[] {
    return this.#documents.model?.relationships ?? [];
  }
  /** Whether this service wrote the core document, so that it has all links. */
  get isOwn(): boolean {
    return this.all.some((d) => extensionOf<DatasetExtension>(d.custom_extensions)?.own !== undefined);
  }
  named(name: string): Dataset | undefined {
    this.#byName ??= new Map([...this.all].reverse().map((d) => [fold(d.name), d]));
    return this.#byName.get(fold(name));
  }

  /** Whether a dataset has only links or values: its extension says so, or its key consists of two foreign keys and no other object uses it. */
  #isSide(d: Dataset): boolean {
    const extras = extensionOf<DatasetExtension>(d.custom_extensions);
    if (extras !== undefined)
      return (
        extras.link !== undefined ||
        extras.multivalue !== undefined ||
        (extras.own === undefined && this.links.some((r) => sameName(r.from, d.name) && extensionOf<EndExtension>(r.custom_extensions)?.end !== undefined))
      );
    const isConcept =
      (this.#documents.ontology?.ontology ?? []).some((c) => sameName(c.concept, d.name)) ||
      this.#documents.mappings.some((m) => m.object_mappings?.some((o) => this.mapped.refOf(o)?.dataset === d));
    const ends = this.links.filter((r) => sameName(r.from, d.name));
    const columns = ends.flatMap((r) => r.from_columns.map(fold)).sort();
    const inMetrics = (this.#documents.model?.metrics ?? []).some((m) =>
      new RegExp(`\\b${d.name.replace(/\W/g, '\\$&')}"?\\s*\\.`, 'i').test(sqlOf(m.expression) ?? ''),
    );
    return (
      !isConcept &&
      !inMetrics &&
      ends.length === 2 &&
      !this.links.some((r) => sameName(r.to, d.name)) &&
      (d.primary_key ?? []).map(fold).sort().join() === columns.join()
    );
  }

  /** The dataset with a concept's name, or that its objects come from first. */
  of(concept: string): Dataset | undefined {
    const same = this.named(concept);
    if (same !== undefined && !this.#sides.has(same)) return same;
    return this.mapped.datasetOf(concept);
  }

  /** The concept of a dataset. */
  conceptOf(dataset: string): string | undefined {
    const same = this.#draft.concept(dataset);
    if (same) return same.name;
    const found = this.named(dataset);
    return this.#draft.concepts.find((c) => found !== undefined && this.of(c.name) === found)?.name;
  }

  /** Adds concepts for datasets that no concept of the ontology uses, and what datasets say about concepts. */
  concepts(): void {
    const hasOntology = this.#draft.concepts.length > 0;
    for (const d of this.all.filter((e) => !this.#sides.has(e))) {
      if (this.conceptOf(d.name) === undefined) {
        this.#draft.addConcept(d.name);
        if (hasOntology) this.#draft.losses.push(`dataset ${d.name}: no concept of the ontology has its rows, so it is a concept of its own`);
      }
      const concept = this.#draft.concept(this.conceptOf(d.name) ?? '');
      if (concept === undefined || this.of(concept.name) !== d) continue;
      concept.description ??= d.description ?? null;
      concept.tags = { ...contextAsTags(d.ai_context), ...concept.tags };
      this.#contextLoss(`dataset ${d.name}`, d.ai_context);
      for (const key of d.unique_keys ?? [])
        if (key.map(fold).sort().join() !== (d.primary_key ?? []).map(fold).sort().join())
          this.#draft.losses.push(`unique key (${key.join(', ')}) of ${d.name}`);
    }
  }

  #contextLoss(what: string, context: Dataset['ai_context']): void {
    if (typeof context === 'string') this.#draft.losses.push(`ai_context of ${what}: ${context}`);
    else for (const key of Object.keys(context ?? {}).filter((k) => k !== 'synonyms')) this.#draft.losses.push(`ai_context.${key} of ${what}`);
  }

  /** The field with the values of a relationship of a concept: as the mappings say, or of the same name. */
  #field(concept: string, name: string): FieldRef | undefined {
    const mapped = this.mapped.fieldOf(concept, name);
    if (mapped) return mapped;
    const values = [...this.#sides].find((d) => {
      const { multivalue } = extensionOf<DatasetExtension>(d.custom_extensions) ?? {};
      return multivalue !== undefined && sameName(multivalue.concept, concept) && sameName(multivalue.property, name);
    });
    const dataset = values ?? this.of(concept);
    const field = dataset?.fields?.find((f) => sameName(f.name, name));
    return dataset && field ? { dataset, field } : undefined;
  }

  hasLinks(concept: string, name: string): boolean {
    return (
      this.mapped.linksOf(concept, name).length > 0 ||
      this.sideLinks.some((s) => s.relationship !== undefined && sameName(s.concept, concept) && sameName(s.relationship, name))
    );
  }

  /** What the field of a concept's relationship says. */
  fieldOf(concept: string, name: string): FieldFacts | undefined {
    const found = this.#field(concept, name);
    return found && this.factsOf(found.dataset, found.field);
  }

  /** What a field says about its property. */
  factsOf(dataset: Dataset, field: Field): FieldFacts {
    const extras = extensionOf<FieldExtension>(field.custom_extensions) ?? {};
    const sql = sqlOf(field.expression);
    return {
      type: extras.type ?? (field.datatype === undefined ? undefined : ownType(field.datatype)),
      description: field.description ?? null,
      tags: { ...contextAsTags(field.ai_context), ...extras.tags },
      expression: sql === undefined ? null : this.calculated(dataset, sql),
    };
  }

  /** The expression of a field as that of a calculated property, if it only reads other fields; null for a column, or an expression over columns. */
  calculated(dataset: Dataset, sql: string): string | null {
    if (plainColumn(sql) !== undefined) return null;
    const text = /^\((\w+|"[^"]*")\)$/.test(sql) ? sql.slice(1, -1) : sql;
    const fields = dataset.fields ?? [];
    const isField = (name: string): boolean => fields.some((f) => sameName(f.name, name));
    const references = this.#references(sql);
    if (references.length === 0 || !references.every(({ name, nested }) => !nested && isField(name))) return null;
    return fromDotted(text, (names) =>
      isField(names.at(-1) ?? '') && (names.length === 1 || sameName(names[0] ?? '', dataset.name)) ? quoteBack(names.at(-1) ?? '') : undefined,
    );
  }

  #references(sql: string) {
    try {
      return this.#reader.referencesOf({ text: sql, offset: 0 }, 'expression');
    } catch {
      return [];
    }
  }

  renamed(concept: string, name: string, property: string): void {
    this.#names.set(`${fold(concept)} ${fold(name)}`, property);
    const field = this.#field(concept, name);
    if (field) this.#names.set(`${fold(concept)} ${fold(field.dataset.name)}.${fold(field.field.name)}`, property);
  }
  /** The property of a concept, or of an ancestor, for a name in the document. */
  propertyOf(concept: string, name: string): string | undefined {
    for (const c of this.#draft.lineage(concept)) {
      const found = this.#names.get(`${fold(c.name)} ${fold(name)}`) ?? c.properties.find((p) => sameName(p, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  /** The property for a field of a concept's dataset. */
  propertyOfField(concept: string, dataset: Dataset, field: string): string | undefined {
    for (const c of this.#draft.lineage(concept)) {
      const found = this.#names.get(`${fold(c.name)} ${fold(dataset.name)}.${fold(field)}`);
      if (found !== undefined) return found;
    }
    return sameName(dataset.name, this.of(concept)?.name ?? '') ? this.propertyOf(concept, field) : undefined;
  }

  /** Adds the fields of datasets as properties, and their keys. Fields that ancestors have belong to them. */
  fields(): void {
    const inOrder = [...this.#draft.concepts].sort((a, b) => this.#draft.lineage(a.name).length - this.#draft.lineage(b.name).length);
    for (const c of inOrder) {
      const dataset = this.of(c.name);
      if (dataset === undefined) continue;
      const isMapped = this.#documents.mappings.some((m) => sameName(m.concept, c.name)) && extensionOf(dataset.custom_extensions) === undefined;
      for (const field of dataset.fields ?? []) {
        if (isMapped) {
          if (!this.mapped.has(dataset, field.name)) this.#draft.once(`field ${dataset.name}.${field.name}: no relationship of the ontology has it`);
          continue;
        }
        this.#contextLoss(`${dataset.name}.${field.name}`, field.ai_context);
        if (
          this.propertyOfField(c.name, dataset, field.name) !== undefined ||
          (this.conceptOf(dataset.name) !== c.name && this.#draft.concept(dataset.name) === undefined)
        )
          continue;
        const name = this.#draft.addProperty({ name: field.name, ...this.factsOf(dataset, field) }, c.name);
        c.properties.push(name);
        this.renamed(c.name, field.name, name);
      }
      if (this.#draft.keyOf(c.name).length === 0 && !(this.#documents.ontology?.ontology ?? []).some((o) => sameName(o.concept, c.name)))
        c.key = [...this.keyProperties(c.name)];
    }
  }

  /** Whether an expression reads fields of another dataset. */
  isCross(dataset: Dataset, sql: string): boolean {
    return (
      plainColumn(sql) === undefined &&
      namesIn(sql).some(([name = '', ...rest]) => rest.length > 0 && !sameName(name, dataset.name) && this.named(name) !== undefined)
    );
  }

  /** Fields over fields of other datasets become properties over paths. */
  crossFields(): void {
    for (const c of this.#draft.concepts) {
      const dataset = this.of(c.name);
      for (const field of dataset?.fields ?? []) {
        const sql = sqlOf(field.expression);
        const property = dataset && this.propertyOfField(c.name, dataset, field.name);
        if (dataset === undefined || sql === undefined || property === undefined || this.conceptOf(dataset.name) !== c.name || !this.isCross(dataset, sql))
          continue;
        const made = crossDataset(sql, c.name, this.#draft, this);
        if ('expression' in made) this.#draft.calculated(property, made.expression);
        else this.#draft.losses.push(`expression of field ${dataset.name}.${field.name}: ${made.why}`);
      }
    }
  }

  /** The properties of a dataset's primary key. */
  keyProperties(concept: string): readonly string[] {
    const dataset = this.of(concept);
    const key = (dataset?.primary_key ?? []).flatMap((column) => (dataset === undefined ? [] : (this.#propertyOfColumn(concept, dataset, column) ?? [])));
    return key.length === (dataset?.primary_key ?? []).length ? key : [];
  }

  /** Keys name columns: that of a field, or a field itself. */
  #propertyOfColumn(concept: string, dataset: Dataset, column: string): string | undefined {
    const field =
      dataset.fields?.find((f) => sameName(f.name, column)) ?? dataset.fields?.find((f) => plainColumn(sqlOf(f.expression) ?? '') === column.toLowerCase());
    return field === undefined ? (this.isOwn ? this.propertyOf(concept, column) : undefined) : this.propertyOfField(concept, dataset, field.name);
  }

  /** The columns of a core relationship, or of a mapping of links, as properties. */
  foreignKey(concept: string, name: string, target: string): { readonly source: readonly string[]; readonly references: readonly string[] } | undefined {
    const dataset = this.of(concept);
    const core = this.links.find(
      (r) => dataset !== undefined && sameName(r.from, dataset.name) && sameName(extensionOf<EndExtension>(r.custom_extensions)?.name ?? r.name, name),
    );
    if (core !== undefined) {
      const columns = this.#columnsOf(core, concept, target);
      if (columns !== undefined) {
        this.#used.add(core);
        return columns;
      }
    }
    for (const { from, to } of this.mapped.linksOf(concept, name)) {
      const key = this.#draft.keyOf(target);
      const refs = this.#sql.expressionsOf(to, target).map((e) => this.mapped.ref(e));
      const start = this.mapped.refOf(from)?.dataset;
      if (key.length === 0 || refs.length !== key.length || refs.some((r) => r === undefined || r.dataset !== start || r.dataset !== dataset)) continue;
      const source = refs.map((r, i) => this.#foreignProperty(concept, r as FieldRef, `${name}_${key[i]}`, key[i] ?? ''));
      return { source, references: key };
    }
    return undefined;
  }

  /** The property with the values of a foreign key. It is added if no property has the field's values. */
  #foreignProperty(concept: string, { dataset, field }: FieldRef, fallback: string, key: string): string {
    const found = this.propertyOfField(concept, dataset, field.name);
    if (found !== undefined) return found;
    const made = this.#draft.addProperty({ name: fallback, type: this.#draft.property(key)?.type }, concept);
    this.#draft.addConcept(concept).properties.push(made);
    this.#names.set(`${fold(concept)} ${fold(dataset.name)}.${fold(field.name)}`, made);
    return made;
  }

  #columnsOf(r: CoreRelationship, concept: string, target: string): { readonly source: readonly string[]; readonly references: readonly string[] } | undefined {
    const [from, to] = [this.named(r.from), this.named(r.to)];
    if (from === undefined || to === undefined) return undefined;
    const source = r.from_columns.flatMap((c) => this.#propertyOfColumn(concept, from, c) ?? []);
    const references = r.to_columns.flatMap((c) => this.#propertyOfColumn(target, to, c) ?? []);
    // a column without a type has the type of the column that it refers to
    for (const [i, name] of source.entries()) this.#draft.alike(name, references[i] ?? name);
    return source.length === r.from_columns.length && references.length === r.to_columns.length && source.length === references.length
      ? { source, references }
      : undefined;
  }

  /** The two ends of each dataset of links. `relationship` and `concept` are undefined if the documents do not name them. */
  get sideLinks(): readonly {
    readonly dataset: Dataset;
    readonly ends: readonly CoreRelationship[];
    readonly relationship?: string;
    readonly concept: string;
  }[] {
    return [...this.#sides].flatMap((dataset) => {
      const extras = extensionOf<DatasetExtension>(dataset.custom_extensions);
      if (extras?.multivalue !== undefined) return [];
      const ends = this.links.filter((r) => sameName(r.from, dataset.name));
      const end = (which: string) => ends.find((r) => extensionOf<EndExtension>(r.custom_extensions)?.end === which);
      const [forward, back] = [end('forward') ?? ends[1], end('back') ?? ends[0]];
      if (forward === undefined || back === undefined) return [];
      const concept = extras?.link?.concept ?? this.conceptOf(back.to) ?? back.to;
      return [{ dataset, ends: [forward, back], relationship: extras?.link?.relationship ?? dataset.name, concept }];
    });
  }

  /** Adds the relationships of the core document that the ontology document does not have. */
  relationships(): void {
    for (const r of this.links) {
      if (this.#used.has(r) || [...this.#sides].some((d) => sameName(d.name, r.from))) continue;
      const [concept, target] = [this.conceptOf(r.from), this.conceptOf(r.to)];
      const columns = concept === undefined || target === undefined ? undefined : this.#columnsOf(r, concept, target);
      if (concept === undefined || target === undefined || columns === undefined) {
        this.#draft.losses.push(`relationship ${r.name}: ${r.from} or ${r.to} has no field for its columns`);
        continue;
      }
      const name = extensionOf<EndExtension>(r.custom_extensions)?.name ?? r.name;
      const description = typeof r.ai_context === 'object' ? (r.ai_context.instructions ?? null) : (r.ai_context ?? null);
      this.#draft.addConcept(concept).relationships.push({ name, kind: 'fk', target, ...columns, inverse: null, transitive: null, description });
    }
    for (const { dataset, ends, relationship = dataset.name, concept } of this.sideLinks) {
      const made = this.#draft.concept(concept);
      const target = this.conceptOf(ends[0]?.to ?? '');
      if (made === undefined || target === undefined || made.relationships.some((r) => sameName(r.name, relationship))) continue;
      made.relationships.push({
        name: relationship,
        kind: 'mtm',
        target,
        source: [],
        references: [],
        inverse: null,
        transitive: null,
        description: dataset.description ?? null,
      });
    }
  }

  /** Adds the mappings. */
  mappings(): void {
    this.#sql.add([...this.#sides]);
  }

  /** The columns of an end of a link as properties of its concept. */
  endOf(r: CoreRelationship, concept: string): readonly string[] {
    const to = this.named(r.to);
    return to === undefined ? [] : r.to_columns.flatMap((c) => this.#propertyOfColumn(concept, to, c) ?? []);
  }

  /** The name of an end of a link. */
  endName = (r: CoreRelationship): string => extensionOf<EndExtension>(r.custom_extensions)?.name ?? r.name;
  hasEnd = (r: CoreRelationship): boolean => extensionOf<EndExtension>(r.custom_extensions)?.end !== undefined;
}
