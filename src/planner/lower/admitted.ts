/**
 * The rows of a mapping that satisfy the caller's row policies (docs/design/policies.md#row-policies). For each concept that has policies and of which a row is
 * an instance, one of the caller's policies must be true. The conditions of policies see all rows and unmasked values. If another expression of the statement
 * may raise an error on a value, the SELECT gets OFFSET 0, because PostgreSQL does not push predicates below it (docs/design/policies.md#barriers).
 */
import type { Concept } from '../../ontology/graph.ts';
import { logicCondition, resolveCondition } from '../bind/condition.ts';
import { ConceptRelation } from '../bind/relation.ts';
import { BARRIER } from '../plan/barriers.ts';
import { and, boolean, coalesce, column, type Node, not, or, type SelectStmt, select, target } from '../plan/tree.ts';
import type { WantedColumns } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import type { AppliedRule } from '../secure/policies.ts';
import { asExists } from './aggregate/conditions.ts';
import { levelOf, NONE, nodesIn } from './aggregate/spine.ts';
import type { Branch } from './branch.ts';
import { emitConcept } from './emission.ts';
import { bindAndLower } from './finish.ts';

/** A rule with its names resolved. */
interface Resolved {
  /** The conditions under which a row is an instance of the rule's concept. Empty: every row is. */
  readonly when: readonly Node[];
  readonly conditions: readonly Node[];
  readonly isRequired: boolean;
}

/** A SELECT of `wanted` over the rows of a mapping into `mapped` that satisfy the rules. `rows` selects columns over all rows. */
export function admitted(
  state: PlanState,
  mapped: Concept,
  rules: readonly AppliedRule[],
  wanted: WantedColumns,
  rows: (wanted: WantedColumns) => SelectStmt,
): SelectStmt {
  return state.position.asTrusted(() => {
    const alias = state.alias();
    const base = new ConceptRelation(state, { concept: state.graph.concept(mapped.name) ?? mapped, schema: 'dsvc', alias, reader: mapped, rows });
    for (const [name, w] of wanted) base.expose(name, w);
    const resolved = bindAndLower(state, () => rules.map((rule) => resolve(state, base, rule)));
    const used = nodesIn(resolved, [base]);
    const isBranch = (node: Parameters<typeof levelOf>[0]): boolean => levelOf(node, { fromNodes: NONE }) !== null;
    const exists = (condition: Node): Node => asExists(condition, { relations: [base], isBranch });
    const conditions = resolved.map((r) => {
      const admits = r.conditions.length === 0 ? boolean(false) : or(r.conditions.map(exists));
      const isInstance = and(r.when.map(exists));
      if (r.isRequired) return isInstance ?? boolean(true);
      return isInstance ? or([not(coalesce(isInstance, boolean(false))), admits]) : admits;
    });
    state.references.settle(conditions, base);
    const from = emitConcept(base, new Set([...used].filter((n) => !isBranch(n))));
    return select({
      targetList: [...wanted.keys()].map((name) => target(column(alias, name), name)),
      fromClause: [from],
      whereClause: and(conditions) as Node,
      ...BARRIER,
    });
  });
}

/**
 * True if a row policy of a mapping may raise an error on a row that it hides. The caller's comparisons must then not decide for which rows it is computed: the statement needs
 * barriers, and no comparison reaches the table below them.
 */
export function rulesMayFail({ state, mapping, mapped, rules }: Branch, branchOf: (state: PlanState) => Branch): boolean {
  const { policies } = state;
  if (!policies || rules.length === 0) return false;
  const isKnown = !rules.some((r) => r.isRequired);
  const known = isKnown ? policies.failing.get(mapping) : undefined;
  if (known !== undefined) return known;
  const trial = state.trial();
  const found = trial.facts.raises(() => void admitted(trial, mapped, rules, new Map(), (wanted) => branchOf(trial).select(wanted, [])));
  if (isKnown) policies.failing.set(mapping, found);
  return found;
}

function resolve(state: PlanState, base: ConceptRelation, { concept, rule, when, isRequired = false }: AppliedRule): Resolved {
  return {
    when: when.flatMap(({ rows }) => (rows.kind === 'logic' ? [logicCondition(state, rows, base)] : [])),
    conditions: rule.conditions.map((c) => resolveCondition(state, c, c.condition, base.as(concept, 'dsvc'))),
    isRequired,
  };
}
