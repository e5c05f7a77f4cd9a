/** Checks of what a policy says, when it is made and when the model changes under it: its SQL is planned once, as a query would be. */
import { badRequest, SvcError } from '../errors.ts';
import { quoteDouble } from '../language/quote.ts';
import type { Concept } from '../ontology/graph.ts';
import type { PropertyDef } from '../ontology/model.ts';
import { sameName } from '../ontology/names.ts';
import { isAggregate } from './guard/index.ts';
import { type PlanContext, planSelect } from './index.ts';
import { resolveCondition } from './logic.ts';
import { ConceptRelation } from './relation.ts';
import { fieldsOf, isSubQuery, lastName, type Node, walk } from './tree.ts';
import { Work } from './work.ts';

/**
 * The condition of a row policy: one expression in the words of the concept, as it is read from `dsvc`. `offset`: where it
 * stands in the script; undefined: a stored one, whose errors tell no position.
 * @throws SvcError 400 as a query with that condition, `bad_expression`
 */
export function checkRowCondition(context: PlanContext, concept: Concept, condition: string, offset?: number): void {
  const work = new Work(context);
  const { node } = work.expression({}, condition, offset);
  plainRows(node, offset);
  resolveCondition(work, {}, condition, new ConceptRelation(work, concept, 'dsvc', work.alias()), offset);
  const before = `SELECT 1 AS one FROM dsvc.${quoteDouble(concept.name)} WHERE (`;
  try {
    // on a line of its own: a comment at its end must not hide the bracket
    planSelect(context, { text: `${before}${condition}\n)`, offset: (offset ?? 0) - before.length });
  } catch (error) {
    throw offset === undefined && error instanceof SvcError ? error.at(undefined) : error;
  }
}

/**
 * The expression of a mask: over plain names of properties, without sub-queries. `known`: what may be named.
 * @throws SvcError 400 `unknown_property`, `bad_expression`, and as a calculated property
 */
export function checkMaskExpression(context: PlanContext, known: readonly PropertyDef[], expression: string, offset?: number): void {
  const work = new Work(context);
  const node = work.plainExpression({}, expression, offset);
  plainRows(node, offset);
  walk(node, (n) => {
    if (!('ColumnRef' in n)) return undefined;
    const fields = fieldsOf(n.ColumnRef);
    const name = fields.at(-1) ?? '';
    if (fields.length !== 1 || !known.some((p) => sameName(p.name, name)))
      throw badRequest('unknown_property', `unknown property \`${fields.join('.')}\` in the expression of the mask`, { offset });
    return undefined;
  });
}

/** A policy judges one row: it aggregates none. @throws SvcError 400 `bad_expression` */
function plainRows(node: Node, offset: number | undefined): void {
  walk(node, (n) => {
    if (isSubQuery(n)) return false;
    if (!('FuncCall' in n)) return undefined;
    const name = lastName(n.FuncCall.funcname);
    if (n.FuncCall.over || isAggregate(name)) throw badRequest('bad_expression', `\`${name}\` aggregates rows: a policy is about one row`, { offset });
    return undefined;
  });
}
