/**
 * The ends of the joins of a model: the joined rows and the values by which they are joined, as texts that can be compared between two versions of the model.
 */
import { SvcError } from '../../errors.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { isPath, propertyAtEnd } from '../../ontology/paths.ts';
import { Branch } from '../lower/branch.ts';
import { fieldsOf, walk } from '../plan/tree.ts';
import type { Access } from '../secure/access.ts';
import { Policies, sourcesOf } from '../secure/policies.ts';
import { accessFor, definitionOf, type ModelContext, ModelState, planned } from './model-state.ts';
import { RuleTexts } from './rules.ts';

/** The rows of a mapping as an end of a join. */
export interface End {
  readonly mapping: MappingDef;
  /** Equal texts mean the same values of the same rows, before conditions. */
  readonly text: string;
  /** The text, followed by the conditions of logic concepts that the rows meet, if there are any. */
  readonly key: string;
  /** True if one of the values is masked, or calculated from a masked value. */
  readonly isMasked: boolean;
}

/** Ends by `key`. */
export type Ends = ReadonlyMap<string, End>;

/** The prefix of the text of an end that cannot be planned. Such an end is not equal to any other. */
const UNPLANNED = 'unplanned ';

/** True if `ends` has all rows of an end, joined by the same values. */
export const hasEnd = (ends: Ends, { key, text }: End): boolean =>
  !text.startsWith(UNPLANNED) && (ends.has(text) || (!key.startsWith(UNPLANNED) && ends.has(key)));

/** The ends of joins in one version of a model. Its methods do not throw. */
export class EndsOf {
  readonly #context: ModelContext;
  readonly #graph: Graph;
  readonly #access: Access;
  readonly #policies: Policies;
  readonly #ends = new Map<string, Pick<End, 'text' | 'isMasked'>>();
  readonly #ruleTexts = new Map<Concept, RuleTexts>();
  readonly #named = new Map<PropertyDef, readonly PropertyDef[]>();
  #masked: ReadonlySet<PropertyDef> | undefined;

  constructor(context: ModelContext, graph: Graph, access: Access) {
    this.#context = context;
    this.#graph = graph;
    this.#access = access;
    this.#policies = Policies.of(access, graph);
  }

  /** The ends of the rows of concepts, joined by these properties. */
  of(concepts: readonly Concept[], properties: readonly PropertyDef[]): Ends {
    const ends = new Map<string, End>();
    for (const concept of concepts) {
      for (const mapping of sourcesOf(concept).mappings) {
        const end = this.#end(concept, mapping, properties);
        const conditions = this.#conditionsOf(concept, mapping);
        const key = conditions === null ? UNPLANNED + concept.name + end.text : end.text + conditions;
        ends.set(key, { mapping, key, ...end });
      }
    }
    return ends;
  }

  #end(reader: Concept, mapping: MappingDef, properties: readonly PropertyDef[]): Pick<End, 'text' | 'isMasked'> {
    // Only calculated properties depend on the concept through which a row is read.
    const through = properties.some((p) => p.expression !== null) ? reader.name : '';
    const key = JSON.stringify([mapping.name, through, properties.map((p) => p.name)]);
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    const sql = planned(this.#context, this.#graph, this.#access, (state) => {
      const wanted = properties.map((def, i) => [`v${i}`, { kind: 'property', def, actual: true }] as const);
      return new Branch(state, mapping, this.#mapped(mapping), reader).select(new Map(wanted), []);
    });
    const text = sql === null ? UNPLANNED + key : JSON.stringify([definitionOf(mapping), sql]);
    const end = { text, isMasked: properties.some((p) => this.#isMasked(mapping, p)) };
    this.#ends.set(key, end);
    return end;
  }

  #mapped(mapping: MappingDef): Concept {
    return this.#graph.concept(mapping.concept ?? '') ?? this.#graph.thing;
  }

  /** The SQL of the conditions that a mapping's rows meet if they are read through a concept; '' without conditions, null if it cannot be planned. */
  #conditionsOf(concept: Concept, mapping: MappingDef): string | null {
    const { when } = sourcesOf(concept);
    if (when.length === 0) return '';
    let ruleTexts = this.#ruleTexts.get(concept);
    if (ruleTexts === undefined) {
      ruleTexts = new RuleTexts(this.#context, this.#graph, accessFor({ rows: [{ concept: concept.name, conditions: [] }] }));
      this.#ruleTexts.set(concept, ruleTexts);
    }
    return ruleTexts.of({ concept, rule: { concept: concept.name, conditions: [] }, when }, mapping)?.join('\n') ?? null;
  }

  /** True if a value in the rows of a mapping is masked, or calculated from a masked value. */
  #isMasked(mapping: MappingDef, def: PropertyDef, seen: Set<PropertyDef> = new Set()): boolean {
    if (seen.has(def)) return false;
    seen.add(def);
    if (this.#policies.masks(mapping, def.name).length > 0) return true;
    // a path leads to rows of other mappings
    if (def.expression !== null && isPath(def.expression)) return this.masked().has(def);
    return this.#namesIn(def).some((below) => this.#isMasked(mapping, below, seen));
  }

  /** The properties that are masked in some rows, and those that are calculated from them. */
  masked(): ReadonlySet<PropertyDef> {
    if (this.#masked !== undefined) return this.#masked;
    const masked = new Set(this.#access.masks.flatMap((m) => this.#graph.property(m.property) ?? []));
    for (let size = -1; size < masked.size && masked.size > 0; ) {
      size = masked.size;
      for (const p of this.#graph.model.properties) if (!masked.has(p) && this.#namesIn(p).some((below) => masked.has(below))) masked.add(p);
    }
    this.#masked = masked;
    return masked;
  }

  /** The properties that a calculated property reads. */
  #namesIn(def: PropertyDef): readonly PropertyDef[] {
    let names = this.#named.get(def);
    if (names === undefined) {
      names =
        def.expression === null
          ? []
          : columnsIn(this.#context, this.#graph, def).flatMap((name) => this.#graph.property(isPath(name) ? (propertyAtEnd(name) ?? '') : name) ?? []);
      this.#named.set(def, names);
    }
    return names;
  }
}

/** The names of columns in the expression of a calculated property; all property names if the expression cannot be read. */
function columnsIn(context: ModelContext, graph: Graph, def: PropertyDef): readonly string[] {
  const names: string[] = [];
  try {
    walk(new ModelState(context, graph, accessFor({})).texts.plainExpression(def, def.expression ?? ''), (n) => {
      if ('ColumnRef' in n) names.push(fieldsOf(n.ColumnRef).at(-1) ?? '');
      return undefined;
    });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return graph.model.properties.map((p) => p.name);
  }
  return names;
}
