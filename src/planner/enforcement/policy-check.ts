/** Checks the SQL of a policy when it is created and when the model changes, by planning it as a query would be planned. */
import { badRequest, SvcError } from '../../errors.ts';
import { quoteDouble } from '../../language/quote.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { resolveCondition } from '../bind/condition.ts';
import { ConceptRelation } from '../bind/relation.ts';
import { isAggregate } from '../guard/index.ts';
import { type PlanContext, planSelect } from '../index.ts';
import { requireMergeable } from '../lower/calculated/calls.ts';
import { LocatedError } from '../plan/located-error.ts';
import { fieldsOf, isSubQuery, lastName, type Node, walk } from '../plan/tree.ts';
import { PlanState } from '../plan-state.ts';

/**
 * Checks the condition of a row policy: one expression over the concept in `dsvc`. `offset`: its offset in the script; undefined for a stored condition, whose
 * errors have no position.
 * @throws SvcError 400 `bad_expression`, and as a query with this condition
 */
export function checkRowCondition(context: PlanContext, concept: Concept, condition: string, offset?: number): void {
  const state = new PlanState(context);
  const { node } = state.texts.expression({}, condition, offset);
  plainRows(node, offset);
  resolveCondition(state, {}, condition, new ConceptRelation(state, { concept, schema: 'dsvc', alias: state.alias() }), offset);
  const before = `SELECT 1 AS one FROM dsvc.${quoteDouble(concept.name)} WHERE (`;
  try {
    // The parenthesis is on a line of its own, because the condition may end in a comment.
    planSelect(context, { text: `${before}${condition}\n)`, offset: (offset ?? 0) - before.length });
  } catch (error) {
    throw offset === undefined && error instanceof SvcError ? error.at(undefined) : error;
  }
}

/**
 * Checks the expression of a mask: an expression over names of properties, without sub-queries. `known`: the properties that it may name.
 * @throws SvcError 400 `unknown_property`, `bad_expression`, and as a calculated property
 */
export function checkMaskExpression(context: PlanContext, known: readonly PropertyDef[], expression: string, offset?: number): void {
  const state = new PlanState(context);
  const { node, offsetOf } = state.texts.located({}, expression, offset);
  plainRows(node, offset);
  try {
    requireMergeable(node, 'the expression of a mask');
  } catch (error) {
    throw error instanceof LocatedError ? error.at(offsetOf(error.location)) : error;
  }
  walk(node, (n) => {
    if (!('ColumnRef' in n)) return undefined;
    const fields = fieldsOf(n.ColumnRef);
    const name = fields.at(-1) ?? '';
    if (fields.length !== 1 || !known.some((p) => sameName(p.name, name)))
      throw badRequest('unknown_property', `unknown property \`${fields.join('.')}\` in the expression of the mask`, { offset });
    return undefined;
  });
}

/**
 * Checks that an expression has no aggregate: a policy applies to one row.
 * @throws SvcError 400 `bad_expression`
 */
function plainRows(node: Node, offset: number | undefined): void {
  walk(node, (n) => {
    if (isSubQuery(n)) return false;
    if (!('FuncCall' in n)) return undefined;
    const name = lastName(n.FuncCall.funcname);
    if (n.FuncCall.over || isAggregate(name))
      throw badRequest('bad_expression', `\`${name}\` is not allowed here: a policy applies to one row and cannot use aggregate or window functions`, {
        offset,
      });
    return undefined;
  });
}
