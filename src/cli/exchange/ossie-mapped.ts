/** What a mapping document says: which fields have the objects of a concept and the links of a relationship. */
import { fold, sameName } from '../../ontology/names.ts';
import type { Documents } from './ossie-read.ts';
import type { Dataset, Field, LinkMapping, ObjectMapping } from './ossie-types.ts';
import { sqlOf } from './ossie-values.ts';

/** A field of a dataset, in an expression of a mapping. */
export interface FieldRef {
  readonly dataset: Dataset;
  readonly field: Field;
}

/** A link: the object at its start and the one at its end. */
interface Link {
  readonly from: ObjectMapping;
  readonly to: ObjectMapping;
}

/** Finds the fields that mappings name. */
export class Mapped {
  readonly #documents: Documents;
  #names: ReadonlySet<string> | undefined;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** The field of an expression that names one. */
  ref(expression: string | undefined): FieldRef | undefined {
    const [name = '', field = ''] = (expression ?? '').split('.').map((part) => part.trim().replace(/^"(.*)"$/, '$1'));
    const dataset = this.#documents.model?.datasets.find((d) => sameName(d.name, name));
    const found = dataset?.fields?.find((f) => sameName(f.name, field));
    return dataset && found ? { dataset, field: found } : undefined;
  }

  /** The field of an object's first expression. */
  refOf(o: ObjectMapping): FieldRef | undefined {
    return this.ref(o.expression ?? o.referent_mappings?.[0]?.expression ?? o.referent_mappings?.[0]?.referent_mappings?.[0]?.expression);
  }

  /** The SQL of an expression that names a field of a dataset. */
  sqlOf(expression: string, dataset: Dataset): string | undefined {
    const ref = this.ref(expression);
    return ref?.dataset === dataset ? sqlOf(ref.field.expression) : undefined;
  }

  /** The first dataset with objects of a concept. */
  datasetOf(concept: string): Dataset | undefined {
    return this.#of(concept)
      .flatMap((m) => [...(m.object_mappings ?? []), ...(m.link_mappings ?? []).map((l) => l.object_mapping)])
      .map((o) => this.refOf(o)?.dataset)
      .find((d) => d !== undefined);
  }

  /** Whether a mapping names a field. */
  has(dataset: Dataset, field: string): boolean {
    this.#names ??= new Set(
      [...JSON.stringify(this.#documents.mappings).matchAll(/"expression":"([^"\\]|\\.)*"/g)].map(([text]) => fold(text.slice(14, -1).replaceAll('\\"', ''))),
    );
    return this.#names.has(fold(`${dataset.name}.${field}`));
  }

  /** The field with the values of a relationship of a concept. */
  fieldOf(concept: string, name: string): FieldRef | undefined {
    const mappings = this.#of(concept);
    const links = mappings.flatMap((m) => m.link_mappings ?? []).flatMap((l) => children(l, concept, name));
    const mapped = links.map((l) => this.ref(l.object_mapping.expression)).find((r) => r !== undefined);
    if (mapped) return mapped;
    return mappings
      .flatMap((m) => m.object_mappings ?? [])
      .flatMap((o) =>
        o.expression === undefined ? (o.referent_mappings ?? []).filter((r) => isNamed(r.relationship, concept, name)) : this.#isKey(concept, name) ? [o] : [],
      )
      .map((o) => this.ref(o.expression))
      .find((r) => r !== undefined);
  }

  #isKey(concept: string, name: string): boolean {
    const key = this.#documents.ontology?.ontology.find((c) => sameName(c.concept, concept))?.identify_by ?? [];
    return key.length === 1 && isNamed(key[0] ?? '', concept, name);
  }

  /** The links of a relationship. */
  linksOf(concept: string, name: string): readonly Link[] {
    return this.#of(concept).flatMap((m) => [
      ...(m.link_mappings ?? []).flatMap((l) => children(l, concept, name).map((child) => ({ from: l.object_mapping, to: child.object_mapping }))),
      // a relationship that identifies the concept
      ...(m.object_mappings ?? []).flatMap((from) =>
        (from.referent_mappings ?? []).filter((r) => isNamed(r.relationship, concept, name)).map(({ relationship: _, ...to }) => ({ from, to })),
      ),
    ]);
  }

  #of(concept: string) {
    return this.#documents.mappings.filter((m) => sameName(m.concept, concept));
  }
}

const isNamed = (relationship: string, concept: string, name: string): boolean => sameName(relationship.replace(`${concept}.`, ''), name);

/** The link mappings of a relationship, at the level of pairs. */
const children = (link: LinkMapping, concept: string, name: string): readonly LinkMapping[] =>
  (link.children ?? []).filter((l) => l.relationship !== undefined && isNamed(l.relationship, concept, name));
