/**
 * One use of a concept in FROM and the tree of paths that a query walks from it (docs/design/paths-and-cardinality.md#joins): which columns are wanted at each
 * node, and the joins that bring them (docs/design/sql-shapes.md#joins-of-paths).
 */
import { made } from '../budget.ts';
import { badRequest } from '../errors.ts';
import type { Concept, Graph, Relationship } from '../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import type { MaskRule } from './access.ts';
import { ofVisible } from './beside.ts';
import { isPlainType } from './guard/index.ts';
import { maskedValue } from './masks.ts';
import { isFew, type RowFilter } from './narrow.ts';
import { type Hop, isToMany } from './path.ts';
import { givesAlways } from './result.ts';
import { actualProperty, conceptSource, isMixedInteger, rawType, type Wanted } from './sources.ts';
import {
  and,
  boolean,
  cast,
  clone,
  column,
  equals,
  FENCE,
  fieldsOf,
  join,
  type Node,
  nullValue,
  rewrite,
  type SelectStmt,
  select,
  subselect,
  target,
  unionAll,
} from './tree.ts';
import { transitiveWalk } from './walk.ts';
import type { Work } from './work.ts';

/** What leads to a node: a hop of a path, or a multi-value property. */
export type Step = { readonly kind: 'hop'; readonly hop: Hop } | { readonly kind: 'multi'; readonly def: PropertyDef };

/** A relation of the join tree: the root, or what a step leads to. */
export class PathNode {
  readonly parent: PathNode | null;
  readonly step: Step | null;
  /** Whose rows stand here (for a multi-value node: the concept that has the property). */
  readonly concept: Concept;
  readonly alias: string;
  readonly work: Work;
  readonly children = new Map<string, PathNode>();
  /** Columns of the concept's rows, by what they are. */
  readonly columns = new Map<string, { readonly name: string; readonly wanted: Wanted }>();
  readonly #names = new Set<string>();
  /** Columns of the link's rows that are wanted, by lower-case name. */
  readonly linkColumns = new Map<string, string>();
  /** What its rows must meet for a row of the block to meet WHERE. */
  filter: RowFilter | undefined;

  constructor(work: Work, parent: PathNode | null, step: Step | null, concept: Concept) {
    made(10);
    this.parent = parent;
    this.step = step;
    this.concept = concept;
    this.alias = work.alias();
    this.work = work;
  }

