/** A concept in FROM, and the look-up of its columns by name. */
import { made } from '../../budget.ts';
import { badRequest, didYouMean, nearest, type SvcError } from '../../errors.ts';
import { utf8Length } from '../../language/split.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { MappingDef, PropertyDef } from '../../ontology/model.ts';
import { columnNames, ENTITY, multiOf, propertyOf, wantedKey } from '../plan/concept-columns.ts';
import { ExposedColumns, type Instance } from '../plan/exposed.ts';
import { PathNode } from '../plan/path-node.ts';
import { clone, type Node, type SelectStmt } from '../plan/tree.ts';
import { has, type Wanted, type WantedColumns } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { propertyFor } from '../secure/shown.ts';
import { logicCondition } from './condition.ts';
import { kept } from './meaning.ts';
import { isPath } from './path.ts';
import { MEASURE, measureColumn, pathColumn, wildcardColumns } from './path-columns.ts';
import { requireReadable } from './readable.ts';
import { asAddress, type ConceptInFrom, type Found, type Schema } from './relations.ts';
import { hintFor } from './suggest.ts';
import { requireUnmasked, valueFor } from './unmasked.ts';

export type { Schema } from './relations.ts';

const TYPE_OF = '_type_of_';
const MAX_NAME_BYTES = 63;
/** A column that may be compared with 0 and 1. */
const flag = ({ node, column }: Found): Found => ({ node, column: { ...column, isFlag: true } });

/** A use of a concept. */
export interface ConceptUse {
  /** The concept in the model as the writer of the text sees it. Names are looked up here. */
  readonly concept: Concept;
  readonly schema: Schema;
  /** The alias in SQL. */
  readonly alias: string;
  /** The alias in the text; default: `alias`. */
  readonly called?: string;
  /** The column list of the alias. */
  readonly renamed?: readonly string[];
  /** The concept whose calculated properties apply to the rows; default: `concept`. */
  readonly reader?: Concept;
  /** Makes the SQL of the rows, if they are not all rows of the concept. */
  readonly rows?: (wanted: WantedColumns) => SelectStmt;
  /** The block that the columns belong to; default: the relation itself. */
  readonly owner?: object;
}

/** A concept in FROM. */
export class ConceptRelation implements ConceptInFrom {
  readonly state: PlanState;
  /** The concept in the whole model. */
  readonly concept: Concept;
  /** The same concept in the model as the writer of the text sees it. Names are looked up here. */
  readonly named: Concept;
  readonly schema: Schema;
  readonly alias: string;
  readonly called: string;
  readonly root: PathNode;
  /** The columns of the concept's sub-select. */
  readonly exposed: ExposedColumns;
  readonly reader: Concept;
  readonly rows: ConceptUse['rows'];
  /** The block that the columns belong to. */
  readonly owner: object;
  /** Conditions that are evaluated below a barrier, in a statement with barriers. */
  readonly barriers: Node[] = [];
  /** The names of computed columns, by their keys. */
  readonly #expressions = new Map<string, string>();
  /** The relation in FROM: this one, or the one whose rows this one reads as another concept. */
  readonly base: ConceptRelation;
  readonly #renamed: readonly string[];

  /** @param base the relation whose rows are read as another concept */
  constructor(state: PlanState, { concept, schema, alias, called = alias, renamed = [], reader = concept, rows, owner }: ConceptUse, base?: ConceptRelation) {
    this.state = state;
    this.named = concept;
    this.concept = concept.whole;
    this.schema = schema;
    this.alias = alias;
    this.called = called;
    this.reader = reader.whole;
    this.rows = rows;
    this.#renamed = renamed;
    this.base = base ?? this;
    this.owner = base?.owner ?? owner ?? this;
    this.exposed = base?.exposed ?? new ExposedColumns(state);
    this.root = base?.root ?? new PathNode(state, null, null, this.concept);
  }

