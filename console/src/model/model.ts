/** A model with look-ups by name. Pure: no DOM, no request. */
import type { Concept, Detail, Relationship } from './types.ts';

/** A model with look-ups. */
export class Model {
  readonly name: string;
  readonly detail: Detail;
  readonly concepts: ReadonlyMap<string, Concept>;
  /** The names of the concepts that inherit directly from a concept. */
  readonly children: ReadonlyMap<string, readonly string[]>;

  constructor(name: string, detail: Detail) {
    this.name = name;
    this.detail = detail;
    this.concepts = new Map(detail.ontology.map((c) => [c.concept, c]));
    const children = new Map<string, string[]>();
    for (const c of detail.ontology) for (const parent of c.inheritance) children.set(parent, [...(children.get(parent) ?? []), c.concept]);
    this.children = children;
  }

  /** True if a concept is another one or inherits from it. */
  isOfKind(concept: string, of: string): boolean {
    return concept === of || (this.concepts.get(concept)?.inheritance ?? []).some((parent) => this.isOfKind(parent, of));
  }

  /** A relationship of a concept, own or inherited. */
  relationship(concept: string, name: string): Relationship | undefined {
    return this.concepts.get(concept)?.relationships.find((r) => r.name === name);
  }

  /** The columns of a concept in `dsvc`: its properties, and the entity columns. */
  columns(concept: string): readonly { readonly name: string; readonly type: string; readonly description: string | null }[] {
    const own = this.concepts.get(concept)?.properties.filter((p) => !p.is_measure) ?? [];
    return [...own, ...['entity_id', 'entity_type', 'entity_label'].map((name) => ({ name, type: 'string', description: null }))];
  }
}
