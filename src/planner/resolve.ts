/**
 * Resolves the names of a query block by block and turns concepts in FROM into sub-selects with just the columns and joins
 * that the query uses. The tree is changed in place.
 */
import type { Alias, ColumnRef, RangeVar, ResTarget, SortBy, SubLink, WithClause } from '@pgsql/types';
import { badRequest, didYouMean, nearest, SvcError } from '../errors.ts';
import type { Graph } from '../ontology/graph.ts';
import { aliasOf, hasAggregate } from './aliases.ts';
import { compositeAt, fieldStar, indirection, rowTarget } from './fields.ts';
import { resolveFrom } from './from.ts';
import { compositeOf, isAggregate } from './guard/index.ts';
import { aliased, inBoth, plainColumn, withMeaning } from './meaning.ts';
import { columnName, namingStar } from './names.ts';
import { isPath } from './path.ts';
import { referenceOf, setOwner } from './references.ts';
import { ConceptRelation } from './relation.ts';
import { FixedRelation, type Found, type OutColumn, type Relation } from './relations.ts';
import { Scope } from './scope.ts';
import { clone, column, fieldsOf, lastName, locationIn, type Node, nameOf, rewrite, type SelectStmt, select, subselect, target, walk } from './tree.ts';
import type { Parsed, Work } from './work.ts';

export class Resolver {
  readonly work: Work;
  readonly parsed: Parsed;
  /** The model in which the text's names are looked up: as its writer sees it. */
  readonly graph: Graph;

  constructor(work: Work, parsed: Parsed, graph: Graph = work.graph) {
    this.work = work;
    this.parsed = parsed;
    this.graph = graph;
  }

  /** A name as the caller wrote it: stand-ins undone. */
  written(name: string): string {
    return this.parsed.standIns.get(name) ?? name;
  }

  /** Runs `fn`; an error without a place gets that of the location. */
  at<T>(location: number | undefined, fn: () => T): T {
    try {
      return fn();
    } catch (e) {
      if (e instanceof SvcError && e.offset === undefined) throw e.at(this.parsed.offsetOf(location));
      throw e;
    }
  }

  /**
   * Resolves a whole query in place and gives its columns. `outer`: what it may refer to (correlation, common table
   * expressions). `onLeft` hears the columns of a set operation's first arm before the second is read.
   */
  query(stmt: SelectStmt, outer: Scope | undefined, onLeft?: (columns: readonly OutColumn[]) => void): readonly OutColumn[] {
    return this.work.inBlock(() => this.#query(stmt, outer, onLeft));
  }

  #query(stmt: SelectStmt, outer: Scope | undefined, onLeft: ((columns: readonly OutColumn[]) => void) | undefined): readonly OutColumn[] {
    const scope = new Scope(outer);
    if (stmt.withClause) this.#with(stmt.withClause, scope);
    if (stmt.op && stmt.op !== 'SETOP_NONE' && stmt.larg && stmt.rarg) {
      const left = this.query(stmt.larg, scope);
      onLeft?.(left);
      const right = this.query(stmt.rarg, scope);
      for (const s of stmt.sortClause ?? []) this.#sortByOutput(s, left, scope);
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
    const finish = resolveFrom(this, stmt.fromClause, scope);
    scope.aliases = this.#aliases(stmt.targetList);
    const clause = (mode: Scope['mode'], fn: () => void): void => {
      scope.mode = mode;
      fn();
      scope.mode = 'none';
    };
    clause('after', () => {
      if (stmt.whereClause) stmt.whereClause = this.expression(stmt.whereClause, scope);
    });
    clause('after', () => this.#groups(stmt.groupClause, scope));
    clause('before', () => {
      if (stmt.havingClause) stmt.havingClause = this.expression(stmt.havingClause, scope);
    });
    this.expressions(stmt.windowClause, scope);
    clause('before', () => {
      for (const s of stmt.sortClause ?? []) this.#sort(s, scope, stmt.targetList);
    });
    clause('before', () => {
      if (stmt.distinctClause?.some((d) => Object.keys(d).length > 0))
        for (let i = 0; i < stmt.distinctClause.length; i++)
          stmt.distinctClause[i] = this.#sortExpression(stmt.distinctClause[i] as Node, scope, stmt.targetList);
    });
    this.#limit(stmt, scope);
    const columns = this.#targets(stmt, scope);
    finish(stmt);
    return columns;
  }

  /** The aliased items of a select list, as they stand before they are resolved. */
  #aliases(targets: readonly Node[] | undefined): ReadonlyMap<string, Node> {
    const aliases = new Map<string, Node>();
    for (const t of targets ?? [])
      if ('ResTarget' in t && t.ResTarget.name && t.ResTarget.val && !aliases.has(t.ResTarget.name)) aliases.set(t.ResTarget.name, t.ResTarget.val);
    return aliases;
  }

  #groups(groups: Node[] | undefined, scope: Scope): void {
    for (let i = 0; i < (groups?.length ?? 0); i++) {
      const g = (groups as Node[])[i] as Node;
      (groups as Node[])[i] = this.#groupItem(g, scope);
    }
  }

