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
  readonly #rules: ReadonlySet<RowRule>;
  readonly #masks: ReadonlySet<MaskRule>;

  constructor(before: Graph, after: Graph, { rows, masks }: { readonly rows: readonly RowRule[]; readonly masks: readonly MaskRule[] }) {
    const touched = new Touched(before, after);
    this.#touched = touched;
    this.#rules = new Set(rows.filter((rule) => touched.hasRule(rule)));
    this.#masks = new Set(masks.filter((mask) => touched.hasMask(mask)));
  }

  /** True if the SQL of a row rule may differ in the rows of a mapping. */
  rule(rule: RowRule, mapping: MappingDef): boolean {
    return this.#rules.has(rule) || this.mapping(mapping);
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
