/**
 * The parts of a comparison of two versions of a model that a change may affect (docs/design/policies.md#which-policies-a-change-concerns). The others have the same
 * SQL in both versions, so that they are not planned.
 */
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import type { MaskRule, RowRule } from '../secure/access.ts';
import { Touched } from './index.ts';

/** What the change from one version to another may affect. All answers are the same for both versions. */
export class Affected {
  readonly #touched: Touched;
  /** The affected part of each rule that is not affected as a whole; undefined if nothing of it is affected. */
  readonly #parts: ReadonlyMap<RowRule, RowRule | undefined>;
  readonly #masks: ReadonlySet<MaskRule>;

  constructor(before: Graph, after: Graph, { rows, masks }: { readonly rows: readonly RowRule[]; readonly masks: readonly MaskRule[] }) {
    const touched = new Touched(before, after);
    this.#touched = touched;
    this.#parts = new Map(rows.flatMap((rule) => (touched.hasName(rule.concept) ? [] : [[rule, partOf(rule, touched)]])));
    this.#masks = new Set(masks.filter((mask) => touched.hasMask(mask)));
  }

  /** The conditions of a row rule whose SQL may differ in the rows of a mapping: the whole rule, or a part of it; undefined if there are none. */
  rule(rule: RowRule, mapping: MappingDef): RowRule | undefined {
    return this.#parts.has(rule) && !this.mapping(mapping) ? this.#parts.get(rule) : rule;
  }

  /** True if the SQL of a masked value may differ in the rows of a mapping. */
  mask(mask: MaskRule, mapping: MappingDef): boolean {
    return this.#masks.has(mask) || this.mapping(mapping);
  }

  /** True if a mapping differs, or one of its concepts may. A changed mapping touches its concepts. */
  mapping({ concept, link }: MappingDef): boolean {
    return [concept, link?.forward.concept, link?.back.concept].some((name) => name != null && this.name(name));
  }

  /** True if the object with this name may mean something else. A relationship may then have other pairs of rows. */
  name(name: string): boolean {
    return this.#touched.hasName(name);
  }
}

/** A rule with those of its conditions whose texts may mean something else. */
function partOf(rule: RowRule, touched: Touched): RowRule | undefined {
  const conditions = rule.conditions.filter(({ condition }) => touched.reaches(condition));
  return conditions.length === 0 ? undefined : { ...rule, conditions };
}
