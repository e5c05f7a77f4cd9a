/**
 * The SQL of row policies and of the conditions of logic concepts, for the rows of a mapping. The condition is planned once for all mappings of the same kind,
 * the columns that it reads for each mapping.
 */
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { admitted } from '../lower/admitted.ts';
import { Branch } from '../lower/branch.ts';
import { nullValue, select, target } from '../plan/tree.ts';
import type { WantedColumns } from '../plan/wanted.ts';
import type { Access } from '../secure/access.ts';
import type { AppliedRule } from '../secure/policies.ts';
import { type ModelContext, planned } from './model-state.ts';

interface RuleText {
  readonly text: string | null;
  /** The columns that the condition reads. */
  readonly wanted: WantedColumns;
}

/** The SQL of the rules of one policy. */
export class RuleTexts {
  readonly #context: ModelContext;
  readonly #graph: Graph;
  readonly #access: Access;
  readonly #known = new Map<string, RuleText>();

  constructor(context: ModelContext, graph: Graph, access: Access) {
    this.#context = context;
    this.#graph = graph;
    this.#access = access;
  }

  /** The SQL of a rule for the rows of a mapping; null if it cannot be planned. */
  of(rule: AppliedRule, mapping: MappingDef): readonly string[] | null {
    const mapped = this.#graph.concept(mapping.concept ?? '') ?? this.#graph.thing;
    const { text, wanted } = this.#textOf(rule, mapped);
    const given = planned(this.#context, this.#graph, this.#access, (state) => new Branch(state, mapping, mapped, mapped).select(wanted, []));
    return text === null || given === null ? null : [text, given];
  }

  /** The SQL depends only on the key of the mapped concept, by which multi-value properties are joined. */
  #textOf(rule: AppliedRule, mapped: Concept): RuleText {
    const key = JSON.stringify([rule.when.map((c) => c.name), mapped.key?.holder.name, mapped.key?.properties.map((p) => p.name)]);
    let known = this.#known.get(key);
    if (known === undefined) {
      let wanted: WantedColumns = new Map();
      const text = planned(this.#context, this.#graph, this.#access, (state) =>
        admitted(state, mapped, [rule], new Map(), (columns) => {
          wanted = columns;
          return select({ targetList: [...columns.keys()].map((name) => target(nullValue(), name)) });
        }),
      );
      known = { text, wanted };
      this.#known.set(key, known);
    }
    return known;
  }
}
