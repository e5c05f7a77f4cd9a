/**
 * The rows of a concept (docs/design/paths-and-cardinality.md#rows-of-a-concept) as a SELECT: a UNION ALL over mappings with just the columns that are wanted,
 * each cast to its declared type so that PostgreSQL flattens the union (docs/design/sql-shapes.md#a-concept-is-a-union-of-its-mappings).
 */
import { badRequest } from '../errors.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import type { MaskRule } from './access.ts';
import { admitted } from './admitted.ts';
import { castsAlways, givesTexts, isTotal } from './leak.ts';
import { logicSource } from './logic.ts';
import type { MappedRows } from './mapped.ts';
import { keyedHash, maskedValue } from './masks.ts';
import { branchCondition, type FirstRows, type RowFilter } from './narrow.ts';
import type { AppliedRule } from './policies.ts';
import { givesAlways } from './result.ts';
import { has, isOpenAs, isShown } from './shown.ts';
import {
  and,
  boolean,
  call,
  cast,
  clone,
  coalesce,
  column,
  FENCE,
  fieldsOf,
  isNotNull,
  isSubQuery,
  type Node,
  nullValue,
  operator,
  rewrite,
  type SelectStmt,
  select,
  subselect,
  target,
  text,
  unionAll,
  walk,
} from './tree.ts';
import type { Work } from './work.ts';

/** A column that a source is asked for. */
export type Wanted =
  /**
   * `actual`: the true value, whatever is masked for the caller: for joins that the model makes, and for the conditions of policies.
   * `reader`: the concept whose calculated properties apply to the rows, where that is not the one that the caller reads them through.
   * `seen`: of a property of descendants, the model as whoever reads sees it: not in all rows may it have the values (shown.ts).
   */
  | { readonly kind: 'property'; readonly def: PropertyDef; readonly actual?: true; readonly reader?: Concept; readonly seen?: Graph }
  /** The property's column as the table has it, for joins by index; only where `rawType` gave a type. */
  | { readonly kind: 'raw'; readonly def: PropertyDef; readonly type: string; readonly seen?: Graph }
  | { readonly kind: 'entity_id' | 'entity_type' | 'entity_label'; readonly actual?: true }
  /** The name of the row's mapping. */
  | { readonly kind: 'mapping' }
  /** Whether the row is an instance of the concept by its mapping alone. */
  | { readonly kind: 'mapped_in'; readonly mappings: ReadonlySet<MappingDef> };

export type WantedColumns = ReadonlyMap<string, Wanted>;

const declaredType = (def: PropertyDef): string => parseType(def.type).sql;

/** A property's true value at a node, for joins that the model itself makes. Without policies it is the column that the caller gets. */
export const actualProperty = (work: Work, def: PropertyDef): Wanted => (work.policies ? { kind: 'property', def, actual: true } : { kind: 'property', def });

/** The SQL type of what is wanted. */
export function typeOf(wanted: Wanted): string {
  if (wanted.kind === 'property') return declaredType(wanted.def);
  if (wanted.kind === 'raw') return wanted.type;
  return wanted.kind === 'mapped_in' ? 'boolean' : 'text';
}

/**
 * A SELECT of `wanted` (name -> column) over the rows of `concept`. `reader` is the concept through which the rows are
 * read, where that is another one (a logic concept over its source): its own calculated properties apply too.
 * `filter` narrows the rows to those that a WHERE asks for.
 */
export function conceptSource(work: Work, concept: Concept, wanted: WantedColumns, reader: Concept = concept, filter?: RowFilter): SelectStmt {
  const rows = concept.rows;
  if (rows.kind === 'logic') return logicSource(work, concept, rows, wanted, reader, filter);
  const branches: SelectStmt[] = [];
  for (const { mapping, target: mapped } of rows.sources) {
    if (filter?.as && !isOpenAs(filter.as, mapping)) continue;
    const branch = new Branch(work, mapping, mapped, reader);
    const narrowed = filter ? branchCondition(branch, filter) : [];
    if (narrowed === false) continue;
    const rules = branch.rules;
    if (filter?.first) branches.push(branch.first(wanted, narrowed, filter.first));
    else branches.push(rules.length === 0 ? branch.select(wanted, narrowed) : admitted(work, mapped, rules, wanted, (asked) => branch.select(asked, narrowed)));
  }
  const [first, ...others] = branches;
  if (!first) return emptySource(wanted);
  return others.reduce(unionAll, first);
}

