/** A concept in FROM: its columns and paths, and the sub-select that yields those that a query uses. */
import type { ColumnRef } from '@pgsql/types';
import { made, visited } from '../budget.ts';
import { badRequest, didYouMean, nearest, type SvcError } from '../errors.ts';
import type { Concept } from '../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../ontology/model.ts';
import { asExists, type Branches } from './aggregate/conditions.ts';
import { linkAlias, type nodeSource, PathNode, prepareJoins, propertyKey } from './joins.ts';
import { resolveCondition } from './logic.ts';
import { isPath, parsePath } from './path.ts';
import { refuseMasked } from './policies.ts';
import { requireReadable } from './readable.ts';
import { cloneResolved, forget, referenceOf, setMeasure, setReference } from './references.ts';
import type { Found, Relation } from './relations.ts';
import { propertyFor } from './shown.ts';
import { conceptSource, type Wanted, type WantedColumns } from './sources.ts';
import { and, boolean, coalesce, column, FENCE, join, type Node, type SelectStmt, select, string, subselect, target, utf8Length, walk } from './tree.ts';
import type { Work } from './work.ts';

export type Schema = 'svc' | 'esvc' | 'dsvc';

/** Whether no to-many hop leads to a node. */
function isPlainHop(node: PathNode): boolean {
  for (let at: PathNode | null = node; at; at = at.parent) if (at.toMany) return false;
  return true;
}

const ENTITY = new Set(['entity_id', 'entity_type', 'entity_label']);
const TYPE_OF = '_type_of_';
const MEASURE = 'measure.';
const MAX_NAME_BYTES = 63;

/** A column of the relation's sub-select: a node's column, or what is computed over its nodes. */
interface Exposed {
  readonly node: PathNode;
  readonly alias: string;
  readonly column: string;
  readonly computed?: { readonly expression: Node; readonly nodes: ReadonlySet<PathNode> };
}

/** A concept in FROM. */
export class ConceptRelation implements Relation {
  readonly work: Work;
  /** Whose rows they are, in the whole model. */
  readonly concept: Concept;
  /** The same concept in the words of who wrote the text: names are looked up in it. */
  readonly named: Concept;
  readonly schema: Schema;
  readonly alias: string;
  readonly called: string;
  readonly root: PathNode;
  /** Column of the relation -> where it comes from. */
  readonly #exposed: Map<string, Exposed>;
  /** Computed columns by what they are. */
  readonly #expressions = new Map<string, string>();
  /** The relation that stands in FROM: itself, or the one that this one reads as another concept. */
  readonly #base: ConceptRelation;
  readonly #reader: Concept;
  readonly #renamed: readonly string[];
  /** Conditions that come before whatever reads the relation. */
  readonly #barriers: Node[] = [];
  readonly #rows: ((wanted: WantedColumns) => SelectStmt) | undefined;

  /** `rows`: where its rows come from, where that is not the whole concept. */
  constructor(
    work: Work,
    concept: Concept,
    schema: Schema,
    alias: string,
    reader: Concept = concept,
    renamed: readonly string[] = [],
    called: string = alias,
    base?: ConceptRelation,
    rows?: (wanted: WantedColumns) => SelectStmt,
  ) {
    this.work = work;
    this.named = concept;
    this.concept = concept.whole;
    this.schema = schema;
    this.alias = alias;
    this.#reader = reader.whole;
    this.#renamed = renamed;
    this.called = called;
    this.#rows = rows;
    this.#base = base ?? this;
    this.#exposed = base ? base.#exposed : new Map();
    this.root = base?.root ?? new PathNode(work, null, null, this.concept);
  }

  /** Whether a schema's name, neutral or the product's, is the one from which the concept is read. */
  isIn(schema: string): boolean {
    const lower = schema.toLowerCase();
    return lower === this.schema || lower === this.schema.replace('svc', this.work.context.product);
  }

  /**
   * Asks a condition of its rows before whatever reads the relation is evaluated on them. The condition refers to this relation only, and to paths that lead
   * to one row each.
   */
  barrier(condition: Node): void {
    this.#barriers.push(condition);
  }

