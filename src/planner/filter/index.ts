/** Translates URL filters to statements over concepts and views (docs/design/filters.md#the-statement-of-a-filter). */
import { badRequest } from '../../errors.ts';
import type { FilterRequest } from '../../language/filters.ts';
import { quoteBack, quoteDouble } from '../../language/quote.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import type { BoundValue, PlanContext } from '../plan/context.ts';
import { FilterSql } from './sql.ts';
import { conceptSubject, type Subject, wildcard } from './subject.ts';
import { viewSubjects } from './view.ts';

/** The statement of a filter. */
export interface FilterQuery {
  /** The statement with `$1`, `$2`, ..., for `planSelect`. */
  readonly text: string;
  readonly bound: readonly BoundValue[];
  /** The statement with values as literals, for `executed_query`. */
  readonly executed: string;
  /** The compared columns whose types only PostgreSQL knows. */
  readonly untyped: readonly string[];
}

/**
 * The statement of a filter on a concept.
 * @throws SvcError 400 for an unknown name, a value that does not fit the type, or an operator that the type does not have
 */
export function filterConcept({ product }: Pick<PlanContext, 'product'>, concept: Concept, request: FilterRequest): FilterQuery {
  const find = (name: string): Subject => conceptSubject(concept, name);
  const subjects = request.groups.map((g) => find(g.subject));
  const order = request.order.map((o) => find(o.name));
  const selected = request.select?.map((name) => {
    if (name === '*') return { sql: '*', inDsvc: false };
    const all = wildcard(concept, name);
    if (all !== undefined) return { sql: quoteDouble(all), inDsvc: true };
    const { column, inDsvc } = find(name);
    return { sql: quoteDouble(column), inDsvc };
  });
  const inDsvc = [...subjects, ...order, ...(selected ?? [])].some((s) => s.inDsvc);
  const list = selected?.map((s) => s.sql) ?? ['*', ...new Set(subjects.flatMap((s) => s.addedColumns).map(quoteDouble))];
  const sql = new FilterSql().add(`SELECT ${list.join(', ')} FROM ${quoteBack(`${inDsvc ? 'd' : ''}${product}`)}.${quoteBack(concept.name)}`);
  const own = (s: Subject): string => quoteDouble(s.column);
  conditions(sql, ' WHERE ', request, subjects, own, () => true);
  return finished(sql, request, subjects, order, own);
}

/**
 * The statement of a filter on a view or cube. The rows of a cube are grouped by the selected dimensions; conditions on measures are applied after grouping.
 * @throws SvcError 400, as for a concept; `bad_conjunction` if a condition on a measure is joined by OR
 */
export function filterView(context: PlanContext, view: ViewDef, request: FilterRequest): FilterQuery {
  const known = viewSubjects(context, view);
  const subjects = request.groups.map((g) => known.find(g.subject));
  const order = request.order.map((o) => known.find(o.name));
  const selected = request.select?.flatMap((name) => (name === '*' ? known.all : [known.find(name)]));
  const after = subjects.some((s) => s.isMeasure);
  const or = request.groups.find((g) => g.conjunction === 'OR');
  if (after && or !== undefined) {
    throw badRequest('bad_conjunction', `a condition on a measure of the cube \`${view.name}\` can only be joined by AND`, {
      hint: 'It is applied after grouping, the other conditions before',
    });
  }
  const shown = selected ?? known.all;
  if (view.cube) {
    const missing = order.find((o) => !o.isMeasure && !shown.some((s) => s.column === o.column));
    if (missing !== undefined) {
      throw badRequest('bad_parameter', `\`${missing.column}\` is in _order_, but not selected: a cube is grouped by the selected dimensions`);
    }
  }
  const own = (s: Subject): string => quoteDouble(s.column);
  // a statement with HAVING has each measure in an aggregate, which has no other effect
  const marked = (s: Subject): string => (s.isMeasure && after ? `SUM(${own(s)})` : own(s));
  const list = after
    ? shown.map((s) => (s.isMeasure ? `${marked(s)} AS ${own(s)}` : own(s)))
    : (request.select ?? ['*']).map((name) => (name === '*' ? '*' : own(known.find(name))));
  const sql = new FilterSql().add(`SELECT ${list.join(', ')} FROM ${quoteBack(`v${context.product}`)}.${quoteBack(view.name)}`);
  conditions(sql, ' WHERE ', request, subjects, marked, (s) => !s.isMeasure);
  if (after) {
    const groups = new Set(shown.filter((s) => !s.isMeasure).map(own));
    if (groups.size > 0) sql.add(` GROUP BY ${[...groups].join(', ')}`);
    conditions(sql, ' HAVING ', request, subjects, marked, (s) => s.isMeasure);
  }
  return finished(sql, request, subjects, order, marked);
}

/** Adds the conditions that belong to a clause, with their conjunctions. */
function conditions(
  sql: FilterSql,
  clause: string,
  { groups }: FilterRequest,
  subjects: readonly Subject[],
  expression: (s: Subject) => string,
  belongs: (s: Subject) => boolean,
): void {
  let first = true;
  for (const [i, group] of groups.entries()) {
    const subject = subjects[i] as Subject;
    if (!belongs(subject)) continue;
    sql.add(first ? clause : ` ${group.conjunction} `).condition(expression(subject), subject, group);
    first = false;
  }
}

function finished(
  sql: FilterSql,
  request: FilterRequest,
  subjects: readonly Subject[],
  order: readonly Subject[],
  expression: (s: Subject) => string,
): FilterQuery {
  if (order.length > 0) sql.add(` ORDER BY ${order.map((s, i) => `${expression(s)}${request.order[i]?.descending ? ' DESC' : ''}`).join(', ')}`);
  if (request.limit !== undefined) sql.add(' LIMIT ').count(request.limit);
  if (request.offset !== undefined) sql.add(' OFFSET ').count(request.offset);
  const untyped = subjects.filter((s, i) => s.type === undefined && request.groups[i]?.values.length !== 0).map((s) => s.column);
  return { text: sql.text, bound: sql.bound, executed: sql.executed, untyped: [...new Set(untyped)] };
}