  /** The name under which the node's own source yields a column. */
  want(key: string, wanted: Wanted, preferred?: string): string {
    const known = this.columns.get(key);
    if (known) return known.name;
    let name = preferred;
    // a property may be called like this
    for (let n = this.#names.size + 1; name === undefined || this.#names.has(name); n++) name = `c${n}`;
    this.#names.add(name);
    this.columns.set(key, { name, wanted });
    return name;
  }

  /** Whether the step to it may find several rows. */
  get toMany(): boolean {
    return this.step !== null && (this.step.kind === 'multi' || isToMany(this.step.hop));
  }

  /** The node itself and all below it, parents first. */
  *all(): Generator<PathNode> {
    yield this;
    for (const child of this.children.values()) yield* child.all();
  }

  child(step: Step): PathNode {
    const label = step.kind === 'hop' ? step.hop.label.toLowerCase() : `.${step.def.name.toLowerCase()}`;
    let node = this.children.get(label);
    if (!node) {
      this.work.joins();
      node = new PathNode(this.work, this, step, step.kind === 'hop' ? step.hop.rows : this.concept);
      this.children.set(label, node);
    }
    return node;
  }
}

/** The key of a wanted property column at a node. */
export const propertyKey = (def: PropertyDef, actual = false): string => `${actual ? 'a' : 'p'}:${def.name}`;

const wantActual = (node: PathNode, def: PropertyDef): string => node.want(propertyKey(def, node.work.policies !== undefined), actualProperty(node.work, def));

/** The column of a property by which a node is joined, raw where every mapping gives it as the same integer type. */
export function joinColumn(node: PathNode, def: PropertyDef): { name: string; type: string } {
  const raw = rawType(node.concept, def);
  const declared = parseType(def.type).sql;
  if (raw && raw !== declared) return { name: node.want(`r:${def.name}`, { kind: 'raw', def, type: raw }), type: raw };
  return { name: wantActual(node, def), type: declared };
}

/** Asks the nodes for the columns that their joins need, so that sources made afterwards yield them; gives a maker of each node's join. */
export function prepareJoins(root: PathNode, nodes: ReadonlySet<PathNode>): Map<PathNode, Maker> {
  const makers = new Map<PathNode, Maker>();
  for (const node of root.all()) if (node !== root && nodes.has(node)) makers.set(node, prepareJoin(node));
  return makers;
}

/** The rows of a node's concept with the columns that were asked of it. */
export function nodeSource(node: PathNode, joined?: RowFilter['joined']): SelectStmt {
  const filter = joined ? { comparisons: [], ...node.filter, joined } : node.filter;
  return conceptSource(node.work, node.concept, new Map([...node.columns.values()].map((c) => [c.name, c.wanted])), node.concept, filter);
}

/** A joined relation and the condition under which it belongs to its parent's row. */
export interface Joined {
  readonly item: Node;
  readonly condition: Node;
}

export type Maker = (parentColumn: (name: string) => Node) => Joined;

function prepareJoin(node: PathNode): Maker {
  const { step } = node;
  const parent = node.parent as PathNode;
  if (step?.kind === 'multi') return joinMulti(node, parent, step.def);
  const { hop } = step as { hop: Hop };
  if (hop.depth !== null) return transitiveWalk(node, parent, hop, hop.depth);
  return hop.relationship.kind === 'mtm' ? joinLink(node, parent, hop.relationship) : joinKey(node, parent, hop.relationship);
}

function joinKey(node: PathNode, parent: PathNode, relationship: Relationship): Maker {
  const pairs = relationship.source.map((def, i) => [joinColumn(parent, def).name, joinColumn(node, relationship.references[i] as PropertyDef).name] as const);
  const sought = isSought(node, parent) ? relationship.references.flatMap((def, i) => (isMixedInteger(node.concept, def) ? [{ def, pair: i }] : [])) : [];
  return (parentColumn) => {
    const joined = sought.map(({ def, pair }) => ({ def, value: parentColumn((pairs[pair] as readonly [string, string])[0]) }));
    return {
      item: joined.length > 0 ? subselect(nodeSource(node, joined), node.alias, { lateral: true }) : subselect(nodeSource(node), node.alias),
      condition: and(pairs.map(([near, far]) => equals(column(node.alias, far), parentColumn(near)))) as Node,
    };
  };
}

/**
 * Whether a node's rows are sought for each row that its path comes from, mapping by mapping: where few of those are asked for. A column that is cast
 * keeps its index out of a join, and of many rows a join is better off without one.
 */
function isSought(node: PathNode, parent: PathNode): boolean {
  let root = parent;
  for (; root.parent; root = root.parent) if (root.toMany) return false;
  return node.work.policies === undefined && isFew(root);
}

function joinLink(node: PathNode, parent: PathNode, relationship: Relationship): Maker {
  const near = relationship.links[0]?.near.references ?? keyNames(relationship.from);
  const far = relationship.links[0]?.far.references ?? keyNames(relationship.target);
  const nearColumns = near.map((name) => joinColumn(parent, propertyNamed(node, name)));
  const farColumns = far.map((name) => joinColumn(node, propertyNamed(node, name)));
  const link = linkAlias(node);
  return (parentColumn) => {
    const rows = ofVisible(node.work, linkRows(node.work, relationship, near, far, [...node.linkColumns]), [
      { concept: parent.concept, keys: near.map((name, i) => [`n${i}`, propertyNamed(node, name)] as const) },
      { concept: node.concept, keys: far.map((name, i) => [`f${i}`, propertyNamed(node, name)] as const) },
    ]);
    const reach = and(farColumns.map((c, i) => equals(column(node.alias, c.name), column(link, `f${i}`)))) as Node;
    return {
      item: join('JOIN_INNER', subselect(rows, link), subselect(nodeSource(node), node.alias), reach),
      condition: and(nearColumns.map((c, i) => equals(column(link, `n${i}`), parentColumn(c.name)))) as Node,
    };
  };
}

/** The alias under which the link rows of a many-to-many node stand. */
export const linkAlias = (node: PathNode): string => `${node.alias}l`;

const keyNames = (concept: Concept): readonly string[] => (concept.key?.properties ?? []).map((p) => p.name);

function propertyNamed(node: PathNode, name: string): PropertyDef {
  const found = node.work.graph.property(name);
  if (!found) throw badRequest('unknown_property', `unknown property \`${name}\` behind a link to \`${node.concept.name}\``);
  return found;
}

/**
 * The rows of a many-to-many relationship: near columns `n0..`, far columns `f0..`, and the wanted columns of the link under their names. Ends are cast to the types of the properties that they
 * refer to, unless they are integers (compared by index across integer types).
 */
export function linkRows(
  work: Work,
  relationship: Relationship,
  near: readonly string[],
  far: readonly string[],
  extra: readonly (readonly [string, string])[],
): SelectStmt {
  const end = (mapping: MappingDef, name: string, property: string, uniform: boolean): Node => {
    const given = mapping.columns.find((c) => c.name.toLowerCase() === name.toLowerCase());
    const col = work.mapping(mapping).column(given?.name ?? name);
    const def = work.graph.property(property);
    const integers = given?.type === 'int2' || given?.type === 'int4' || given?.type === 'int8';
    const declared = def ? parseType(def.type).sql : 'text';
    work.weighCast(given, declared);
    return uniform && integers && /int/.test(declared) ? col : cast(col, declared);
  };
  const uniform = (columnsOf: (link: Relationship['links'][number]) => readonly string[], i: number): boolean => {
    const types = new Set(relationship.links.map((l) => l.mapping.columns.find((c) => c.name.toLowerCase() === columnsOf(l)[i]?.toLowerCase())?.type));
    return types.size === 1;
  };
  const branches = relationship.links.map((link) =>
    select({
      targetList: [
        ...near.map((property, i) =>
          target(
            end(
              link.mapping,
              at(link.near, property),
              property,
              uniform((l) => l.near.columns, i),
            ),
            `n${i}`,
          ),
        ),
        ...far.map((property, i) =>
          target(
            end(
              link.mapping,
              at(link.far, property),
              property,
              uniform((l) => l.far.columns, i),
            ),
            `f${i}`,
          ),
        ),
        ...extra.map(([lower, name]) => {
          const given = link.mapping.columns.find((c) => c.name.toLowerCase() === lower);
          const bare = given ? work.mapping(link.mapping).column(given.name) : nullValue();
          const value = isPlainType(given?.type) ? bare : cast(bare, 'text');
          return target(behindMask(work, value, lower, work.policies?.maskOnLink([relationship.from, relationship.target], lower)), name);
        }),
      ],
      ...fromMapping(work, link.mapping),
    }),
  );
  const [first, ...others] = branches;
  if (first) return others.reduce(unionAll, first);
  const typed = (property: string): Node => {
    const def = work.graph.property(property);
    return cast(nullValue(), def ? parseType(def.type).sql : 'text');
  };
  return select({
    targetList: [
      ...near.map((p, i) => target(typed(p), `n${i}`)),
      ...far.map((p, i) => target(typed(p), `f${i}`)),
      ...extra.map(([, name]) => target(cast(nullValue(), 'text'), name)),
    ],
    whereClause: boolean(false),
  });
}

/** A value that stands beside the rows of its concept, behind the mask of the property of its name: what WITH reads of other properties is not there. */
export function behindMask(work: Work, value: Node, property: string, rule: MaskRule | undefined): Node {
  const def = work.graph.property(property);
  if (!rule || !def || work.trusted) return value;
  const type = parseType(def.type).sql;
  const { mask } = rule;
  if (mask.kind === 'with') {
    work.quiet = true;
    work.leaky ||= !givesAlways(work.graph, work.plainExpression(mask, mask.expression), type);
  }
  return maskedValue(work, cast(value, type), mask, type, () => {
    if (mask.kind !== 'with') return undefined;
    let alone = true;
    const made = rewrite(work.plainExpression(mask, mask.expression), (n) => {
      if (!('ColumnRef' in n)) return undefined;
      if (fieldsOf(n.ColumnRef).at(-1)?.toLowerCase() !== def.name.toLowerCase()) alone = false;
      return cast(clone(value), type);
    }) as Node;
    return alone ? made : undefined;
  });
}

/** FROM and WHERE of a mapping's rows; what it leaves out of its tables stays hidden from a caller who may not query them. */
function fromMapping(work: Work, mapping: MappingDef): Pick<SelectStmt, 'fromClause' | 'whereClause' | 'limitOffset' | 'limitOption'> {
  const rows = work.mapping(mapping);
  const where = and(rows.where());
  const hides = rows.leavesOut && work.hides(mapping.datasource);
  if (hides) work.quiet ||= !rows.isTotal;
  return { fromClause: rows.from(), ...(where ? { whereClause: where } : {}), ...(hides && work.fenced ? FENCE : {}) };
}

/** The link's column that holds the value of a property at one end. */
function at(end: Relationship['links'][number]['near'], property: string): string {
  const i = end.references.findIndex((r) => r.toLowerCase() === property.toLowerCase());
  const found = end.columns[i];
  if (i < 0 || found === undefined) throw badRequest('bad_link', `the link mappings of \`${end.relationship}\` do not refer to the same properties`);
  return found;
}

function joinMulti(node: PathNode, parent: PathNode, def: PropertyDef): Maker {
  const key = parent.concept.key?.properties;
  if (!key) throw badRequest('no_key', `the multi-value property \`${def.name}\` needs a primary key on \`${parent.concept.name}\``);
  const near = key.map((p) => ({ def: p, name: node.parent === parent ? joinColumn(parent, p).name : '' }));
  return (parentColumn) => {
    const { work } = node;
    const mappings = multiMappings(work.graph, parent.concept, def);
    const value = parseType(def.type).sql;
    const branches = mappings.map((mapping) => {
      const given = (name: string): Node =>
        work.mapping(mapping).column(mapping.columns.find((c) => c.name.toLowerCase() === name.toLowerCase())?.name ?? name);
      const columnOf = (name: string) => mapping.columns.find((c) => c.name.toLowerCase() === name.toLowerCase());
      for (const { def: key } of near) work.weighCast(columnOf(key.name), parseType(key.type).sql);
      work.weighCast(columnOf(def.name), value);
      return select({
        targetList: [
          ...near.map((n, i) => target(keyColumn(mapping, n.def, given(n.def.name)), `n${i}`)),
          target(behindMask(work, cast(given(def.name), value), def.name, work.policies?.maskIn(parent.concept, def.name)), 'value'),
        ],
        ...fromMapping(work, mapping),
      });
    });
    const [first, ...others] = branches;
    const rows = first
      ? ofVisible(work, others.reduce(unionAll, first), [{ concept: parent.concept, keys: near.map((n, i) => [`n${i}`, n.def] as const) }])
      : select({
          targetList: [...near.map((n, i) => target(cast(nullValue(), parseType(n.def.type).sql), `n${i}`)), target(cast(nullValue(), value), 'value')],
          whereClause: boolean(false),
        });
    return { item: subselect(rows, node.alias), condition: and(near.map((n, i) => equals(column(node.alias, `n${i}`), parentColumn(n.name)))) as Node };
  };
}

/** The mappings that give a concept the values of a multi-value property: one key means one thing, whatever concept a mapping gives its values through. */
export function multiMappings(graph: Graph, concept: Concept, def: PropertyDef): readonly MappingDef[] {
  const kin = (c: Concept): boolean => c.key !== null && c.key.holder === concept.key?.holder;
  const found = graph.concepts.filter((c) => c.multiMappings.length > 0 && kin(c)).flatMap((c) => c.multiMappings);
  return [...new Set(found)].filter((m) => m.property?.toLowerCase() === def.name.toLowerCase());
}

/** A key column of a multi-value mapping: raw where it is an integer, as its index has it. */
function keyColumn(mapping: MappingDef, def: PropertyDef, col: Node): Node {
  const type = mapping.columns.find((c) => c.name.toLowerCase() === def.name.toLowerCase())?.type;
  return type === 'int4' || type === 'int8' || type === 'int2'
    ? cast(col, type === 'int4' ? 'integer' : type === 'int8' ? 'bigint' : 'smallint')
    : cast(col, parseType(def.type).sql);
}
