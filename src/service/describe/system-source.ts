/** What system tables are made from: the model as the caller sees it, and what the catalog adds to it. */
import type { Caller } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import { type Budget, made, RELATIONSHIPS_OF_A_NODE, STEPS_OF_A_LINK, stepsOfPrinting, visited } from '../../budget.ts';
import type { AccessLists } from '../../catalog/access.ts';
import type { ChangeLine } from '../../catalog/audit.ts';
import { NO_COUNTS, type RowCounts } from '../../catalog/counts.ts';
import type { HistoryLine } from '../../catalog/history.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import type { MeasuredKind, Statistics, StoredStatistics } from '../../catalog/statistics.ts';
import { SvcError } from '../../errors.ts';
import { createSqlReader } from '../../language/expressions.ts';
import type { SqlParser } from '../../language/parser.ts';
import { quoteBack } from '../../language/quote.ts';
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import { isRaw, type MappingDef, type ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { checkModel } from '../../planner/check.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import type { SeenAgent } from '../caller/agents.ts';
import { type Printed, Texts } from '../caller/texts.ts';
import type { Benchmark } from './benchmarks.ts';
import type { CacheLine } from './caches.ts';
import type { VisibleExample } from './examples.ts';
import type { JobLine } from './jobs.ts';
import { ViewMappings } from './view-mappings.ts';

/** The source of the rows. If `ontology` is undefined, the request names none, and only tables of the whole service have rows. */
export interface SystemContext {
  readonly caller: Caller;
  readonly parser: SqlParser;
  /** The budget of all answers about models in the request; undefined: only the limits of a single answer apply. */
  readonly answers?: Budget | undefined;
  readonly product: string;
  /** The model as the caller sees it. */
  readonly graph: Graph;
  readonly ontology: OntologyRow | undefined;
  /** The version of `graph`; null: a draft. */
  readonly version: string | null;
  /** True if row policies apply to the caller, who must then not see row counts. */
  readonly hidesRows: boolean;
  /** True if masks apply to the caller, who must then not see row counts of views, which may filter by masked values. */
  readonly hidesValues: boolean;
  /** Names of the properties that a mask hides from the caller, in the form in which names are compared. */
  readonly masked?: ReadonlySet<string> | undefined;
  /** The users, roles and grants that the caller sees; undefined: not loaded, so their tables are empty. */
  readonly access?: AccessLists | undefined;
  /** Row counts of the version; undefined: not loaded, so they are null. */
  readonly counts?: RowCounts | undefined;
  /** Statistics of the values of the version; undefined: not loaded, so their table is empty. */
  readonly statistics?: Statistics | undefined;
  /** The agents that the caller sees, with filtered options; undefined: not loaded. */
  readonly agents?: readonly SeenAgent[] | undefined;
  /** The examples that the caller sees; undefined: not loaded. */
  readonly examples?: readonly VisibleExample[] | undefined;
  /** The benchmarks of the agents that the caller sees; undefined: not loaded. */
  readonly benchmarks?: readonly Benchmark[] | undefined;
  /** The changes of models and rights that the caller sees; undefined: not loaded. */
  readonly changes?: readonly ChangeLine[] | undefined;
  /** The cached mappings that the caller sees; undefined: not loaded. */
  readonly caches?: readonly CacheLine[] | undefined;
  /** The jobs that the caller sees; undefined: not loaded. */
  readonly jobs?: readonly JobLine[] | undefined;
  /** The questions that the caller sees; undefined: not loaded. */
  readonly history?: readonly HistoryLine[] | undefined;
}

export const joined = (names: readonly string[]): string => names.join(', ');
export const orNull = (text: string): string | null => (text === '' ? null : text);

/** The visible parts of a model; created once per query. */
export class Source {
  readonly context: SystemContext;
  readonly graph: Graph;
  readonly concepts: readonly Concept[];
  readonly texts: Texts;
  #tables = new Map<string, string | null>();
  #viewMappings: ViewMappings | undefined;
  readonly #viewTexts = new Map<ViewDef, string | null>();
  /** All concepts that inherit a relationship have the same one. */
  readonly #links = new Map<Relationship, readonly [tables: string | null, datasources: string | null]>();
  #linked: ReadonlyMap<string, Relationship> | undefined;

  constructor(context: SystemContext) {
    this.context = context;
    this.graph = context.graph;
    this.concepts = context.graph.concepts;
    this.texts = new Texts(context.parser, context.product, context.caller.principal, context.graph, allowedFunctionsOf(context.ontology));
  }

  get #counts(): RowCounts {
    return this.context.hidesRows ? NO_COUNTS : (this.context.counts ?? NO_COUNTS);
  }

  /** The row count of a mapping, for callers who may read all of its rows. */
  rowsOfMapping(mapping: MappingDef): number | null {
    return this.readsRowsOf(mapping) ? this.#counts('mapping', mapping.name) : null;
  }

  /**
   * True if the caller may query the mapped concepts, and all rows of the mapping. Links and values of multi-valued properties may belong to rows that other mappings leave out, or to no
   * row: only who may query the datasource may read these.
   */
  readsRowsOf({ concept, property, link, datasource }: MappingDef): boolean {
    const into = link === null ? [concept ?? ''] : [link.forward.concept, link.back.concept];
    if (!into.every((c) => this.graph.concept(c)?.readable === true)) return false;
    return (link === null && property === null) || can(this.context.caller.principal, 'query', ['datasource', datasource]);
  }

  /** The row count of a view, for callers who may query it and get all of its rows. */
  rowsOfView(view: ViewDef): number | null {
    return this.graph.reads(view) && !this.context.hidesValues ? this.#counts('view', view.name) : null;
  }

  /** The statistics of a column of a mapping or view; undefined if the caller may not read all of its values, or if they were not counted. */
  statisticsOf(kind: MeasuredKind, name: string, property: string): StoredStatistics | undefined {
    if (this.context.hidesRows || this.context.masked?.has(fold(property))) return undefined;
    return this.context.statistics?.(kind, name, property);
  }

  /** True if the caller may read the view, and everything that the view reads, with its own rights: what was counted with the rights of others is not shown. */
  readsThrough(view: ViewDef): boolean {
    const { graph, context } = this;
    if (context.hidesValues || !graph.reads(view)) return false;
    if (isRaw(view)) return can(context.caller.principal, 'query', ['datasource', view.datasource ?? '']);
    if (graph === graph.whole) return true;
    try {
      const options = { graph, product: context.product, allowedFunctions: allowedFunctionsOf(context.ontology) };
      checkModel(graph.whole, context.parser, [{ kind: 'view', name: view.name, offset: 0 }], options);
      return true;
    } catch (error) {
      if (error instanceof SvcError) return false;
      throw error;
    }
  }

  /** The text of a view over concepts; null if the caller may not see what it reads. */
  textOfView(view: ViewDef): string | null {
    let text = this.#viewTexts.get(view);
    if (text === undefined) {
      text = this.texts.view(view);
      this.#viewTexts.set(view, text);
    }
    return text;
  }

  /** The tables that a view reads, through concepts if it has no tables of its own; null if the caller may not see them. */
  tablesOfView(view: ViewDef): string | null {
    if (isRaw(view)) return this.tablesOf(view.sql, view.datasource ?? '');
    if (this.textOfView(view) === null) return null;
    this.#viewMappings ??= new ViewMappings(this.graph, createSqlReader(this.context.parser, 'svc'));
    return this.tablesOfAll(this.#viewMappings.of(view));
  }

  /** The rows of a logic concept as a SELECT; null for other concepts, and if the caller may not see the condition or what it reads from. */
  logicQuery(concept: Concept): string | null {
    const condition = this.texts.condition(concept);
    const logic = concept.def?.logic;
    if (condition === null || !logic || this.graph.concept(logic.concept) === undefined) return null;
    return `SELECT * FROM ${logic.schema.replace('svc', this.context.product)}.${quoteBack(logic.concept)} WHERE ${condition}`;
  }

  readonly print: Printed = (sql, kind) => this.texts.print(sql, kind);

  /** The tables that a SELECT reads; null if the caller may not see them. */
  tablesOf(sql: string, datasource: string): string | null {
    if (!this.texts.showsTables(datasource)) return null;
    let tables = this.#tables.get(sql);
    if (tables === undefined) {
      visited(stepsOfPrinting(sql.length));
      const relations = createSqlReader(this.context.parser, this.context.product).relationsOf({ text: sql, offset: 0 });
      tables = orNull(joined([...new Set(relations.map((r) => `${r.schema ?? 'public'}.${r.name}`))]));
      this.#tables.set(sql, tables);
    }
    return tables;
  }

  /** The tables and datasources of the visible link mappings of a relationship. */
  linksOf(relationship: Relationship): readonly [tables: string | null, datasources: string | null] {
    let found = this.#links.get(relationship);
    if (found === undefined) {
      visited(STEPS_OF_A_LINK * relationship.links.length);
      const mappings = relationship.links.map((l) => l.mapping).filter((m) => this.graph.mapping(m.name) !== undefined);
      found = [this.tablesOfAll(mappings), this.datasourcesOf(mappings)];
      this.#links.set(relationship, found);
    }
    return found;
  }

  /** The relationships of a concept, in the order of SYS_CONCEPT_RELATIONSHIPS. */
  relationshipsOf({ relationships }: Concept): readonly Relationship[] {
    made(relationships.length / RELATIONSHIPS_OF_A_NODE);
    return relationships;
  }

  /** The first relationship with a link mapping, by the name of the mapping. */
  relationshipOf(mapping: MappingDef): Relationship | undefined {
    this.#linked ??= this.#findLinked();
    return this.#linked.get(fold(mapping.name));
  }

  #findLinked(): ReadonlyMap<string, Relationship> {
    const linked = new Map<string, Relationship>();
    const seen = new Set<Relationship>();
    for (const c of this.concepts) {
      for (const r of this.relationshipsOf(c)) {
        if (seen.has(r)) continue;
        seen.add(r);
        visited(STEPS_OF_A_LINK * r.links.length);
        for (const { mapping } of r.links) if (!linked.has(fold(mapping.name))) linked.set(fold(mapping.name), r);
      }
    }
    return linked;
  }

  tablesOfAll(mappings: readonly MappingDef[]): string | null {
    return orNull(joined([...new Set(mappings.map((m) => this.tablesOf(m.sql, m.datasource)).filter((t) => t !== null))]));
  }

  datasourcesOf(mappings: readonly MappingDef[]): string | null {
    return orNull(joined([...new Set(mappings.map((m) => m.datasource))]));
  }
}
