/** What row policies, and the conditions of logic concepts, ask of the rows of mappings: once for all mappings of a kind, and of each what it gives. */
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import type { Access } from '../access.ts';
import { admitted } from '../admitted.ts';
import type { AppliedRule } from '../policies.ts';
import { Branch, type WantedColumns } from '../sources.ts';
import { nullValue, select, target } from '../tree.ts';
import { type ModelContext, planned } from './work.ts';

interface Question {
  readonly text: string | null;
  /** The columns that it reads of a row. */
  readonly wanted: WantedColumns;
}

/** The questions of one policy. */
export class Questions {
  readonly #context: ModelContext;
  readonly #graph: Graph;
  readonly #access: Access;
  readonly #known = new Map<string, Question>();

  constructor(context: ModelContext, graph: Graph, access: Access) {
    this.#context = context;
    this.#graph = graph;
    this.#access = access;
  }

  /** What the rule asks of the rows of a mapping, as texts; null: it cannot be planned. */
  of(rule: AppliedRule, mapping: MappingDef): readonly string[] | null {
    const mapped = this.#graph.concept(mapping.concept ?? '') ?? this.#graph.thing;
    const { text, wanted } = this.#question(rule, mapped);
    const given = planned(this.#context, this.#graph, this.#access, (work) => new Branch(work, mapping, mapped, mapped).select(wanted, []));
    return text === null || given === null ? null : [text, given];
  }

  /** Of the concept that is mapped a question depends on the key alone: by it multi-value properties are joined. */
  #question(rule: AppliedRule, mapped: Concept): Question {
    const key = JSON.stringify([rule.when.map((c) => c.name), mapped.key?.holder.name, mapped.key?.properties.map((p) => p.name)]);
    let known = this.#known.get(key);
    if (known === undefined) {
      let wanted: WantedColumns = new Map();
      const text = planned(this.#context, this.#graph, this.#access, (work) =>
        admitted(work, mapped, [rule], new Map(), (asked) => {
          wanted = asked;
          return select({ targetList: [...asked.keys()].map((name) => target(nullValue(), name)) });
        }),
      );
      known = { text, wanted };
      this.#known.set(key, known);
    }
    return known;
  }
}