  /** The same rows as rows of another concept. */
  as(concept: Concept, schema: Schema): ConceptRelation {
    return new ConceptRelation(this.state, { concept, schema, alias: this.alias, called: this.called }, this.base);
  }

  /** True if the concept is read from a schema. The name may be the neutral one or the product's. */
  isIn(schema: string): boolean {
    const lower = schema.toLowerCase();
    return lower === this.schema || lower === this.schema.replace('svc', this.state.context.product);
  }

  /**
   * Adds a condition that PostgreSQL must evaluate before the expressions that read the relation. It may refer only to this relation and to its to-one paths.
   */
  barrier(condition: Node): void {
    this.barriers.push(clone(condition));
  }

  /** Adds a column of the concept's rows to the sub-select, with a name. */
  expose(name: string, wanted: Wanted): void {
    const key = wantedKey(this.state, wanted);
    const known = this.root.columns.get(key);
    this.exposed.set(name, { node: this.root, alias: this.root.alias, column: known ? known.name : this.root.want(key, wanted, name) });
  }

  /** The name of a node's column in the sub-select. */
  exposeNode(node: PathNode, columnName: string, alias = node.alias): string {
    return this.exposed.nameOf(node, columnName, alias);
  }

  find(written: string): Found | undefined {
    const name = this.#original(written);
    if (name === undefined) return undefined;
    const found = this.#column(name);
    if (!found) return undefined;
    return name === written ? found : { node: found.node, column: { name: written, key: written, ...kept(found.column) } };
  }

  /** The original name of a column that the alias may rename: `FROM svc.city AS c(a, b)`. */
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
    if (ENTITY.has(lower)) return this.#own(lower, valueFor(this.state, this.concept, { kind: lower as 'entity_id' }));
    const property = propertyOf(this.named, lower, this.schema !== 'svc');
    if (property) {
      const wanted = valueFor(this.state, this.concept, { ...propertyFor(this.named, property), ...this.#applies(property) });
      return asAddress(this.concept, property, this.#own(property.name, wanted));
    }
    if (this.schema !== 'dsvc') return undefined;
    if (lower.startsWith(TYPE_OF)) return flag(this.#typeOf(name.slice(TYPE_OF.length)));
    const multi = multiOf(this.named, lower);
    if (multi) requireUnmasked(this.state, this.concept, multi);
    if (multi) return this.reference(this.root.child({ kind: 'multi', def: multi }), 'value', multi.name);
    if (lower.startsWith(MEASURE)) return measureColumn(this, name);
    return isPath(name) ? pathColumn(this, name) : undefined;
  }

  /** A property in a condition of the model has the same value for every concept through which its rows are read. */
  #applies(def: PropertyDef): { readonly reader?: Concept } {
    if (this.base === this) return {};
    return def.expression !== null || (has(this.base.reader, def) && !has(this.reader, def)) ? { reader: this.reader } : {};
  }

  #own(name: string, wanted: Wanted): Found {
    // columns for the condition of a policy must not take the names of the caller's columns
    const internal = utf8Length(name) > MAX_NAME_BYTES || this.state.position.isTrusted ? undefined : name;
    const key = wantedKey(this.state, wanted);
    const known = this.root.columns.get(key);
    const columnName = known?.name ?? this.root.want(key, wanted, internal);
    const exposed = internal && !this.exposed.has(internal) ? internal : this.exposeNode(this.root, columnName);
    this.exposed.set(exposed, { node: this.root, alias: this.root.alias, column: columnName });
    return this.#made(this.root, this.root.alias, columnName, exposed, name);
  }

  /** A reference to a column of a node. @param key the key of the column in the result */
  reference(node: PathNode, columnName: string, key: string, alias = node.alias): Found {
    return this.#made(node, alias, columnName, this.exposeNode(node, columnName, alias), key);
  }

  #made(node: PathNode, alias: string, columnName: string, exposed: string, key: string): Found {
    made(2);
    return { node: this.state.references.toNode(this.base, node, alias, columnName), column: { name: exposed, key } };
  }