  #groupItem(node: Node, scope: Scope): Node {
    if ('GroupingSet' in node) {
      this.#groups(node.GroupingSet.content, scope);
      return node;
    }
    if ('ColumnRef' in node && fieldsOf(node.ColumnRef).length === 1) {
      const name = this.written(fieldsOf(node.ColumnRef)[0] ?? '');
      const alias = aliasOf(scope, name);
      if (alias !== undefined && !this.at(node.ColumnRef.location, () => scope.own(name))) return column(alias);
    }
    return this.expression(node, scope);
  }

  #sort(item: Node, scope: Scope, targets: readonly Node[] | undefined): void {
    if (!('SortBy' in item) || !item.SortBy.node) return;
    (item.SortBy as SortBy).node = this.#sortExpression(item.SortBy.node, scope, targets);
  }

  /** An ORDER BY or DISTINCT ON item: a bare alias stays the output column that PostgreSQL takes it for. */
  #sortExpression(node: Node, scope: Scope, targets: readonly Node[] | undefined): Node {
    if ('ColumnRef' in node) {
      const fields = fieldsOf(node.ColumnRef);
      const name = fields[0] ?? '';
      if (fields.length === 1) {
        const alias = aliasOf(scope, this.written(name));
        if (alias !== undefined) return column(alias);
        const bare = (targets ?? []).some(
          (t) => 'ResTarget' in t && !t.ResTarget.name && t.ResTarget.val && !('ColumnRef' in t.ResTarget.val) && columnName(t.ResTarget.val) === name,
        );
        if (bare && !scope.own(this.written(name))) return column(name);
      }
    }
    return this.expression(node, scope);
  }

  #sortByOutput(item: Node, columns: readonly OutColumn[], scope: Scope): void {
    if (!('SortBy' in item) || !item.SortBy.node) return;
    const node = item.SortBy.node;
    if ('ColumnRef' in node) {
      const name = this.written(fieldsOf(node.ColumnRef).join('.'));
      const found = columns.find((c) => c.key === name) ?? columns.find((c) => c.key.toLowerCase() === name.toLowerCase());
      if (!found) {
        const near = nearest(
          name,
          columns.map((c) => c.key),
        );
        throw badRequest('unknown_column', `the set operation has no column \`${name}\`${didYouMean(near)}`, {
          offset: this.parsed.offsetOf(node.ColumnRef.location),
        });
      }
      (item.SortBy as SortBy).node = column(found.name);
      return;
    }
    (item.SortBy as SortBy).node = this.expression(node, scope);
  }

  #limit(stmt: SelectStmt, scope: Scope): void {
    const bare = scope.beside();
    if (stmt.limitCount) stmt.limitCount = this.expression(stmt.limitCount, bare);
    if (stmt.limitOffset) stmt.limitOffset = this.expression(stmt.limitOffset, bare);
  }

  /** Resolves the select list: stars and wildcards written out, each column named as PostgreSQL would name the caller's own text. */
  #targets(stmt: SelectStmt, scope: Scope): readonly OutColumn[] {
    const columns: OutColumn[] = [];
    const list: Node[] = [];
    for (const t of stmt.targetList ?? []) {
      if (!('ResTarget' in t) || !t.ResTarget.val) continue;
      const written = rowTarget(this, t.ResTarget, scope);
      const many = this.at(refLocation(written), () =>
        this.work.grows(
          () => 'the columns of `*`',
          () => this.#star(written, scope) ?? fieldStar(this, written, scope),
        ),
      );
      if (many) {
        for (const f of many) {
          list.push(target(f.node, f.column.name));
          columns.push(withMeaning(f));
        }
        continue;
      }
      const val = written.val as Node;
      const found = 'ColumnRef' in val ? this.columnOf(val.ColumnRef, scope) : undefined;
      const composite = found ? undefined : compositeOf(val, (ref) => compositeAt(this, ref, scope));
      const known = (c: OutColumn): OutColumn => (composite ? { ...c, composite } : c);
      if (written.name) {
        list.push(target(found?.node ?? this.expression(val, scope), written.name));
        columns.push(known(aliased(written.name, this.written(written.name), found)));
        continue;
      }
      if (found) {
        const name = found.column.key === found.column.name ? found.column.name : this.#sqlName(found.column, val as { ColumnRef: ColumnRef });
        list.push(target(found.node, name));
        columns.push({ ...withMeaning(found), name });
        continue;
      }
      const told = columnName(val);
      const star = namingStar(val);
      const node = this.expression(val, scope);
      const name = nameOfFirst(star) ?? told;
      list.push(target(node, name === '?column?' ? undefined : name));
      columns.push(known({ name, key: this.written(name) }));
    }
    stmt.targetList = list;
    return columns;
  }

  /** The name under which a path's column goes on: the caller's own text of it (a stand-in where it is long). */
  #sqlName(found: OutColumn, val: { ColumnRef: ColumnRef }): string {
    return fieldsOf(val.ColumnRef).at(-1) ?? found.name;
  }

  /** What `*`, `alias.*` and a wildcard path stand for; undefined: the item is no star. */
  #star(item: ResTarget, scope: Scope): readonly { node: Node; column: OutColumn }[] | undefined {
    const val = item.val as Node;
    if (!('ColumnRef' in val)) return undefined;
    const fields = fieldsOf(val.ColumnRef);
    const last = fields.at(-1) ?? '';
    const starred = (alias: string, found: readonly Found[]): { node: Node; column: OutColumn }[] =>
      found.map((f) => owned(f, scope)).map((f) => ({ node: f.node, column: { ...f.column, star: alias } }));
    const star = val.ColumnRef.fields?.at(-1);
    if (last === '*' && star && 'A_Star' in star) {
      if (fields.length === 1) {
        if (scope.relations.length === 0) throw badRequest('syntax_error', 'SELECT * with no tables specified is not valid');
        return this.#mergedStar(scope, starred);
      }
      const relation = this.relationOf(fields.slice(0, -1), scope);
      return starred(relation.alias, relation.star());
    }
    const path = this.written(last);
    if (!isPath(path) || !path.endsWith('].*')) return undefined;
    const relations = fields.length > 1 ? [this.relationOf(fields.slice(0, -1), scope)] : scope.relations;
    const concepts = relations.filter((r) => r instanceof ConceptRelation);
    const able = concepts.filter((r) => r.schema === 'dsvc');
    if (able.length === 0) {
      const wrong = concepts.map((r) => r.explain(path)).find((e) => e !== undefined);
      throw wrong ?? badRequest('unknown_column', `unknown column \`${path}\``);
    }
    if (able.length > 1)
      throw badRequest('ambiguous_column', `\`${path}\` is ambiguous: several relations may have it`, { hint: `write \`${able[0]?.alias}\`.\`${path}\`` });
    return (able[0] as ConceptRelation)
      .wildcard(path)
      .map((f) => owned(f, scope))
      .map((f) => ({ node: f.node, column: { name: f.column.name, key: f.column.key } }));
  }

  /** `*` over joins: merged columns of USING stand once, first, as PostgreSQL has it. */
  #mergedStar(scope: Scope, starred: (alias: string, found: readonly Found[]) => { node: Node; column: OutColumn }[]): { node: Node; column: OutColumn }[] {
    const all = scope.relations.filter((r) => !r.qualified).flatMap((r) => starred(r.alias, r.star()));
    if (scope.merged.size === 0) return all;
    const first = [...scope.merged.values()].map((c) => ({ node: column(c.name), column: c }));
    return [...first, ...all.filter((f) => !scope.merged.has(f.column.key.toLowerCase()))];
  }

  relationOf(fields: readonly string[], scope: Scope): Relation {
    const alias = fields.at(-1) ?? '';
    const found = scope.relation(this.written(alias));
    if (found) return found;
    const known: string[] = [];
    for (let s: Scope | undefined = scope; s; s = s.outer) known.push(...s.relations.map((r) => r.alias));
    const near = nearest(alias, known);
    throw badRequest('unknown_alias', `\`${this.written(alias)}\` is no relation of FROM${didYouMean(near)}`);
  }

  expressions(nodes: Node[] | undefined, scope: Scope): void {
    if (!nodes) return;
    for (let i = 0; i < nodes.length; i++) nodes[i] = this.expression(nodes[i] as Node, scope);
  }

  /** Resolves all names of an expression (in place; the node itself may be replaced). */
  expression(node: Node, scope: Scope): Node {
    return rewrite(node, (n) => {
      if ('ColumnRef' in n) return this.#column(n.ColumnRef, scope);
      if ('A_Indirection' in n) return this.at(locationIn(n), () => indirection(this, n.A_Indirection, scope));
      if ('SubLink' in n) {
        this.#subLink(n.SubLink, scope);
        return n;
      }
      if ('SelectStmt' in n) {
        this.work.inSubLink(() => this.query(n.SelectStmt, scope));
        return n;
      }
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
    if (subselect && 'SelectStmt' in subselect) this.work.inSubLink(() => this.query(subselect.SelectStmt, scope));
  }

  #column(ref: ColumnRef, scope: Scope): Node {
    const last = ref.fields?.at(-1);
    if (last && 'A_Star' in last) {
      const fields = fieldsOf(ref);
      if (fields.length === 1) return { ColumnRef: ref };
      return this.at(ref.location, () => this.#wholeRow(this.relationOf(fields.slice(0, -1), scope)));
    }
    const found = this.columnOf(ref, scope);
    if (found) return found.node;
    return this.at(ref.location, () => this.#named(ref, scope));
  }

  /** A reference that is a column of some relation. */
  columnOf(ref: ColumnRef, scope: Scope): Found | undefined {
    const fields = fieldsOf(ref).map((f) => this.written(f));
    const name = fields.at(-1) ?? '';
    return this.at(ref.location, () => {
      if (fields.length > 1) return this.#qualified(fields, scope);
      for (let s: Scope | undefined = scope; s; s = s.outer) {
        if (s.mode === 'before' && this.#useAlias(s, name)) return undefined;
        const found = s.own(name);
        if (found) return owned(found, s);
        if (s.mode === 'after' && aliasOf(s, name) !== undefined) return undefined;
      }
      return undefined;
    });
  }

  #qualified(fields: readonly string[], scope: Scope): Found {
    const name = fields.at(-1) as string;
    const relation = this.relationOf(fields.slice(0, -1), scope);
    // `svc.city.name`: the schema may stand before a relation that is called by its own name, and nothing else.
    const schema = fields.length === 3 ? fields[0] : undefined;
    if (fields.length > 3 || (schema !== undefined && !(relation instanceof ConceptRelation && relation.isIn(schema)))) {
      throw badRequest('unknown_column', `unknown column \`${fields.join('.')}\``, { hint: 'write the alias and the column' });
    }
    const found = relation.find(name);
    if (found) return owned(found, scope.holder(relation));
    throw this.#unknown(
      name,
      relation instanceof ConceptRelation ? relation.concept.name : undefined,
      relation.alias,
      relation.names(),
      relation.explain?.(name),
    );
  }

  #unknown(name: string, concept: string | undefined, alias: string | undefined, known: Iterable<string>, explained?: SvcError): SvcError {
    if (explained) return explained;
    const near = nearest(name, known);
    const where = concept ? ` of concept \`${concept}\`` : alias ? ` of \`${alias}\`` : '';
    return badRequest(concept ? 'unknown_property' : 'unknown_column', `unknown ${concept ? 'property' : 'column'} \`${name}\`${where}${didYouMean(near)}`);
  }

  #useAlias(scope: Scope, name: string): boolean {
    const alias = aliasOf(scope, name);
    if (alias === undefined) return false;
    return !(scope.inAggregate && hasAggregate(scope.aliases.get(alias) as Node));
  }

  /** A bare name that is no column: a select alias, a whole relation, or unknown. */
  #named(ref: ColumnRef, scope: Scope): Node {
    const fields = fieldsOf(ref);
    const name = this.written(fields.at(-1) ?? '');
    for (let s: Scope | undefined = scope; s; s = s.outer) {
      const alias = s.mode === 'none' ? undefined : aliasOf(s, name);
      if (alias === undefined) continue;
      const { mode } = s;
      s.mode = 'none';
      try {
        return this.work.grows(
          () => `the alias \`${name}\``,
          () => this.expression(clone(s.aliases.get(alias) as Node), s),
        );
      } finally {
        s.mode = mode;
      }
    }
    const relation = scope.relation(name);
    if (relation) return this.#wholeRow(relation);
    const concepts = scopeRelations(scope).filter((r) => r instanceof ConceptRelation);
    const explained = concepts.map((c) => c.explain(name)).find((e) => e !== undefined);
    throw this.#unknown(name, concepts.length === 1 ? concepts[0]?.concept.name : undefined, undefined, scope.names(), explained);
  }

  /** A relation as one value: a row with just the columns that `*` gives. */
  #wholeRow(relation: NonNullable<ReturnType<Scope['relation']>>): Node {
    if (relation instanceof FixedRelation && relation.scalar) return column(relation.alias, (relation.columns[0] as OutColumn).name);
    return this.work.grows(
      () => `the row of \`${relation.called ?? relation.alias}\``,
      () => this.#rowOf(relation),
    );
  }

  #rowOf(relation: Relation): Node {
    // rows of different forms fail where they are compared
    this.work.leaky = true;
    const row = this.work.alias();
    const query = select({
      targetList: [target(column(row))],
      fromClause: [subselect(select({ targetList: relation.star().map((f) => target(f.node, f.column.name)) }), row)],
    });
    return { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: query } } };
  }

  #with(clause: WithClause, scope: Scope): void {
    for (const c of clause.ctes ?? []) {
      if (!('CommonTableExpr' in c)) continue;
      const cte = c.CommonTableExpr;
      const query = cte.ctequery && 'SelectStmt' in cte.ctequery ? cte.ctequery.SelectStmt : undefined;
      if (!query || !cte.ctename) throw badRequest('forbidden_statement', 'only a SELECT can stand in WITH', { offset: this.parsed.offsetOf(cte.location) });
      const name = cte.ctename;
      const named = (columns: readonly OutColumn[]): readonly OutColumn[] => [
        ...columns.map((col, i) => renamedAs(col, this.#renamedColumn(cte.aliascolnames?.[i]))),
        ...[cte.search_clause?.search_seq_column, cte.cycle_clause?.cycle_mark_column, cte.cycle_clause?.cycle_path_column]
          .filter((n) => n !== undefined)
          .map((n) => ({ name: n, key: n })),
      ];
      const columns = this.query(query, scope, clause.recursive ? (left) => scope.ctes.set(name, named(left)) : undefined);
      scope.ctes.set(name, named(columns));
    }
  }

  #renamedColumn(node: Node | undefined): OutColumn | undefined {
    const name = nameOf(node);
    return name === undefined ? undefined : { name, key: this.written(name) };
  }

  /** The columns of a derived relation under an alias that may rename them. */
  renamed(alias: Alias | undefined, columns: readonly OutColumn[]): readonly OutColumn[] {
    return columns.map((c, i) => renamedAs(c, this.#renamedColumn(alias?.colnames?.[i])));
  }

  /** Where a relation's name stands. */
  locate(range: RangeVar): number | undefined {
    return this.parsed.offsetOf(range.location);
  }
}

/** A column under another name, where it gets one. */
const renamedAs = (column: OutColumn, name: OutColumn | undefined): OutColumn =>
  name === undefined ? plainColumn(column) : column.composite ? { ...name, composite: column.composite } : name;

/** Remembers for a column's reference which block owns it. */
function owned(found: Found, scope: Scope | undefined): Found {
  if (scope) {
    walk(found.node, (n) => {
      if ('ColumnRef' in n && referenceOf(n.ColumnRef)) setOwner(n.ColumnRef, scope);
      return undefined;
    });
    if ('ColumnRef' in found.node) setOwner(found.node.ColumnRef, scope);
  }
  return found;
}

const refLocation = (t: ResTarget): number | undefined => (t.val && 'ColumnRef' in t.val ? t.val.ColumnRef.location : t.location);

function scopeRelations(scope: Scope | undefined): Scope['relations'] {
  const all: Scope['relations'] = [];
  for (let s = scope; s; s = s.outer) all.push(...s.relations);
  return all;
}

/** The name of a sub-select's first column, its stars written out. */
function nameOfFirst(stmt: SelectStmt | undefined): string | undefined {
  const first = stmt?.targetList?.[0];
  return first && 'ResTarget' in first ? first.ResTarget.name : undefined;
}