  /** Yields a column of the concept's own rows under a name. */
  expose(name: string, wanted: Wanted): void {
    const key = wantedKey(wanted);
    const known = this.root.columns.get(key);
    this.#exposed.set(name, { node: this.root, alias: this.root.alias, column: known ? known.name : this.root.want(key, wanted, name) });
  }

  /** The relation's column that yields a column of a node. */
  exposeNode(node: PathNode, columnName: string, alias = node.alias): string {
    visited(this.#exposed.size);
    for (const [name, e] of this.#exposed) if (e.node === node && e.column === columnName && e.alias === alias) return name;
    const name = this.work.alias();
    this.#exposed.set(name, { node, alias, column: columnName });
    return name;
  }

  find(written: string): Found | undefined {
    const name = this.#original(written);
    if (name === undefined) return undefined;
    const found = this.#column(name);
    if (!found) return undefined;
    return name === written ? found : { node: found.node, column: { name: written, key: written } };
  }

  /** The name of a column that an alias's column list renames: `FROM svc.city AS c(a, b)`. */
  #original(written: string): string | undefined {
    if (this.#renamed.length === 0) return written;
    const i = this.#renamed.findIndex((r) => r.toLowerCase() === written.toLowerCase());
    const names = this.#starNames();
    if (i >= 0) return names[i];
    const original = names.findIndex((n) => n.toLowerCase() === written.toLowerCase());
    return original >= 0 && original < this.#renamed.length ? undefined : written;
  }

  #column(name: string): Found | undefined {
    const lower = name.toLowerCase();
    if (ENTITY.has(lower)) return this.#own(lower, this.#asked(this.concept, { kind: lower as 'entity_id' }));
    const property = propertyOf(this.named, lower, this.schema !== 'svc');
    if (property) return this.#own(property.name, this.#asked(this.concept, { ...propertyFor(this.named, property), ...this.#applies(property) }));
    if (this.schema !== 'dsvc') return undefined;
    if (lower.startsWith(TYPE_OF)) return this.#typeOf(name.slice(TYPE_OF.length));
    const multi = multiOf(this.named, lower);
    if (multi) this.#judge(this.concept, multi);
    if (multi) return this.#reference(this.root.child({ kind: 'multi', def: multi }), 'value', multi.name);
    if (lower.startsWith(MEASURE)) return this.#measure(name.slice(MEASURE.length), name);
    return isPath(name) ? this.#path(name) : undefined;
  }

  /** `measure.m`, `measure.rel[c].m`: stands only for what an aggregate around it expands. */
  #measure(rest: string, written: string): Found {
    let node = this.root;
    let concept = this.named;
    let name = rest;
    let label = '';
    if (isPath(rest)) {
      const end = parsePath(concept, rest);
      if (end.kind !== 'column') throw badRequest('bad_path', `\`${written}\` names no measure`);
      for (const hop of end.hops) node = node.child({ kind: 'hop', hop });
      concept = end.hops.at(-1)?.columns ?? concept;
      name = end.name;
      label = `${end.hops.map((h) => h.label).join('.')}.`;
    }
    const found = concept.measures.find((m) => m.def.name.toLowerCase() === name.toLowerCase());
    if (!found) {
      const near = nearest(
        name,
        concept.measures.map((m) => m.def.name),
      );
      throw badRequest('unknown_measure', `unknown measure \`${name}\` of concept \`${concept.name}\`${didYouMean(near)}`);
    }
    const ref = column(this.alias, `${MEASURE}${rest}`) as { ColumnRef: ColumnRef };
    this.work.namesMeasures = true;
    setMeasure(ref.ColumnRef, { relation: this.#base, node, concept: concept.whole, def: found.def });
    const key = `${MEASURE}${label}${found.def.name}`;
    return { node: ref, column: { name: key, key } };
  }

  /**
   * A column as who asks may have it: a policy's condition reads true values, a logic concept's none that are masked for the caller.
   * @throws SvcError 403 `masked`
   */
  #asked(concept: Concept, wanted: Extract<Wanted, { kind: 'property' | 'entity_id' | 'entity_type' | 'entity_label' }>): Wanted {
    const { work } = this;
    if (!work.policies) return wanted;
    if (work.trusted) return { ...wanted, actual: true };
    const read =
      wanted.kind === 'property'
        ? [wanted.def]
        : wanted.kind === 'entity_type'
          ? []
          : [...(concept.key?.properties ?? []), ...(wanted.kind === 'entity_label' ? concept.label : [])];
    for (const def of read) this.#judge(concept, def);
    return wanted;
  }

  /** A condition of the model has the same value whatever concept its rows are read through. */
  #applies({ expression }: PropertyDef): { readonly reader?: Concept } {
    return expression !== null && this.#base !== this ? { reader: this.#reader } : {};
  }

