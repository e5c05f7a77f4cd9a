/** The logical plan of a SELECT: the bound query as plain data. */
import type { ConceptRelation } from '../bind/relation.ts';
import { isAggregateCall } from '../lower/aggregate/calls.ts';
import type { BoundBlock } from '../plan/block.ts';
import type { PathNode } from '../plan/path-node.ts';
import { conceptOfSlot } from '../plan/slots.ts';
import { type Node, namesOf, type SelectStmt, walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { columnName, type Dimensions, dimensionsOf, Expressions, type Read } from './expressions.ts';
import type { LogicalBlock, LogicalConcept, LogicalItem, LogicalPath, LogicalPlan } from './plan.ts';

export { areSoonNamed } from './named.ts';
export type { LogicalPlan } from './plan.ts';
export { logicalText } from './text.ts';

/** A query whose names are resolved, before it is lowered. */
export interface BoundQuery {
  readonly state: PlanState;
  readonly stmt: SelectStmt;
  /** The name that the text has for a name of the tree. */
  readonly written: (name: string) => string;
}

/** The logical plan of a bound query, as frozen plain data. The query is not changed. */
export function logicalPlan({ state, stmt, written }: BoundQuery): LogicalPlan {
  const planner = new Planner(state, written);
  const made = planner.plan(stmt);
  planner.finish();
  return frozen(made);
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(Object.freeze(value))) frozen(inner);
  return value;
}

class Planner {
  readonly #state: PlanState;
  readonly #written: (name: string) => string;
  readonly #blocks: ReadonlyMap<SelectStmt, BoundBlock>;
  readonly #dimensions: Dimensions;
  /** What the statement's own text reads. Binding also asks for what stored conditions read, which are not for the caller to know. */
  readonly #reads = new Map<PathNode, Read>();
  readonly #concepts: { readonly root: PathNode; readonly item: object }[] = [];

  constructor(state: PlanState, written: (name: string) => string) {
    this.#state = state;
    this.#written = written;
    this.#blocks = new Map(state.blocks.map(({ block }) => [block.stmt, block]));
    this.#dimensions = dimensionsOf(state.blocks.flatMap(({ block }) => block.cubes));
  }