/** A source without rows. */
const emptySource = (wanted: WantedColumns): SelectStmt =>
  select({ targetList: [...wanted].map(([name, w]) => target(cast(nullValue(), typeOf(w)), name)), whereClause: boolean(false) });

/** One mapping as a part of a concept's rows. */
export class Branch {
  readonly work: Work;
  readonly mapping: MappingDef;
  /** The concept that the mapping maps INTO: T of docs/design/paths-and-cardinality.md#entity-columns. */
  readonly mapped: Concept;
  readonly reader: Concept;
  readonly rows: MappedRows;
  /** The row policies that its rows must meet. */
  readonly rules: readonly AppliedRule[];
  /** Whether rows that the mapping leaves out are hidden from the caller. */
  readonly #hides: boolean;

  constructor(work: Work, mapping: MappingDef, mapped: Concept, reader: Concept) {
    this.work = work;
    this.mapping = mapping;
    this.mapped = mapped;
    this.reader = reader;
    this.rows = work.mapping(mapping);
    work.readsHidden ||= work.seen.concept(mapped.name) === undefined;
    this.rules = work.trusted ? [] : (work.policies?.rowRules(mapping) ?? []);
    if (this.rules.length > 0) work.guarded = true;
    this.#hides = this.rows.leavesOut && work.hides(mapping.datasource);
    if (this.rules.length > 0 || this.#hides) work.quiet ||= !this.rows.isTotal;
  }

  /** A SELECT of columns over its rows that meet the conditions. */
  select(wanted: WantedColumns, conditions: readonly Node[], tail: Pick<SelectStmt, 'sortClause' | 'limitCount' | 'limitOption'> = {}): SelectStmt {
    const condition = and([...this.rows.where(), ...conditions]);
    return select({
      targetList: [...wanted].map(([name, w]) => target(this.column(w), name)),
      fromClause: this.rows.from(),
      ...(condition ? { whereClause: condition } : {}),
      ...(this.#hides && this.work.fenced ? FENCE : {}),
      ...tail,
    });
  }

  /** The same of its first rows alone. The columns go by names of their own within: ORDER BY takes a column's name for that of one that is selected. */
  first(wanted: WantedColumns, conditions: readonly Node[], { sorts, count }: FirstRows): SelectStmt {
    const rows = this.work.alias();
    const names = new Map([...wanted.keys()].map((name) => [name, this.work.alias()] as const));
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

  /** Whether conditions from outside do not reach its rows: its policies, or the mapping's own condition, come first. */
  get isFenced(): boolean {
    return this.work.fenced && (this.rules.length > 0 || this.#hides);
  }

  /** Whether its key's columns can be compared before the policies are asked: nothing masked, nothing that could fail. */
  isPlainKey(key: readonly PropertyDef[]): boolean {
    if (!this.work.policies) return true;
    return key.every((p) => !this.isMasked(p) && (this.rules.length === 0 || castsAlways(this.given(p), declaredType(p))));
  }

  /** Whether the caller gets another value of the property than the table has, itself or through what it is calculated from. */
  isMasked(def: PropertyDef): boolean {
    return this.work.policies?.maskedBelow(this.work, this.mapped, def) !== undefined;
  }

  column(wanted: Wanted): Node {
    switch (wanted.kind) {
      case 'property':
        return isShown(wanted, this.mapping) ? this.property(wanted.def, wanted.actual, wanted.reader) : cast(nullValue(), declaredType(wanted.def));
      case 'raw': {
        const given = isShown(wanted, this.mapping) ? this.given(wanted.def) : undefined;
        return given ? this.rows.column(given.name) : cast(nullValue(), wanted.type);
      }
      case 'entity_id':
        return this.entityId(wanted.actual);
      case 'entity_type':
        return cast(text(this.mapped.name), 'text');
      case 'entity_label':
        return this.label(wanted.actual);
      case 'mapping':
        return cast(text(this.mapping.name), 'text');
      case 'mapped_in':
        return boolean(wanted.mappings.has(this.mapping));
    }
  }

  /** The value of a property, cast to its declared type, behind its mask unless `actual`; NULL where the mapping does not give it or it does not apply. */
  property(def: PropertyDef, actual = false, reader = this.reader): Node {
    const applies = has(this.mapped, def) || (def.expression !== null && has(reader, def));
    const rules = actual || !applies ? [] : (this.work.policies?.masks(this.mapping, def.name) ?? []);
    return rules.reduceRight((value, rule) => this.#masked(def, rule, value, reader), this.#value(def, actual, reader));
  }

  /** A value behind one more mask, in the rows that the mask concerns. */
  #masked(def: PropertyDef, rule: MaskRule, value: Node, reader: Concept): Node {
    const { mask } = rule;
    if (mask.kind === 'with') this.#weighResult(this.work.plainExpression(mask, mask.expression), declaredType(def), true);
    if (mask.kind === 'with') this.work.quiet = true;
    const concerned = (rule.concept === null ? undefined : this.work.graph.concept(rule.concept)) ?? this.mapped;
    const expression = (): Node | undefined =>
      mask.kind === 'with' ? this.#expression(mask, mask.expression, `the mask \`${rule.policy}\``, true, concerned) : undefined;
    const masked = maskedValue(this.work, this.#value(def, true, reader), mask, declaredType(def), expression);
    const met = this.#isInstance(this.work.policies?.maskedWhen(rule, this.mapping) ?? []);
    return met ? { CaseExpr: { args: [{ CaseWhen: { expr: met, result: masked } }], defresult: value } } : masked;
  }

  /**
   * Whether a row is an instance of logic concepts, by conditions over its own true values; undefined where a condition looks further (a path, a
   * sub-query): then every row counts as one, so that rather too much is masked than too little.
   */
  #isInstance(concepts: readonly Concept[]): Node | undefined {
    const { work } = this;
    const conditions = concepts.map(({ rows }) => {
      if (rows.kind !== 'logic') return undefined;
      const { node } = work.expression(rows, rows.condition);
      let plain = true;
      walk(node, (n) => {
        if (isSubQuery(n)) plain = false;
        if ('ColumnRef' in n) plain &&= work.graph.property(fieldsOf(n.ColumnRef).at(-1) ?? '') !== undefined && fieldsOf(n.ColumnRef).length === 1;
        return plain;
      });
      return plain ? this.#expression(rows, rows.condition, 'a logic concept', true, rows.source) : undefined;
    });
    return conditions.length > 0 && conditions.every((c) => c !== undefined) ? coalesce(and(conditions as Node[]) as Node, boolean(false)) : undefined;
  }

  /** A property's value without a mask of its own; `actual`: also without those of what it is calculated from. */
  #value(def: PropertyDef, actual: boolean, reader: Concept): Node {
    const type = declaredType(def);
    const { work } = this;
    work.reads(type);
    if (def.expression !== null) {
      if (!has(this.mapped, def) && !has(reader, def)) return cast(nullValue(), type);
      this.#weighResult(work.plainExpression(def, def.expression), type, actual);
      return cast(this.calculated(def, def.expression, actual, reader), type);
    }
    const given = this.given(def);
    if (given && (work.isRestricted || actual) && !castsAlways(given, type)) {
      work.leaky = true;
      // PostgreSQL's message quotes the value of a text that it cannot cast
      if (this.rules.length > 0 || this.#hides || actual) work.quiet ||= givesTexts(given);
    }
    return cast(given ? this.rows.column(given.name) : nullValue(), type);
  }

  /** Notes whether the value of a stored expression may fail to become the declared type: the message quotes it. */
  #weighResult(tree: Node, type: string, actual: boolean): void {
    const { work } = this;
    if (!(work.isRestricted || actual) || givesAlways(work.graph, tree, type)) return;
    work.leaky = true;
    if (this.rules.length > 0 || this.#hides || actual) work.quiet = true;
  }

  /** The column of the mapping that gives a property of the mapped concept. */
  given(def: PropertyDef): MappingDef['columns'][number] | undefined {
    if (def.expression !== null || !has(this.mapped, def)) return undefined;
    const wanted = def.name.toLowerCase();
    return this.mapping.columns.find((c) => c.name === def.name) ?? this.mapping.columns.find((c) => c.name.toLowerCase() === wanted);
  }

  private calculated(def: PropertyDef, expression: string, actual: boolean, reader: Concept): Node {
    const { work } = this;
    if (work.expanding.has(def)) throw badRequest('circular_property', `the calculated property \`${def.name}\` depends on itself`);
    work.expanding.add(def);
    const isSeen = work.seen.property(def.name) !== undefined;
    const value = work.grows(
      () => (isSeen ? `the calculated property \`${def.name}\`` : 'a calculated property'),
      () => this.#expression(def, expression, `the calculated property \`${def.name}\``, actual, reader),
    );
    work.expanding.delete(def);
    return value;
  }

  /** A stored expression over plain names of properties. */
  #expression(owner: object, expression: string, called: string, actual: boolean, reader: Concept): Node {
    const { work } = this;
    const tree = work.plainExpression(owner, expression);
    // these are computed below the policies, where nothing else is weighed
    if (this.rules.length > 0 || this.#hides) work.leaky ||= !isTotal(tree);
    return rewrite(tree, (n) => {
      if (!('ColumnRef' in n)) return undefined;
      const fields = fieldsOf(n.ColumnRef);
      const property = work.graph.property(fields.at(-1) ?? '');
      if (fields.length !== 1 || !property) throw badRequest('unknown_property', `unknown property \`${fields.join('.')}\` in ${called}`);
      return this.property(property, actual, reader);
    }) as Node;
  }

  /** The key's values as text, joined (docs/design/paths-and-cardinality.md#entity-columns); undefined without a primary key. */
  key(): Node | undefined {
    const key = this.mapped.key;
    if (!key) return undefined;
    const parts = key.properties.map((p) => cast(this.property(p, true, this.mapped), 'text'));
    if (parts.length === 1) return parts[0];
    return parts
      .map((p) => call('replace', [call('replace', [p, text('%'), text('%25')]), text('|'), text('%7C')]))
      .reduce((a, b) => operator('||', operator('||', a, text('|')), b));
  }

  /** The key as it is shown: `~` and a keyed hash where a part of it is masked for the caller. */
  #shownKey(actual: boolean): Node | undefined {
    const key = this.key();
    const masked = !actual && this.mapped.key?.properties.some((p) => this.isMasked(p));
    return key && masked ? operator('||', text('~'), keyedHash(this.work, key)) : key;
  }

  private entityId(actual = false): Node {
    const key = this.#shownKey(actual);
    const holder = this.mapped.key?.holder;
    return key && holder ? operator('||', text(`${holder.name}:`), key) : cast(nullValue(), 'text');
  }

  private label(actual = false): Node {
    const parts = this.mapped.label.map((p) => cast(this.property(p, actual, this.mapped), 'text'));
    if (parts.length === 0) return this.#shownKey(actual) ?? cast(nullValue(), 'text');
    if (parts.length === 1) return parts[0] as Node;
    const any = isNotNull(coalesce(...parts.map(clone)));
    return { CaseExpr: { args: [{ CaseWhen: { expr: any, result: call('concat_ws', [text(' '), ...parts]) } }] } };
  }
}

const INTEGERS = new Set(['int2', 'int4', 'int8']);
const RAW_SQL: Readonly<Record<string, string>> = { int2: 'smallint', int4: 'integer', int8: 'bigint' };

/**
 * The SQL type in which a property can be joined without a cast that would keep an index out: where all mappings of the
 * concept give it as one integer type. undefined: join on the declared type.
 */
export function rawType(concept: Concept, def: PropertyDef): string | undefined {
  const [type, ...others] = [...integerTypes(concept, def)];
  return type && others.length === 0 ? RAW_SQL[type] : undefined;
}

/** Whether all mappings of the concept give a property as integers, yet of several types. */
export const isMixedInteger = (concept: Concept, def: PropertyDef): boolean => integerTypes(concept, def).size > 1;

/** The types of the columns that give a property, where all of them are integers. */
function integerTypes(concept: Concept, def: PropertyDef): ReadonlySet<string> {
  const found = new Set<string>();
  if (def.expression !== null) return found;
  let rows = concept.rows;
  while (rows.kind === 'logic') rows = rows.source.rows;
  const wanted = def.name.toLowerCase();
  for (const { mapping, target: mapped } of rows.sources) {
    if (!has(mapped, def)) continue;
    const given = mapping.columns.find((c) => c.name.toLowerCase() === wanted);
    if (!given) continue;
    if (!given.type || !INTEGERS.has(given.type)) return new Set();
    found.add(given.type);
  }
  return found;
}
