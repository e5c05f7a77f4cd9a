/**
 * The rows of a mapping that a caller's row policies admit (docs/design/policies.md#row-policies): for every concept that a row is an instance of and that has
 * policies, one of those for the caller is true. Conditions see all rows and true values. If something else in the statement may fail on a value, OFFSET 0
 * keeps it above: PostgreSQL does not push predicates below it (docs/design/policies.md#barriers).
 */
import type { Concept } from '../ontology/graph.ts';
import { levelOf, nodesIn } from './aggregate/calls.ts';
import { asExists } from './aggregate/conditions.ts';
import { resolveCondition } from './logic.ts';
import type { AppliedRule } from './policies.ts';
import { ConceptRelation } from './relation.ts';
import { Scope } from './scope.ts';
import type { WantedColumns } from './sources.ts';
import { and, boolean, coalesce, column, integer, type Node, not, or, type SelectStmt, select, target } from './tree.ts';
import type { Work } from './work.ts';

/** One rule with its names resolved. */
interface Resolved {
  /** Conditions under which a row is an instance of the rule's concept; empty: always. */
  readonly when: readonly Node[];
  readonly conditions: readonly Node[];
}

/** A SELECT of `wanted` over the rows of one mapping into `mapped` that the rules admit; `rows` selects columns over all of them. */
export function admitted(
  work: Work,
  mapped: Concept,
  rules: readonly AppliedRule[],
  wanted: WantedColumns,
  rows: (asked: WantedColumns) => SelectStmt,
): SelectStmt {
  return work.asTrusted(() => {
    const alias = work.alias();
    const base = new ConceptRelation(work, work.graph.concept(mapped.name) ?? mapped, 'dsvc', alias, mapped, [], alias, undefined, rows);
    for (const [name, w] of wanted) base.expose(name, w);
    const resolved = rules.map((rule) => resolve(work, base, alias, rule));
    const used = nodesIn(resolved, [base]);
    const facts = { scope: new Scope(undefined), relations: [base], fromNodes: new Set<never>() };
    const isBranch = (node: Parameters<typeof levelOf>[0]): boolean => levelOf(node, facts) !== null;
    const met = (condition: Node): Node => asExists(condition, { relations: [base], isBranch });
    const conditions = resolved.map((r) => {
      const admits = r.conditions.length === 0 ? boolean(false) : or(r.conditions.map(met));
      const isInstance = and(r.when.map(met));
      return isInstance ? or([not(coalesce(isInstance, boolean(false))), admits]) : admits;
    });
    const from = base.emit(new Set([...used].filter((n) => !isBranch(n))));
    return select({
      targetList: [...wanted.keys()].map((name) => target(column(alias, name), name)),
      fromClause: [from],
      whereClause: and(conditions) as Node,
      ...(work.fenced ? { limitOffset: integer('0'), limitOption: 'LIMIT_OPTION_COUNT' as const } : {}),
    });
  });
}

function resolve(work: Work, base: ConceptRelation, alias: string, { concept, rule, when }: AppliedRule): Resolved {
  const lens = (as: Concept, schema: 'svc' | 'esvc' | 'dsvc'): ConceptRelation => new ConceptRelation(work, as, schema, alias, as, [], alias, base);
  return {
    when: when.flatMap(({ rows }) => (rows.kind === 'logic' ? [resolveCondition(work, rows, rows.condition, lens(rows.source, rows.schema))] : [])),
    conditions: rule.conditions.map((c) => resolveCondition(work, c, c.condition, lens(concept, 'dsvc'))),
  };
}