  /** Adds to each concept what is read of it: sub-queries anywhere may read more than the block of its FROM. */
  finish(): void {
    for (const { root, item } of this.#concepts) Object.assign(item, this.#readAt(root));
  }

  #expressions(query: (stmt: SelectStmt) => string | undefined): Expressions {
    return new Expressions(this.#state, this.#written, { dimensions: this.#dimensions, reads: this.#reads }, query);
  }

  plan(stmt: SelectStmt): LogicalPlan {
    const named = (stmt.withClause?.ctes ?? []).flatMap((cte) => {
      if (!('CommonTableExpr' in cte)) return [];
      const { ctename = '', ctequery } = cte.CommonTableExpr;
      return ctequery && 'SelectStmt' in ctequery ? [{ name: this.#written(ctename), query: this.plan(ctequery.SelectStmt) }] : [];
    });
    const block = this.#blocks.get(stmt);
    const queries: LogicalPlan[] = [];
    const texts = this.#expressions((query) => (this.#isRow(query) ? undefined : `query ${queries.push(this.plan(query))}`));
    texts.note([stmt.valuesLists, stmt.windowClause]);
    const query = block ? this.#block(block, texts, queries) : this.#other(stmt);
    const sort = (stmt.sortClause ?? []).flatMap((s) => ('SortBy' in s && s.SortBy.node ? [texts.text(s.SortBy.node)] : []));
    return {
      ...(named.length > 0 ? { with: named } : {}),
      query,
      ...(sort.length > 0 ? { sort } : {}),
      ...(stmt.limitCount ? { limit: texts.text(stmt.limitCount) } : {}),
      ...(stmt.limitOffset ? { offset: texts.text(stmt.limitOffset) } : {}),
    };
  }

  /** True for the query that binding makes for a whole row. */
  #isRow(stmt: SelectStmt): boolean {
    return !this.#blocks.has(stmt) && !stmt.larg && !stmt.valuesLists;
  }

  #other(stmt: SelectStmt): LogicalPlan['query'] {
    if (stmt.valuesLists) return { kind: 'values', rows: stmt.valuesLists.length };
    const kinds = { SETOP_UNION: 'union', SETOP_INTERSECT: 'intersect', SETOP_EXCEPT: 'except' } as const;
    return {
      kind: kinds[stmt.op as keyof typeof kinds],
      all: stmt.all === true,
      left: this.plan(stmt.larg as SelectStmt),
      right: this.plan(stmt.rarg as SelectStmt),
    };
  }

  #block(block: BoundBlock, texts: Expressions, queries: readonly LogicalPlan[]): LogicalBlock {
    const { stmt } = block;
    const { targetList = [], whereClause, groupClause, havingClause, distinctClause, windowClause } = stmt;
    const aggregates = hasCall([targetList, stmt.sortClause], isAggregateCall);
    const windows = windowClause !== undefined || hasCall([targetList, stmt.sortClause], (n) => 'FuncCall' in n && n.FuncCall.over !== undefined);
    const all = (nodes: readonly Node[]): string[] =>
      nodes.map((n) => {
        if (!('GroupingSet' in n)) return texts.text(n);
        texts.note(n);
        return 'grouping sets';
      });
    const from = (stmt.fromClause ?? []).map((n) => this.#item(n, block, texts));
    const isOn = distinctClause?.some((d) => Object.keys(d).length > 0);
    const plan = {
      kind: 'block' as const,
      from,
      ...(whereClause ? { where: texts.text(whereClause) } : {}),
      ...(groupClause ? { group: all(groupClause) } : {}),
      ...(havingClause ? { having: texts.text(havingClause) } : {}),
      select: targetList.flatMap((t) => {
        if (!('ResTarget' in t) || !t.ResTarget.val) return [];
        const { name, val } = t.ResTarget;
        return [{ ...(name === undefined ? {} : { name: this.#written(name) }), value: texts.text(val) }];
      }),
      ...(distinctClause ? { distinct: isOn ? all(distinctClause) : (true as const) } : {}),
      ...(aggregates || groupClause || havingClause ? { aggregates: true as const } : {}),
      ...(windows ? { windows: true as const } : {}),
    };
    return queries.length > 0 ? { ...plan, queries } : plan;
  }

  #item(node: Node, block: BoundBlock, texts: Expressions): LogicalItem {
    const made = block.made.get(node);
    if (made) return { kind: made.kind, name: made.kind === 'system' ? made.name : this.#named('v', made.name), alias: this.#written(made.alias) };
    if ('JoinExpr' in node) {
      const { larg, rarg, quals, usingClause, jointype } = node.JoinExpr;
      for (const name of namesOf(usingClause)) this.#noteUsing(name, [larg, rarg], block, texts);
      const kinds: Readonly<Record<string, 'left' | 'right' | 'full'>> = { JOIN_LEFT: 'left', JOIN_RIGHT: 'right', JOIN_FULL: 'full' };
      return {
        kind: 'join',
        join: kinds[jointype ?? ''] ?? 'inner',
        left: this.#item(larg as Node, block, texts),
        right: this.#item(rarg as Node, block, texts),
        ...(quals ? { on: texts.text(quals) } : {}),
        ...(usingClause ? { using: namesOf(usingClause).map(this.#written) } : {}),
      };
    }
    const slot = conceptOfSlot(node);
    if (slot !== undefined) return this.#concept(block.relations[slot] as ConceptRelation);
    if ('RangeSubselect' in node && node.RangeSubselect.subquery && 'SelectStmt' in node.RangeSubselect.subquery) {
      const alias = this.#written(node.RangeSubselect.alias?.aliasname ?? '');
      return { kind: 'query', alias, query: this.plan(node.RangeSubselect.subquery.SelectStmt) };
    }
    if ('RangeFunction' in node) {
      const calls = (node.RangeFunction.functions ?? []).flatMap((f) => ('List' in f ? (f.List.items ?? []) : [f])).filter((f) => 'FuncCall' in f);
      return { kind: 'function', alias: this.#written(node.RangeFunction.alias?.aliasname ?? ''), calls: calls.map((f) => texts.text(f)) };
    }
    const { relname = '', alias } = 'RangeVar' in node ? node.RangeVar : {};
    return { kind: 'read', name: this.#written(relname), alias: this.#written(alias?.aliasname ?? relname) };
  }

  /** Adds a column that USING merges to what is read of each concept of a join. */
  #noteUsing(name: string, sides: readonly unknown[], block: BoundBlock, texts: Expressions): void {
    walk(sides, (node) => {
      const slot = conceptOfSlot(node);
      const relation = slot === undefined ? undefined : block.relations[slot];
      const found = relation?.exposed.get(name);
      if (relation && found) texts.reads({ relation, ...found });
      return 'SelectStmt' in node ? false : undefined;
    });
  }

  #named(prefix: string, name: string): string {
    return `${prefix}${this.#state.context.product}.${name}`;
  }

  #concept({ root, concept, schema, called, alias }: ConceptRelation): LogicalConcept {
    const item: LogicalConcept = { kind: 'concept', concept: this.#named(schema.replace('svc', ''), concept.name), alias: this.#written(called ?? alias) };
    this.#concepts.push({ root, item });
    return item;
  }

  /** The columns that are read of a node's rows, and the paths from there. */
  #readAt(node: PathNode): Pick<LogicalPath, 'columns' | 'paths'> {
    const read = this.#reads.get(node);
    const own = node.step?.kind === 'multi' ? [] : [...node.columns.values()].filter((c) => read?.columns.has(c.name)).map((c) => columnName(node, c.name));
    const columns = [...own, ...(read?.computed ?? []), ...[...(read?.links ?? [])].map((name) => `_${name}`)];
    const paths = [...node.children.values()].filter((child) => this.#reads.has(child)).map((child) => this.#path(child));
    return { ...(columns.length > 0 ? { columns } : {}), ...(paths.length > 0 ? { paths } : {}) };
  }

  #path(node: PathNode): LogicalPath {
    const { step } = node;
    const isHop = step?.kind === 'hop';
    return {
      path: isHop ? step.hop.label : (step?.def.name ?? ''),
      cardinality: node.toMany ? 'many' : 'one',
      ...(isHop && step.hop.depth !== null ? { steps: step.hop.depth } : {}),
      ...this.#readAt(node),
    };
  }
}

function hasCall(clauses: readonly unknown[], test: (node: Node) => boolean): boolean {
  let found = false;
  walk(clauses, (node) => {
    if ('SelectStmt' in node) return false;
    found ||= test(node);
    return !found;
  });
  return found;
}
