/** The rows of one mapping, with the masks of the caller applied to their values. */
import type { ColumnRef } from '@pgsql/types';
import { badRequest } from '../../errors.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { castsAlways, comparesAlways, givesTexts } from '../facts/column-types.ts';
import { mayDivideByZero } from '../facts/divisions.ts';
import { givesAlways } from '../facts/result.ts';
import { isTotal } from '../facts/total.ts';
import { BARRIER, type Condition, whereOf, withoutBarriers } from '../plan/barriers.ts';
import {
  and,
  boolean,
  cast,
  clone,
  coalesce,
  column,
  fieldsOf,
  isSubQuery,
  type Node,
  nullValue,
  rewrite,
  type SelectStmt,
  select,
  subselect,
  target,
  text,
  walk,
} from '../plan/tree.ts';
import { columnNamed, declaredType, has, mapWanted, type Wanted, type WantedColumns } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { divideAsDeclared } from '../read/integer-division.ts';
import type { MappedRows } from '../read/mapped.ts';
import type { MaskRule } from '../secure/access.ts';
import { listsFor } from '../secure/listed.ts';
import { type AppliedRule, rulesOfInstances } from '../secure/policies.ts';
import { isShown } from '../secure/shown.ts';
import { actual, BranchPaths, type Reading } from './calculated/branch-paths.ts';
import { requireMergeable } from './calculated/calls.ts';
import { followsAny, followsPaths, readsPaths } from './calculated/reads.ts';
import { columnValue } from './column-value.ts';
import { entityId, entityLabel } from './entity-columns.ts';
import { maskedValue, once } from './masks.ts';
import type { FirstRows, RowFilter } from './narrow.ts';

/** ORDER BY and LIMIT of the rows of a mapping. */
type Tail = Pick<SelectStmt, 'sortClause' | 'limitCount' | 'limitOption'>;

/** The rows of one mapping as a part of a concept's rows. */
export class Branch {
  readonly state: PlanState;
  readonly mapping: MappingDef;
  /** The target of INTO: T in docs/design/paths-and-cardinality.md#entity-columns. */
  readonly mapped: Concept;
  readonly reader: Concept;
  readonly rows: MappedRows;
  /** The row policies that apply to the rows. */
  readonly rules: readonly AppliedRule[];
  /** True if a barrier above the mapping's rows decides which of them the caller sees: a row policy, a logic concept or a cube. */
  readonly isBelowBarrier: boolean;
  /** True if rows that the mapping leaves out are hidden from the caller. */
  readonly #hides: boolean;
  readonly #paths: BranchPaths;

  constructor(
    state: PlanState,
    mapping: MappingDef,
    mapped: Concept,
    reader: Concept,
    filter?: Pick<RowFilter, 'readsAll' | 'isBelowBarrier' | 'instancesOf'>,
  ) {
    this.state = state;
    this.mapping = mapping;
    this.mapped = mapped;
    this.reader = reader;
    this.rows = state.texts.mapping(mapping);
    this.#paths = new BranchPaths(this, filter?.readsAll === true);
    state.facts.readsHidden ||= state.seen.concept(mapped.name) === undefined;
    this.rules = state.position.isTrusted ? [] : [...(state.policies?.rowRules(mapping) ?? []), ...rulesOfInstances(mapped, filter?.instancesOf)];
    this.isBelowBarrier = this.rules.length > 0 || filter?.isBelowBarrier === true;
    if (this.rules.length > 0) state.facts.hasRowPolicies = true;
    this.#hides = this.rows.leavesOut && state.hidesTables(mapping.datasource);
    state.facts.hidesRows ||= this.#hides;
  }

