/** Resolves the names of a query block by block. Concepts in FROM become slots, which lowering replaces. The tree is changed in place. */
import type { Alias, ColumnRef, SubLink, WithClause } from '@pgsql/types';
import { badRequest, SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import { isAggregate } from '../guard/index.ts';
import { fieldsOf, lastName, locationIn, type Node, nameOf, rewrite, type SelectStmt } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import type { Parsed } from '../read/texts.ts';
import { addressAsText } from './addresses.ts';
import { indirection } from './fields.ts';
import { readNumbers } from './flags.ts';
import { resolveFrom } from './from.ts';
import { inBoth, kept, plainColumn } from './meaning.ts';
import { columnOf, named, relationOf, wholeRow } from './names.ts';
import { groups, sort, sortByOutput, sortExpression } from './order.ts';
import type { OutColumn } from './relations.ts';
import { Scope } from './scope.ts';
import { targets } from './targets.ts';

/** Resolves the names of one text. */
export class Resolver {
  readonly state: PlanState;
  readonly parsed: Parsed;
  /** The model as the writer of the text sees it. Names are looked up here. */
  readonly graph: Graph;

  constructor(state: PlanState, parsed: Parsed, graph: Graph = state.graph) {
    this.state = state;
    this.parsed = parsed;
    this.graph = graph;
  }

  /** The name in the text for a name in the tree, which may be a stand-in. */
  written(name: string): string {
    return this.parsed.standIns.get(name) ?? name;
  }

  /** Runs `fn`. An error without an offset gets the offset of the location. */
  at<T>(location: number | undefined, fn: () => T): T {
    try {
      return fn();
    } catch (e) {
      if (e instanceof SvcError && e.offset === undefined) throw e.at(this.parsed.offsetOf(location));
      throw e;
    }
  }

  /** The same for a part that may contain blocks, which are lowered later. */
  framedAt<T>(location: number | undefined, fn: () => T): T {
    return this.state.position.framed((make) => this.at(location, make), fn);
  }

  /**
   * Resolves a query in place.
   * @param outer the names that it may refer to besides its own (correlation, common table expressions)
   * @param onLeft called with the columns of the first arm of a set operation before the second arm is resolved
   * @returns the columns of the query
   */
  query(stmt: SelectStmt, outer: Scope | undefined, onLeft?: (columns: readonly OutColumn[]) => void): readonly OutColumn[] {
    return this.state.position.inBlock(() => this.#query(stmt, outer, onLeft));
  }

  #query(stmt: SelectStmt, outer: Scope | undefined, onLeft: ((columns: readonly OutColumn[]) => void) | undefined): readonly OutColumn[] {
    const scope = new Scope(outer);
    if (stmt.withClause) this.#with(stmt.withClause, scope);
    if (stmt.op && stmt.op !== 'SETOP_NONE' && stmt.larg && stmt.rarg) {
      const left = this.query(stmt.larg, scope);
      onLeft?.(left);
      const right = this.query(stmt.rarg, scope);
      for (const s of stmt.sortClause ?? []) sortByOutput(this, s, left, scope);
      this.#limit(stmt, scope);
      return inBoth(left, right);
    }
    if (stmt.valuesLists) {
      for (const list of stmt.valuesLists) this.expressions('List' in list ? list.List.items : undefined, scope);
      const first = stmt.valuesLists[0];
      const width = first && 'List' in first ? (first.List.items ?? []).length : 0;
      this.#limit(stmt, scope);
      return Array.from({ length: width }, (_, i) => ({ name: `column${i + 1}`, key: `column${i + 1}` }));
    }
    return this.#block(stmt, scope);
  }

  #block(stmt: SelectStmt, scope: Scope): readonly OutColumn[] {
    const bound = this.state.context.cubes?.from(this, stmt, scope) ?? resolveFrom(this, stmt.fromClause, scope);
    scope.aliases = this.#aliases(stmt.targetList);
    const clause = (mode: Scope['mode'], fn: () => void): void => {
      scope.mode = mode;
      fn();
      scope.mode = 'none';
    };
    clause('after', () => {
      if (stmt.whereClause) stmt.whereClause = this.expression(stmt.whereClause, scope);
    });
    clause('after', () => groups(this, stmt.groupClause, scope));
    clause('before', () => {
      if (stmt.havingClause) stmt.havingClause = this.expression(stmt.havingClause, scope);
    });
    this.expressions(stmt.windowClause, scope);
    clause('before', () => {
      for (const s of stmt.sortClause ?? []) sort(this, s, scope, stmt.targetList);
    });
    clause('before', () => {
      if (stmt.distinctClause?.some((d) => Object.keys(d).length > 0))
        for (let i = 0; i < stmt.distinctClause.length; i++)
          stmt.distinctClause[i] = sortExpression(this, stmt.distinctClause[i] as Node, scope, stmt.targetList);
    });
    this.#limit(stmt, scope);
    const columns = targets(this, stmt, scope);
    this.state.blocks.push({ block: bound(stmt), here: this.state.position.here(), offsetOf: this.parsed.offsetOf });
    return columns;
  }

  /** The items of a select list with an alias, not yet resolved. */
  #aliases(targets: readonly Node[] | undefined): ReadonlyMap<string, Node> {
    const aliases = new Map<string, Node>();
    for (const t of targets ?? [])
      if ('ResTarget' in t && t.ResTarget.name && t.ResTarget.val && !aliases.has(t.ResTarget.name)) aliases.set(t.ResTarget.name, t.ResTarget.val);
    return aliases;
  }

  #limit(stmt: SelectStmt, scope: Scope): void {
    const bare = scope.withoutRelations();
    if (stmt.limitCount) stmt.limitCount = this.expression(stmt.limitCount, bare);
    if (stmt.limitOffset) stmt.limitOffset = this.expression(stmt.limitOffset, bare);
  }

  /** Resolves the names of several expressions (in place). */
  expressions(nodes: Node[] | undefined, scope: Scope): void {
    if (!nodes) return;
    for (let i = 0; i < nodes.length; i++) nodes[i] = this.expression(nodes[i] as Node, scope);
  }

  /** Resolves all names of an expression in place. @returns the expression, which may be another node */
  expression(node: Node, scope: Scope): Node {
    return rewrite(node, (n) => {
      if ('ColumnRef' in n) return this.#column(n.ColumnRef, scope);
      if ('A_Indirection' in n) return this.framedAt(locationIn(n), () => indirection(this, n.A_Indirection, scope));
      if ('SubLink' in n) {
        this.#subLink(n.SubLink, scope);
        return n;
      }
      if ('SelectStmt' in n) {
        this.#subQuery(n.SelectStmt, scope);
        return n;
      }
      if ('TypeCast' in n) return addressAsText(this, n.TypeCast, scope);
      if ('A_Expr' in n) readNumbers(this, n.A_Expr, scope);
      if ('FuncCall' in n && !scope.inAggregate && !n.FuncCall.over && isAggregate(lastName(n.FuncCall.funcname))) {
        scope.inAggregate = true;
        try {
          const call = n.FuncCall as Record<string, unknown>;
          for (const k in call) if (k !== 'funcname') call[k] = rewrite(call[k], (inner) => this.expression(inner, scope));
        } finally {
          scope.inAggregate = false;
        }
        return n;
      }
      return undefined;
    }) as Node;
  }

  #subLink(link: SubLink, scope: Scope): void {
    if (link.testexpr) link.testexpr = this.expression(link.testexpr, scope);
    const { subselect } = link;
    if (subselect && 'SelectStmt' in subselect) this.#subQuery(subselect.SelectStmt, scope);
  }

  #subQuery(stmt: SelectStmt, scope: Scope): void {
    const { position, facts } = this.state;
    position.inSubQuery(
      () => this.query(stmt, scope),
      () => facts.beginSubQuery(),
    );
  }

  #column(ref: ColumnRef, scope: Scope): Node {
    const last = ref.fields?.at(-1);
    if (last && 'A_Star' in last) {
      const fields = fieldsOf(ref);
      if (fields.length === 1) return { ColumnRef: ref };
      return this.at(ref.location, () => wholeRow(this, relationOf(this, fields.slice(0, -1), scope)));
    }
    const found = columnOf(this, ref, scope);
    if (found) return found.node;
    return this.at(ref.location, () => named(this, ref, scope));
  }

  #with(clause: WithClause, scope: Scope): void {
    for (const c of clause.ctes ?? []) {
      if (!('CommonTableExpr' in c)) continue;
      const cte = c.CommonTableExpr;
      const query = cte.ctequery && 'SelectStmt' in cte.ctequery ? cte.ctequery.SelectStmt : undefined;
      if (!query || !cte.ctename) throw badRequest('forbidden_statement', 'a query in WITH must be a SELECT', { offset: this.parsed.offsetOf(cte.location) });
      const name = cte.ctename;
      const named = (columns: readonly OutColumn[]): readonly OutColumn[] => [
        ...columns.map((col, i) => renamedAs(col, this.#renamedColumn(cte.aliascolnames?.[i]))),
        ...[cte.search_clause?.search_seq_column, cte.cycle_clause?.cycle_mark_column, cte.cycle_clause?.cycle_path_column]
          .filter((n) => n !== undefined)
          .map((n) => ({ name: n, key: this.written(n) })),
      ];
      const columns = this.query(query, scope, clause.recursive ? (left) => scope.ctes.set(name, named(left)) : undefined);
      scope.ctes.set(name, named(columns));
    }
  }

  #renamedColumn(node: Node | undefined): OutColumn | undefined {
    const name = nameOf(node);
    return name === undefined ? undefined : { name, key: this.written(name) };
  }

  /** The columns of a derived relation with the names of an alias's column list. */
  renamed(alias: Alias | undefined, columns: readonly OutColumn[]): readonly OutColumn[] {
    return columns.map((c, i) => renamedAs(c, this.#renamedColumn(alias?.colnames?.[i])));
  }
}

/** A column with another name, if there is one. */
const renamedAs = (column: OutColumn, name: OutColumn | undefined): OutColumn => (name === undefined ? plainColumn(column) : { ...name, ...kept(column) });