  wildcard(path: string): readonly Found[] {
    return wildcardColumns(this, path);
  }

  /** `_type_of_c`: decided by the mapping of a row; for logic concepts also by their conditions. */
  #typeOf(name: string): Found {
    const concept = this.named;
    const found = concept.graph.concept(name);
    if (!found) {
      const near = nearest(
        name,
        [...concept.descendants].map((c) => c.name),
      );
      throw badRequest('unknown_concept', `unknown concept \`${name}\` in \`${TYPE_OF}${name}\`${didYouMean(near && TYPE_OF + near)}`);
    }
    if (!found.isA(concept)) throw badRequest('unknown_property', `\`${found.name}\` is not a descendant of \`${concept.name}\``);
    requireReadable(found);
    const whole = found.whole;
    const key = `${TYPE_OF}${whole.name}`;
    if (whole.rows.kind === 'mappings') {
      const mappings: ReadonlySet<MappingDef> = new Set(whole.rows.sources.map((s) => s.mapping));
      const columnName = this.root.want(`t:${whole.name}`, { kind: 'mapped_in', mappings });
      return this.reference(this.root, columnName, key);
    }
    return this.#computed(key, this.#instanceOf(whole));
  }

  #instanceOf(concept: Concept): Instance {
    const { rows } = concept;
    if (rows.kind === 'mappings') {
      const mappings: ReadonlySet<MappingDef> = new Set(rows.sources.map((s) => s.mapping));
      // Concepts with the same name may have different parts of its rows, so the key is the mappings.
      return { mapped: this.columnAt(this.root, { kind: 'mapped_in', mappings }), conditions: [] };
    }
    const source = this.#instanceOf(rows.source);
    const condition = logicCondition(this.state, rows, this);
    return { mapped: source.mapped, conditions: [...source.conditions, condition] };
  }

  /** A column that the sub-select computes over its nodes. */
  #computed(key: string, computed: Instance): Found {
    const name = this.#expressions.get(key) ?? this.state.alias();
    this.#expressions.set(key, name);
    if (!this.exposed.has(name)) this.exposed.set(name, { node: this.root, alias: this.root.alias, column: name, computed, called: key });
    return this.#made(this.root, this.root.alias, name, name, key);
  }

  /** A column of a node, for the planner's own use. */
  columnAt(node: PathNode, wanted: Wanted, key = wantedKey(this.state, wanted)): Node {
    return this.reference(node, node.want(key, wanted), 'x').node;
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
      yield* this.named.measures.map((m) => `${MEASURE}${m.def.name}`);
    }
  }

  explain(name: string): SvcError | undefined {
    const lower = name.toLowerCase();
    const inDsvc =
      this.schema !== 'dsvc' && (isPath(name) || lower.startsWith(MEASURE) || lower.startsWith(TYPE_OF) || multiOf(this.named, lower) !== undefined);
    if (inDsvc) return this.#wrongSchema(name, 'dsvc');
    if (this.schema === 'svc' && propertyOf(this.named, lower, true)) return this.#wrongSchema(name, 'esvc');
    return undefined;
  }

  hint(name: string, isMisspelt = false): string | undefined {
    const where = this.schema === 'dsvc' ? '' : ` and read it from d${this.state.context.product}.${this.concept.name}`;
    return hintFor(this.named, name, where, isMisspelt);
  }

  #wrongSchema(name: string, schema: Schema): SvcError {
    const product = this.state.context.product;
    const shown = (s: Schema): string => s.replace('svc', product);
    return badRequest('wrong_schema', `\`${name}\` is in schema \`${shown(schema)}\`, not in \`${shown(this.schema)}\``, {
      hint: `read it from ${shown(schema)}.${this.concept.name}`,
    });
  }
}
