/**
 * Finds the row policies and masks that apply to a mapping (docs/design/policies.md#where-policies-apply). Every row of a concept comes from one place
 * (lower/branch.ts), the branch of its mapping, where the policies are applied. So they apply to a row that is read through any concept, path, measure, walk or view. The
 * conditions of policies see all rows and unmasked values.
 */
import { visited } from '../../budget.ts';
import { forbidden, SvcError } from '../../errors.ts';
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { ENTITY_COLUMNS, fold } from '../../ontology/names.ts';
import { followPath, isPath } from '../../ontology/paths.ts';
import { fieldsOf, walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import type { Access, MaskRule, RowRule } from './access.ts';
import { type Around, propertiesOfLink } from './link-columns.ts';

/** A row rule that applies to the rows of a mapping. */
export interface AppliedRule {
  /** The concept over which its conditions are written. */
  readonly concept: Concept;
  readonly rule: RowRule;
  /** The logic concepts, outermost first, whose conditions a row must meet to be an instance of the concept. Empty: every row of the mapping is one. */
  readonly when: readonly Concept[];
  /** True if only the instances of those logic concepts are read. Otherwise their rule decides about them, and the other rows are read too. */
  readonly isRequired?: boolean;
}

/** The policies that were computed for an access and a model, both of which are immutable. */
const KNOWN = new WeakMap<Access, WeakMap<Graph, Policies>>();

/** The policies of a caller over the whole model. */
export class Policies {
  readonly #graph: Graph;
  /** The row rules by the name of their concept, in the order of the policies. */
  readonly #rules = new Map<string, { readonly concept: Concept; readonly rule: RowRule }>();
  /** The names of the concepts with row rules whose rows are not only those of their own mappings and of their descendants' ones. */
  readonly #elsewhere: string[] = [];
  readonly #rows = new Map<MappingDef, readonly AppliedRule[]>();
  readonly #guarded = new Map<Concept, boolean>();
  /** The mappings with the rows of a concept that is no logic concept. */
  readonly #sources = new Map<Concept, ReadonlySet<MappingDef>>();
  /** The masks by folded name of the property. */
  readonly #masks = new Map<string, MaskRule[]>();
  /** Results of `maskIn`, by the names of a concept and a property. */
  readonly #maskIn = new Map<string, MaskRule | undefined>();
  /** Whether the row rules of a mapping may raise an error on a value, as far as it is known. */
  readonly failing = new Map<MappingDef, boolean>();
  /** Whether the conditions of a logic concept read a masked property, by the concept's name, as far as it is known. */
  readonly readingMasked = new Map<string, boolean>();

  static of(access: Access, graph: Graph): Policies {
    let byGraph = KNOWN.get(access);
    if (!byGraph) {
      byGraph = new WeakMap<Graph, Policies>();
      KNOWN.set(access, byGraph);
    }
    let found = byGraph.get(graph);
    if (!found) {
      found = new Policies(access, graph);
      byGraph.set(graph, found);
    }
    return found;
  }

  private constructor(access: Access, graph: Graph) {
    this.#graph = graph;
    for (const rule of access.rows) {
      const concept = graph.concept(rule.concept);
      if (!concept || this.#rules.has(concept.name)) continue;
      this.#rules.set(concept.name, { concept, rule });
      if (concept.rows.kind === 'logic' || concept.rows.fromAncestors) this.#elsewhere.push(concept.name);
    }
    for (const mask of access.masks) {
      const key = fold(mask.property);
      const list = this.#masks.get(key);
      if (list) list.push(mask);
      else this.#masks.set(key, [mask]);
    }
    for (const list of this.#masks.values()) list.sort(bySeverity);
  }

  get hasMasks(): boolean {
    return this.#masks.size > 0;
  }

  /** The rules that apply to the rows of a mapping, in the order of the policies. */
  rowRules(mapping: MappingDef): readonly AppliedRule[] {
    let found = this.#rows.get(mapping);
    if (!found) {
      found = this.#rules.size === 0 ? [] : this.#rulesOf(mapping);
      this.#rows.set(mapping, found);
    }
    return found;
  }

  #rulesOf(mapping: MappingDef): readonly AppliedRule[] {
    const mapped = mapping.kind === 'concept' ? this.#graph.concept(mapping.concept ?? '') : undefined;
    if (mapped === undefined) return [];
    const found = new Map<string, readonly Concept[]>();
    // a policy decides which concepts are looked at, not the statement
    visited(mapped.ancestors.length + this.#elsewhere.length);
    for (const { name } of [mapped, ...mapped.ancestors]) if (this.#rules.has(name)) found.set(name, []);
    for (const name of this.#elsewhere) {
      const { mappings, when } = this.#sourcesOf((this.#rules.get(name) as { readonly concept: Concept }).concept);
      if (!found.has(name) && mappings.has(mapping)) found.set(name, when);
    }
    if (found.size === 0) return [];
    visited(this.#rules.size);
    return [...this.#rules].flatMap(([name, { concept, rule }]) => {
      const when = found.get(name);
      return when ? [{ concept, rule, when }] : [];
    });
  }

  /** `sourcesOf`, with one set for all logic concepts over the same rows. */
  #sourcesOf(concept: Concept): ReturnType<typeof sourcesOf> {
    const { base, when } = baseOf(concept);
    let mappings = this.#sources.get(base);
    if (!mappings) {
      mappings = mappingsOf(base);
      visited(mappings.size);
      this.#sources.set(base, mappings);
    }
    return { mappings, when };
  }

  /** True if a row policy applies to rows of the concept. */
  isGuarded(concept: Concept): boolean {
    if (this.#rules.size === 0) return false;
    let found = this.#guarded.get(concept);
    if (found === undefined) {
      const { mappings } = this.#sourcesOf(this.#graph.concept(concept.name) ?? concept);
      found = [...mappings].some((m) => this.rowRules(m).length > 0);
      this.#guarded.set(concept, found);
    }
    return found;
  }

  /** The masks on a property's values in the rows of a mapping, the strictest first. */
  masks(mapping: MappingDef, property: string): readonly MaskRule[] {
    const masks = this.#masks.get(fold(property));
    if (!masks) return [];
    visited(masks.length);
    return masks.filter((m) => m.concept === null || this.#covers(m.concept, mapping));
  }

  /** The logic concepts whose conditions a row of the mapping must meet for the mask to apply. Empty: it applies to all rows. */
  maskedWhen(rule: MaskRule, mapping: MappingDef): readonly Concept[] {
    const concept = rule.concept === null ? undefined : this.#graph.concept(rule.concept);
    return !concept || this.#isInto(mapping, concept) ? [] : baseOf(concept).when;
  }

  /** The mask on a property in some row that can be read through the concept, or undefined. */
  maskIn(concept: Concept, property: string): MaskRule | undefined {
    const masks = this.#masks.get(fold(property));
    if (!masks) return undefined;
    const key = JSON.stringify([concept.name, fold(property)]);
    if (!this.#maskIn.has(key)) {
      const { mappings } = this.#sourcesOf(this.#graph.concept(concept.name) ?? concept);
      const found = masks.find((m) => {
        visited();
        return m.concept === null || [...mappings].some((mapping) => this.#covers(m.concept as string, mapping));
      });
      this.#maskIn.set(key, found);
    }
    return this.#maskIn.get(key);
  }

  /** The strictest mask on a property in some row that can be read through one of several concepts. */
  maskInAny(concepts: readonly Concept[], property: string): MaskRule | undefined {
    return concepts.flatMap((c) => this.maskIn(c, property) ?? []).sort(bySeverity)[0];
  }

  /**
   * The mask on a column of a link, and the property whose mask it is: of those with the column's name at the two ends, and those to which it refers, the strictest. NULL
   * if it refers to a property that is calculated from a masked one. `around`: the concepts whose rows are joined at the ends.
   */
  maskOnLink(state: PlanState, relationship: Relationship, column: string, around: Around, seen?: Set<string>): MaskRule | undefined {
    if (this.#masks.size === 0) return undefined;
    const rules = propertiesOfLink(this.#graph, relationship, column, around).flatMap(({ concept, def, isKey }): readonly MaskRule[] => {
      const own = this.maskIn(concept, def.name);
      const below = isKey ? this.#maskedInput(state, concept, def, seen) : undefined;
      if (below === undefined) return own ? [own] : [];
      return [{ policy: below, property: def.name, concept: null, mask: { kind: 'null' } }];
    });
    return rules.sort(bySeverity)[0];
  }

  /** True if rows of a mapping may be instances of a concept. */
  #covers(name: string, mapping: MappingDef): boolean {
    visited();
    const concept = this.#graph.concept(name);
    if (concept === undefined) return false;
    if (this.#isInto(mapping, concept)) return true;
    return (concept.rows.kind === 'logic' || concept.rows.fromAncestors) && this.#sourcesOf(concept).mappings.has(mapping);
  }

  /** True if a mapping maps into a concept or a descendant of it. */
  #isInto({ kind, concept: into }: MappingDef, concept: Concept): boolean {
    return kind === 'concept' && this.#graph.concept(into ?? '')?.isA(concept) === true;
  }

  /**
   * The name of a masked property that determines a property's value in the rows of a concept: the property itself, or one that it is calculated from;
   * undefined if they are not masked.
   */
  maskedBelow(state: PlanState, concept: Concept, def: PropertyDef, seen?: Set<string>): string | undefined {
    if (this.#masks.size === 0) return undefined;
    return this.maskIn(concept, def.name) ? def.name : this.#maskedInput(state, concept, def, seen);
  }

  /** The name of a masked property that a calculated property reads, also through others; undefined for any other property. `seen`: the calculated properties that were looked at. */
  #maskedInput(state: PlanState, concept: Concept, def: PropertyDef, seen: Set<string> = new Set()): string | undefined {
    const key = `${concept.name} ${def.name}`;
    if (def.expression === null || seen.has(key)) return undefined;
    seen.add(key);
    let found: string | undefined;
    walk(state.texts.plainExpression(def, def.expression), (n) => {
      if ('ColumnRef' in n) found ??= this.#maskedAt(state, concept, fieldsOf(n.ColumnRef).at(-1) ?? '', seen);
      return found === undefined;
    });
    return found;
  }

  /** The same for a name in an expression: a property, or a path. */
  #maskedAt(state: PlanState, concept: Concept, name: string, seen: Set<string>): string | undefined {
    const path = isPath(name) ? followPath(this.#graph.concept(concept.name) ?? concept, name) : undefined;
    const last = path?.hops.at(-1);
    const below = (at: Concept, properties: readonly (PropertyDef | undefined)[]): string | undefined => {
      for (const p of properties) {
        const found = p && this.maskedBelow(state, at, p, seen);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    if (!path || !last) return below(concept, [this.#graph.property(name)]);
    const around = { near: path.hops.at(-2)?.rows ?? concept, far: last.rows };
    if (path.link !== undefined) return this.maskOnLink(state, last.relationship, path.link, around, seen)?.property;
    const column = fold(path.property ?? '');
    if (!ENTITY_COLUMNS.includes(column)) return below(last.rows, [this.#graph.property(column)]);
    return below(last.rows, [...(last.rows.key?.properties ?? []), ...(column === 'entity_label' ? last.rows.label : [])]);
  }
}

/** The mappings with the rows of a concept, and the logic concepts between them and the concept. */
export function sourcesOf(concept: Concept): { readonly mappings: ReadonlySet<MappingDef>; readonly when: readonly Concept[] } {
  const { base, when } = baseOf(concept);
  return { mappings: mappingsOf(base), when };
}

/** The rules of a mapping's rows of which only the instances of logic concepts are read (lower/visible.ts). */
export const rulesOfInstances = (mapped: Concept, when: readonly Concept[] = []): readonly AppliedRule[] =>
  when.length === 0 ? [] : [{ concept: mapped, rule: { concept: mapped.name, conditions: [] }, when, isRequired: true }];

/** The concept whose rows a logic concept selects from, and the logic concepts between. */
export function baseOf(concept: Concept): { readonly base: Concept; readonly when: readonly Concept[] } {
  const when: Concept[] = [];
  let base = concept;
  while (base.rows.kind === 'logic' && !when.includes(base)) {
    when.push(base);
    base = base.rows.source;
  }
  return { base, when };
}

const mappingsOf = ({ rows }: Concept): ReadonlySet<MappingDef> => new Set(rows.kind === 'mappings' ? rows.sources.map((s) => s.mapping) : []);

const SEVERITY = { null: 0, full: 1, hash: 2, partial: 3, with: 4 };
const bySeverity = (a: MaskRule, b: MaskRule): number => SEVERITY[a.mask.kind] - SEVERITY[b.mask.kind] || (fold(a.policy) < fold(b.policy) ? -1 : 1);

/**
 * Throws an error if a measure, a logic concept or `_type_of_` reads a property that is masked for the caller
 * (docs/design/policies.md#what-masked-callers-are-refused).
 * @throws SvcError 403 `masked`
 */
export function refuseMasked(state: PlanState, concept: Concept, def: PropertyDef, reader: string): void {
  const masked = state.policies?.maskedBelow(state, concept, def);
  if (masked === undefined) return;
  // the property is named only if the caller sees it, and what reads it is not hidden
  const isSeen = reader.includes('`') && state.context.graph.property(def.name) !== undefined;
  const what = isSeen ? `the property \`${def.name}\`, whose values are masked for you` : 'a property whose values are masked for you';
  throw refusedAsMasked(reader, what);
}

/** 403 `masked`. */
export const refusedAsMasked = (reader: string, what: string): SvcError =>
  forbidden('masked', `${reader} reads ${what}`, { hint: 'Query only values that do not depend on masked properties.' });

export const isRefusedAsMasked = (error: unknown): boolean => error instanceof SvcError && error.code === 'masked';