  /** What a logic concept reads must not be masked for the caller. @throws SvcError 403 `masked` */
  #judge(concept: Concept, def: PropertyDef): void {
    const { work } = this;
    const judged = work.judged.at(-1);
    if (judged !== undefined && !work.trusted) refuseMasked(work, concept, def, judged);
  }

  #own(name: string, wanted: Wanted): Found {
    // a condition of a policy stands beside the columns that the caller wants: its own never take their names
    const internal = utf8Length(name) > MAX_NAME_BYTES || this.work.trusted ? undefined : name;
    const key = wantedKey(wanted);
    const known = this.root.columns.get(key);
    const columnName = known?.name ?? this.root.want(key, wanted, internal);
    const exposed = internal && !this.#exposed.has(internal) ? internal : this.exposeNode(this.root, columnName);
    this.#exposed.set(exposed, { node: this.root, alias: this.root.alias, column: columnName });
    return this.#made(this.root, this.root.alias, columnName, exposed, name);
  }

  #reference(node: PathNode, columnName: string, key: string, alias = node.alias): Found {
    return this.#made(node, alias, columnName, this.exposeNode(node, columnName, alias), key);
  }

  #made(node: PathNode, alias: string, columnName: string, exposed: string, key: string): Found {
    made(2);
    const ref = column(this.alias, exposed) as { ColumnRef: ColumnRef };
    setReference(ref.ColumnRef, { relation: this.#base, node, alias, column: columnName });
    return { node: ref, column: { name: exposed, key } };
  }

  #path(path: string): Found | undefined {
    const end = parsePath(this.named, path);
    let node = this.root;
    for (const hop of end.hops) node = node.child({ kind: 'hop', hop });
    const label = end.hops.map((h) => h.label).join('.');
    const last = end.hops.at(-1);
    if (!last) return undefined;
    if (end.kind === 'star') throw badRequest('bad_path', `the wildcard \`${path}\` can only stand in a select list`);
    if (end.kind === 'level') return this.#reference(node, 'level', `${label}_transitivity_level`);
    if (end.kind === 'link') return this.#link(node, end.name, label, path);
    return this.#farEnd(node, last.columns, last.derived, end.name, label, path);
  }

  #link(node: PathNode, name: string, label: string, path: string): Found {
    const links = node.step?.kind === 'hop' ? node.step.hop.relationship.links : [];
    const columns = links.flatMap((l) => l.mapping.columns.map((c) => c.name));
    const given = columns.find((c) => c.toLowerCase() === name.toLowerCase());
    if (!given) {
      const near = nearest(name, columns);
      throw badRequest('unknown_property', `the link of \`${path}\` has no column \`${name}\`${didYouMean(near)}`, {
        hint: columns.length ? undefined : 'only many-to-many relationships have link columns',
      });
    }
    const lower = given.toLowerCase();
    const def = this.work.graph.property(lower);
    const ends = node.step?.kind === 'hop' && def ? [node.step.hop.relationship.from, node.step.hop.relationship.target] : [];
    for (const end of ends) this.#judge(end, def as PropertyDef);
    const internal = node.linkColumns.get(lower) ?? `x${node.linkColumns.size}`;
    node.linkColumns.set(lower, internal);
    return this.#reference(node, internal, `${label}_${given}`, linkAlias(node));
  }

  #farEnd(node: PathNode, columns: Concept, derived: boolean, name: string, label: string, path: string): Found {
    const lower = name.toLowerCase();
    const asked = (wanted: Wanted): string => node.want(wantedKey(wanted), wanted);
    if (ENTITY.has(lower)) return this.#reference(node, asked(this.#asked(columns, { kind: lower as 'entity_id' })), `${label}.${lower}`);
    const property = propertyOf(columns, lower, derived);
    if (property) return this.#reference(node, asked(this.#asked(columns, propertyFor(columns, property))), `${label}.${property.name}`);
    const multi = multiOf(columns, lower);
    if (multi) this.#judge(columns, multi);
    if (multi) return this.#reference(node.child({ kind: 'multi', def: multi }), 'value', `${label}.${multi.name}`);
    const near = nearest(name, [...columnNames(columns, derived), ...columns.multi.map((m) => m.def.name)]);
    throw badRequest('unknown_property', `unknown property \`${name}\` of concept \`${columns.name}\` in the path \`${path}\`${didYouMean(near)}`);
  }

  /** The columns of a wildcard path `rel[c].*`, in the order of SELECT *. */
  wildcard(path: string): readonly Found[] {
    const end = parsePath(this.named, path);
    const last = end.hops.at(-1);
    if (end.kind !== 'star' || !last) return [];
    let node = this.root;
    for (const hop of end.hops) node = node.child({ kind: 'hop', hop });
    const label = end.hops.map((h) => h.label).join('.');
    return columnNames(last.columns, last.derived).map((name) => this.#farEnd(node, last.columns, last.derived, name, label, path));
  }

  /** `_type_of_c`: by the mapping alone for mapped and unmapped concepts, by the row's key for logic ones. */
  #typeOf(name: string): Found | undefined {
    const concept = this.named;
    const found = concept.graph.concept(name);
    if (!found) {
      const near = nearest(
        name,
        [...concept.descendants].map((c) => c.name),
      );
      throw badRequest('unknown_concept', `unknown concept \`${name}\` in \`${TYPE_OF}${name}\`${didYouMean(near && TYPE_OF + near)}`);
    }
    if (!found.isA(concept)) throw badRequest('unknown_property', `\`${found.name}\` is no descendant of \`${concept.name}\``);
    requireReadable(found);
    const asked = found.whole;
    const key = `${TYPE_OF}${asked.name}`;
    if (asked.rows.kind === 'mappings') {
      const mappings: ReadonlySet<MappingDef> = new Set(asked.rows.sources.map((s) => s.mapping));
      const columnName = this.root.want(`t:${asked.name}`, { kind: 'mapped_in', mappings });
      return this.#reference(this.root, columnName, key);
    }
    return this.#computed(key, this.#meets(asked));
  }

  /** A column that the relation's own sub-select computes over its nodes. */
  #computed(key: string, expression: Node): Found {
    const known = this.#expressions.get(key);
    const name = known ?? this.work.alias();
    if (!known) {
      const nodes = new Set<PathNode>();
      this.#inside(expression, nodes);
      this.#expressions.set(key, name);
      this.#exposed.set(name, { node: this.root, alias: this.root.alias, column: name, computed: { expression, nodes } });
    }
    return this.#made(this.root, this.root.alias, name, name, key);
  }

  /** Whether the row is one of a logic concept: of a mapping of its source, and meeting its condition. */
  #meets(asked: Concept): Node {
    const { rows } = asked;
    if (rows.kind === 'mappings') {
      const mappings: ReadonlySet<MappingDef> = new Set(rows.sources.map((s) => s.mapping));
      return this.#reference(this.root, this.root.want(`t:${asked.name}`, { kind: 'mapped_in', mappings }), '').node;
    }
    const lens = new ConceptRelation(this.work, rows.source, rows.schema, this.alias, rows.source, [], this.called, this.#base);
    const condition = resolveCondition(this.work, asked, rows.condition, lens);
    const branches: Branches = { relations: [this.#base], isBranch: (n) => !isPlainHop(n), inside: true };
    return coalesce(and([this.#meets(rows.source), asExists(condition, branches)]) as Node, boolean(false));
  }

  /** A column of a node's rows, for what the planner itself reads there. */
  columnAt(node: PathNode, wanted: Wanted): Node {
    return this.#reference(node, node.want(wantedKey(wanted), wanted), 'x').node;
  }

  star(): readonly Found[] {
    return this.#starNames().map((name, i) => {
      const found = this.#column(name) as Found;
      const renamed = this.#renamed[i];
      return renamed === undefined ? found : { node: found.node, column: { name: renamed, key: renamed } };
    });
  }

  #starNames(): readonly string[] {
    return columnNames(this.named, this.schema !== 'svc');
  }

  *names(): Iterable<string> {
    yield* this.#starNames();
    if (this.schema === 'dsvc') {
      yield* this.named.multi.map((m) => m.def.name);
      yield* this.named.relationships.map((r) => r.name);
      yield* this.named.measures.map((m) => `measure.${m.def.name}`);
    }
  }

  explain(name: string): SvcError | undefined {
    const lower = name.toLowerCase();
    const inDsvc =
      this.schema !== 'dsvc' && (isPath(name) || lower.startsWith('measure.') || lower.startsWith(TYPE_OF) || multiOf(this.named, lower) !== undefined);
    if (inDsvc) return this.#wrongSchema(name, 'dsvc');
    if (this.schema === 'svc' && propertyOf(this.named, lower, true)) return this.#wrongSchema(name, 'esvc');
    return undefined;
  }

  #wrongSchema(name: string, schema: Schema): SvcError {
    const product = this.work.context.product;
    const shown = (s: Schema): string => s.replace('svc', product);
    return badRequest('wrong_schema', `\`${name}\` stands in schema \`${shown(schema)}\`, not in \`${shown(this.schema)}\``, {
      hint: `read it from ${shown(schema)}.${this.concept.name}`,
    });
  }

  /** The FROM item: a sub-select that joins the given nodes and yields the exposed columns of them and of the root. */
  emit(asked: ReadonlySet<PathNode> = new Set([...this.root.all()].slice(1))): Node {
    return this.work.grows(
      () => `the relation \`${this.called}\` with its paths`,
      () => this.#emit(asked),
    );
  }

  #emit(asked: ReadonlySet<PathNode>): Node {
    const { root } = this;
    const logic = asked.size > 0 ? this.#logic() : undefined;
    const computed = [...this.#exposed.values()].flatMap((e) => (e.computed ? [...e.computed.nodes] : []));
    const barred = new Set<PathNode>();
    const barriers = this.#barriers.map((b) => this.#inside(cloneResolved(b), barred));
    const nodes = new Set([...asked, ...computed, ...(logic?.nodes ?? []), ...barred]);
    const makers = prepareJoins(root, nodes);
    const shown = [...this.#exposed].filter(([, e]) => e.node === root || nodes.has(e.node));
    const source = (): ReturnType<typeof nodeSource> => {
      const wanted = new Map([...root.columns.values()].map((c) => [c.name, c.wanted] as const));
      return this.#rows ? this.#rows(wanted) : conceptSource(this.work, logic?.source ?? this.concept, wanted, this.#reader, root.filter);
    };
    if (makers.size === 0 && barriers.length === 0 && shown.every(([name, e]) => !e.computed && name === e.column)) return subselect(source(), this.alias);
    let from: Node = subselect(source(), root.alias);
    for (const [node, make] of makers) {
      const { item, condition } = make((name) => column((node.parent as PathNode).alias, name));
      from = join('JOIN_LEFT', from, item, condition);
    }
    const value = (e: Exposed): Node => (e.computed ? cloneResolved(e.computed.expression) : column(e.alias, e.column));
    const where = and([...(logic?.conditions ?? []), ...barriers]);
    const isBarred = logic?.sources.map((c) => this.work.bars(c)).includes(true) || barriers.length > 0;
    const fence = isBarred && this.work.fenced ? FENCE : {};
    return subselect(
      select({ targetList: shown.map(([name, e]) => target(value(e), name)), fromClause: [from], ...(where ? { whereClause: where } : {}), ...fence }),
      this.alias,
    );
  }

  /** A logic concept read with paths: its condition over the same joins, so that what both walk is joined once. */
  #logic(): { source: Concept; sources: Concept[]; conditions: Node[]; nodes: Set<PathNode> } | undefined {
    let { rows } = this.concept;
    if (rows.kind !== 'logic') return undefined;
    const conditions: Node[] = [];
    const sources: Concept[] = [];
    const nodes = new Set<PathNode>();
    let source: Concept = this.concept;
    while (rows.kind === 'logic') {
      const lens: ConceptRelation = new ConceptRelation(this.work, rows.source, rows.schema, this.alias, rows.source, [], this.called, this.#base);
      const condition = resolveCondition(this.work, source, rows.condition, lens);
      conditions.push(this.#inside(asExists(condition, { relations: [this.#base], isBranch: (n) => !isPlainHop(n), inside: true }), nodes));
      source = rows.source;
      sources.push(source);
      rows = rows.source.rows;
    }
    return { source, sources, conditions, nodes };
  }

  /** Turns references to the relation into those of its own nodes (in place); adds the nodes to `nodes`. */
  #inside(expression: Node, nodes: Set<PathNode>): Node {
    walk(expression, (n) => {
      const ref = 'ColumnRef' in n ? referenceOf(n.ColumnRef) : undefined;
      // a sub-query in the expression may read relations of its own
      if (!ref || ref.relation !== this.#base || !('ColumnRef' in n)) return undefined;
      n.ColumnRef.fields = [string(ref.alias), string(ref.column)];
      forget(n.ColumnRef);
      for (let at: PathNode | null = ref.node; at?.parent; at = at.parent) nodes.add(at);
      return undefined;
    });
    return expression;
  }
}

/** One key a kind of column. */
function wantedKey(wanted: Wanted): string {
  if (wanted.kind === 'property')
    return `${propertyKey(wanted.def, wanted.actual)}${wanted.reader ? `[${wanted.reader.name}]` : ''}${wanted.seen ? ' seen' : ''}`;
  if (wanted.kind === 'raw') return `r:${wanted.def.name}${wanted.seen ? ' seen' : ''}`;
  if (wanted.kind === 'mapped_in') return `t:${[...wanted.mappings].map((m) => m.name).join('|')}`;
  return wanted.kind !== 'mapping' && wanted.actual ? `a:${wanted.kind}` : wanted.kind;
}

const LOOKUPS = new WeakMap<Concept, { own: Map<string, PropertyDef>; derived: Map<string, PropertyDef> }>();

/** A single-valued property of a concept by its lower-case name; with `derived` also one that only descendants have. */
export function propertyOf(concept: Concept, lower: string, derived: boolean): PropertyDef | undefined {
  let found = LOOKUPS.get(concept);
  if (!found) {
    found = {
      own: new Map(concept.properties.map((p) => [p.def.name.toLowerCase(), p.def])),
      derived: new Map(concept.derivedProperties.map((p) => [p.def.name.toLowerCase(), p.def])),
    };
    LOOKUPS.set(concept, found);
  }
  return found.own.get(lower) ?? (derived ? found.derived.get(lower) : undefined);
}

const multiOf = (concept: Concept, lower: string): PropertyDef | undefined => concept.multi.find((m) => m.def.name.toLowerCase() === lower)?.def;

/** The names that SELECT * gives. */
const columnNames = (concept: Concept, derived: boolean): string[] => [
  'entity_id',
  'entity_type',
  'entity_label',
  ...concept.properties.map((p) => p.def.name),
  ...(derived ? concept.derivedProperties.map((p) => p.def.name) : []),
];