  /** A SELECT of columns over the rows that meet the conditions. */
  select(wanted: WantedColumns, conditions: readonly Condition[], tail: Tail = {}): SelectStmt {
    const targets = (): Node[] => mapWanted(wanted, (w, name) => target(this.column(w), name));
    if (!followsPaths(this, wanted)) return this.#select(targets(), conditions, tail);
    // PostgreSQL may compute values at the end of joined paths before the barrier above, for the rows that these conditions leave
    return this.#paths.select(targets, (columns, isJoined) =>
      this.#select(columns, isJoined && this.isBelowBarrier ? withoutBarriers(conditions) : conditions, tail),
    );
  }

  #select(targetList: Node[], conditions: readonly Condition[], tail: Tail): SelectStmt {
    return select({
      targetList,
      fromClause: this.rows.from(),
      ...whereOf([...this.rows.where().map((node) => ({ node })), ...conditions]),
      ...(this.#hides ? BARRIER : {}),
      ...tail,
    });
  }

  /**
   * A SELECT of columns over the first rows. It has column names of its own, because ORDER BY prefers the name of an output column to that of a table's column.
   */
  first(wanted: WantedColumns, conditions: readonly Condition[], { sorts, count }: FirstRows): SelectStmt {
    const rows = this.state.alias();
    const names = new Map([...wanted.keys()].map((name) => [name, this.state.alias()] as const));
    const sortClause = sorts.flatMap(({ def, like }) => {
      const given = this.given(def);
      return given ? [{ SortBy: { ...like, node: this.rows.column(given.name) } }] : [];
    });
    const inner = this.select(new Map([...wanted].map(([name, w]) => [names.get(name) as string, w])), conditions, {
      ...(sortClause.length > 0 ? { sortClause } : {}),
      limitCount: clone(count),
      limitOption: 'LIMIT_OPTION_COUNT',
    });
    return select({ targetList: [...names].map(([name, own]) => target(column(rows, own), name)), fromClause: [subselect(inner, rows)] });
  }

  /** True if, in a statement with barriers, policies or the mapping's own condition keep other conditions away from the rows. */
  get mayBeBarred(): boolean {
    return this.rules.length > 0 || this.#hides;
  }

  /** True if the key's columns can be compared below the barriers of the rows: no column is masked, and no comparison may raise an error. */
  canCompareKey(key: readonly PropertyDef[]): boolean {
    const isBarred = this.mayBeBarred || this.isBelowBarrier;
    return key.every((p) => !this.isMasked(p) && (!isBarred || comparesAlways(this.given(p), this.typeOf(p))));
  }

  /** True if the caller gets a masked value of the property, or one that is calculated from a masked value. */
  isMasked(def: PropertyDef): boolean {
    return this.state.policies?.maskedBelow(this.state, this.mapped, def) !== undefined;
  }

  /** The SQL type of a property's values. */
  typeOf(def: PropertyDef): string {
    return declaredType(this.state.graph, def);
  }

  column(wanted: Wanted): Node {
    switch (wanted.kind) {
      case 'property':
        return isShown(wanted, this.mapping) ? this.property(wanted.def, wanted) : cast(nullValue(), declaredType(this.state.graph, wanted.def));
      case 'raw': {
        const given = isShown(wanted, this.mapping) ? this.given(wanted.def) : undefined;
        return given ? this.#paths.given(given.name) : cast(nullValue(), wanted.type);
      }
      case 'entity_id':
        return entityId(this, wanted.actual);
      case 'entity_type':
        return cast(text(this.mapped.name), 'text');
      case 'entity_label':
        return entityLabel(this, wanted.actual);
      case 'mapping':
        return cast(text(this.mapping.name), 'text');
      case 'mapped_in':
        return boolean(wanted.mappings.has(this.mapping));
    }
  }

  /**
   * The value of a property, cast to its declared type and masked unless `actual`. NULL if the mapping does not give the property or the property does not
   * apply.
   */
  property(def: PropertyDef, { actual: isActual = false, reader = this.reader, by }: Partial<Reading> = {}): Node {
    const applies = has(this.mapped, def) || (def.expression !== null && has(reader, def));
    const rules = isActual || !applies ? [] : (this.state.policies?.masks(this.mapping, def.name) ?? []);
    const value = (): Node => this.#value(def, { actual: isActual, reader, by });
    if (rules.length === 0) return value();
    const masked = (below: () => Node, plain: () => Node): Node => rules.reduceRight((v, rule) => () => this.#masked(def, rule, v, plain), below)();
    return def.expression === null ? masked(value, () => this.#value(def, actual(reader))) : once(this.state, value, (v) => masked(v, v));
  }

  /** Applies one mask to the `plain` value, in the rows for which the mask is in force. Other rows have `value`. */
  #masked(def: PropertyDef, rule: MaskRule, value: () => Node, plain: () => Node): Node {
    const { mask } = rule;
    const type = declaredType(this.state.graph, def);
    this.state.facts.noteType(type);
    if (mask.kind === 'with') this.#noteResult(this.state.texts.sharedExpression(mask, mask.expression), type, true);
    if (mask.kind === 'with') this.state.facts.mayQuote = true;
    const concerned = (rule.concept === null ? undefined : this.state.graph.concept(rule.concept)) ?? this.mapped;
    const masked = maskedValue(this.state, plain(), mask, type, () =>
      mask.kind === 'with' ? this.#expression(mask, mask.expression, `the mask \`${rule.policy}\``, actual(concerned)) : undefined,
    );
    const condition = this.#isInstance(this.state.policies?.maskedWhen(rule, this.mapping) ?? []);
    return condition ? { CaseExpr: { args: [{ CaseWhen: { expr: condition, result: masked } }], defresult: value() } } : masked;
  }

  /**
   * The condition that a row is an instance of logic concepts, over the row's own unmasked values. undefined if a condition reads a path, a property that is
   * calculated over paths, or a sub-query. The mask then applies to all rows: it may mask too much, but never too little.
   */
  #isInstance(concepts: readonly Concept[]): Node | undefined {
    const conditions = concepts.map(({ rows }) => {
      if (rows.kind !== 'logic' || rows.definer !== undefined) return undefined;
      const { node } = this.state.texts.expression(rows, rows.condition);
      let plain = true;
      walk(node, (n) => {
        if (isSubQuery(n)) plain = false;
        if ('ColumnRef' in n) plain &&= this.#isOwnValue(n.ColumnRef);
        return plain;
      });
      return plain ? this.#expression(rows, rows.condition, 'a logic concept', actual(rows.source)) : undefined;
    });
    return conditions.length > 0 && conditions.every((c) => c !== undefined) ? coalesce(and(conditions as Node[]) as Node, boolean(false)) : undefined;
  }

  /** True for the name of a property whose value is computed from the row only. */
  #isOwnValue(ref: ColumnRef): boolean {
    const [name = '', ...others] = fieldsOf(ref);
    const property = others.length > 0 ? undefined : this.state.graph.property(name);
    return property !== undefined && !followsAny(this.state, property);
  }

  /** The value of a property without its own mask; with `actual`, also without the masks of the properties that it is calculated from. */
  #value(def: PropertyDef, reading: Reading): Node {
    const { state } = this;
    const type = this.typeOf(def);
    state.facts.noteType(type);
    if (def.expression !== null) {
      if (!has(this.mapped, def) && !has(reading.reader, def)) return cast(nullValue(), type);
      this.#noteResult(state.texts.sharedExpression(def, def.expression), type, reading.actual);
      return cast(this.#calculated(def, def.expression, reading), type);
    }
    const given = this.given(def, reading.reader);
    if (given && (state.facts.isRestricted || reading.actual) && !castsAlways(given, type)) {
      state.facts.mayRaise = true;
      // PostgreSQL's error message quotes a text that it cannot cast.
      if (this.rules.length > 0 || this.#hides || reading.actual || !this.#isOpen(def)) state.facts.mayQuote ||= givesTexts(given);
    }
    return columnValue(given ? this.#paths.given(given.name) : nullValue(), type, given);
  }

  /** True if the caller may query the property in all rows of the mapping, whichever text reads it here. */
  #isOpen(def: PropertyDef): boolean {
    const { seen, graph } = this.state;
    return seen === graph || isShown({ def, seen }, this.mapping);
  }

  /** Notes whether the cast of a stored expression to its declared type may raise an error, whose message would quote the value. */
  #noteResult(tree: Node, type: string, actual: boolean): void {
    const { state } = this;
    if (!(state.facts.isRestricted || actual) || givesAlways(state.graph, tree, type)) return;
    state.facts.mayRaise = true;
    state.facts.mayQuote = true;
  }

  /** The column of the mapping that gives a property of the mapped concept; undefined if the mapping has no such column, or if the reader does not show it. */
  given(def: PropertyDef, reader = this.reader): MappingDef['columns'][number] | undefined {
    if (def.expression !== null || !has(this.mapped, def)) return undefined;
    const first = columnNamed(this.mapping, def.name.toLowerCase());
    const found = first === undefined || first.name === def.name ? first : (this.mapping.columns.find((c) => c.name === def.name) ?? first);
    return found && listsFor(this.state, reader, def, this.mapping, this.mapped) ? found : undefined;
  }

  #calculated(def: PropertyDef, expression: string, reading: Reading): Node {
    const { state } = this;
    const isSeen = state.seen.property(def.name) !== undefined;
    const called = isSeen ? `the calculated property \`${def.name}\`` : 'a calculated property';
    const circular = (): Error => badRequest('circular_property', `${called} depends on itself`);
    if (isSeen && state.mayName && mayDivideByZero(expression, () => state.texts.sharedExpression(def, expression))) state.dividing.add(called);
    return state.position.expanding(def, circular, () =>
      state.grows(
        () => called,
        () => this.#expression(def, expression, called, reading, def),
      ),
    );
  }

  /**
   * A stored expression whose column references are names of properties. `def`: the calculated property whose expression it is, which may have paths too.
   * @throws SvcError 400 `unknown_property`, and the errors of paths
   */
  #expression(owner: object, expression: string, called: string, reading: Reading, def?: PropertyDef): Node {
    const { state } = this;
    const stored = state.texts.plainExpression(owner, expression);
    requireMergeable(stored, called);
    const tree = def === undefined ? stored : divideAsDeclared(state.graph.whole, stored, def.type);
    // The expression is computed below the policies, where no other check of errors applies.
    if (this.rules.length > 0 || this.#hides) state.facts.mayRaise ||= !isTotal(tree);
    const propertyAt = (ref: ColumnRef): Node => {
      const fields = fieldsOf(ref);
      const property = state.graph.property(fields.at(-1) ?? '');
      if (fields.length !== 1 || !property) {
        // the stored text may name what the caller does not see
        const name = state.seen === state.seen.whole ? ` \`${fields.join('.')}\`` : '';
        throw badRequest('unknown_property', `unknown property${name} in ${called}`);
      }
      return this.property(property, reading);
    };
    if (def !== undefined && readsPaths(state, def, expression)) return this.#paths.over(tree, { def, called, reading, propertyAt });
    return rewrite(tree, (n) => ('ColumnRef' in n ? propertyAt(n.ColumnRef) : undefined)) as Node;
  }
}
