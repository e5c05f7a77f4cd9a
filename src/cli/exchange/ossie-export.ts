/** An ontology as Ossie's core document: datasets, relationships and metrics (docs/exchange.md#ossie). */
import { printMapping, printMeasure, printProperty, printView } from '../../language/print.ts';
import { quoteDouble } from '../../language/quote.ts';
import type { SqlReader } from '../../ontology/apply.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { MappingDef, MeasureDef, PropertyDef, RelationshipDef } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { Failure } from '../failure.ts';
import { hasPath, identifier, toDotted, unionOf } from './expressions.ts';
import { conceptExtension, isDataset } from './ossie-ontology.ts';
import type { CoreDocument, CoreRelationship, Dataset, DatasetExtension, Extension, Field, Metric, ModelExtension, SemanticModel } from './ossie-types.ts';
import { OLD_VENDOR, OSSIE_OLD_VERSION, OSSIE_VERSION } from './ossie-types.ts';
import { ansi, exactType, extension, extensionOf, ossieType, ownType, sqlType, tagsAsContext } from './ossie-values.ts';
import { titleOf } from './script-model.ts';

/** What is exported. */
export interface Source {
  readonly name: string;
  readonly graph: Graph;
  /** Policies and examples. */
  readonly others: readonly string[];
  readonly reader: SqlReader;
}

/** Gives each name once: a name that is taken gets the prefix, then a number. */
export class UniqueNames {
  readonly #taken = new Set<string>();

  take(name: string, prefix: string): string {
    const free = [name, `${prefix}_${name}`].find((n) => !this.#taken.has(fold(n)));
    let found = free ?? '';
    for (let i = 2; found === ''; i++) if (!this.#taken.has(fold(`${prefix}_${name}_${i}`))) found = `${prefix}_${name}_${i}`;
    this.#taken.add(fold(found));
    return found;
  }
}

/** Writes the core document. */
export class CoreExport {
  readonly #source: Source;
  readonly #losses: string[] = [];
  readonly #names = new UniqueNames();
  readonly #statements: string[] = [];
  readonly #fields = new Set<string>();
  /** Properties that the dataset of a concept that lists them has. */
  readonly #owned = new Set<string>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** What the document does not say in a form that other tools read. */
  get losses(): readonly string[] {
    return this.#losses;
  }

  /** @throws Failure if no concept has a mapping, since a document needs a dataset */
  document(): CoreDocument {
    const { name, graph, others } = this.#source;
    const datasets = graph.concepts.filter(isDataset).map((c) => this.#dataset(c));
    if (datasets.length === 0) throw new Failure(`${name} has no concept with a mapping, and an Ossie document needs at least one dataset`);
    const sideMappings = ['multi', 'link'].flatMap((kind) => graph.model.mappings.filter((m) => m.kind === kind && this.#isSide(m)));
    const sides = sideMappings.map((m) => this.#side(m));
    const relationships = [...graph.concepts.flatMap((c) => this.#relationships(c)), ...sideMappings.flatMap((m) => this.#sideRelationships(m))];
    const metrics = graph.model.measures.flatMap((m) => this.#metric(m));
    this.#rest();
    this.#concepts();
    const { config } = graph.model;
    const concepts = Object.fromEntries(
      graph.concepts
        .filter((c) => !isDataset(c))
        .flatMap((c) => {
          const extras = conceptExtension(c, this.#source);
          return Object.keys(extras).length === 0 ? [] : [[c.name, extras]];
        }),
    );
    const extras: ModelExtension = {
      ...(Object.keys(config).length === 0 ? {} : { config }),
      ...(this.#statements.length + others.length === 0 ? {} : { statements: [...this.#statements.sort(), ...others] }),
      ...(Object.keys(concepts).length === 0 ? {} : { concepts }),
    };
    const model: SemanticModel = {
      name,
      ...(graph.model.description === null ? {} : { description: graph.model.description }),
      datasets: [...datasets, ...sides],
      ...(relationships.length === 0 ? {} : { relationships }),
      ...(metrics.length === 0 ? {} : { metrics }),
      ...extension(extras),
    };
    return { version: OSSIE_VERSION, semantic_model: [model] };
  }

  #dataset(c: Concept): Dataset {
    const sources = c.rows.kind === 'mappings' ? c.rows.sources : [];
    const mappings = sources.map((s) => s.mapping);
    const stored = c.properties.map((p) => p.def).filter((p) => p.expression === null && mappings.some((m) => columnOf(m, p) !== undefined));
    const [first, ...more] = mappings;
    const column = (m: MappingDef, p: PropertyDef): string => {
      const found = columnOf(m, p);
      if (found === undefined) return `CAST(NULL AS ${sqlType(p.type)}) AS ${quoteDouble(p.name)}`;
      return found === p.name ? quoteDouble(p.name) : `${quoteDouble(found)} AS ${quoteDouble(p.name)}`;
    };
    if (first === undefined) throw new Error(`${c.name} has no mapping`);
    const isUnion = more.length > 0;
    const { context, tags } = tagsAsContext(c.def?.tags ?? {});
    const datasources = Object.fromEntries(c.mappings.filter((m) => m.datasource !== 'main').map((m) => [m.name, m.datasource]));
    const extras: DatasetExtension = {
      ...conceptExtension(c, this.#source),
      ...tags,
      own: c.mappings.map((m) => m.name),
      ...(Object.keys(datasources).length === 0 ? {} : { datasources }),
    };
    return {
      name: this.#names.take(c.name, 'dataset'),
      source: isUnion ? unionOf(mappings.map((m) => ({ name: m.name, sql: m.sql, columns: stored.map((p) => column(m, p)) }))) : first.sql,
      ...(c.key === null ? {} : { primary_key: c.key.properties.map((p) => p.name) }),
      ...(c.def?.description == null ? {} : { description: c.def.description }),
      ...context,
      fields: c.properties.flatMap(({ def }) => this.#field(c, def, stored.includes(def) ? (isUnion ? def.name : (columnOf(first, def) ?? def.name)) : null)),
      ...extension(extras),
    };
  }

  /** @param column the column of the source, or null for a property without a column */
  #field(c: Concept, p: PropertyDef, column: string | null): Field[] {
    let expression = column === null ? undefined : identifier(column);
    if (p.expression !== null) {
      // brackets mark a calculated property whose expression is only another property: otherwise it would be read as a column
      const text = this.#isField(c, p) ? toDotted(p.expression, c, this.#source.reader, []) : undefined;
      expression = text === undefined ? undefined : /^("[^"]*"|\w+)$/.test(text) ? `(${text})` : text;
    }
    if (expression === undefined) return [];
    this.#fields.add(fold(p.name));
    if (c.def?.properties.some((name) => sameName(name, p.name))) this.#owned.add(fold(p.name));
    const { context, tags } = tagsAsContext(p.tags);
    return [
      {
        name: p.name,
        expression: ansi(expression),
        datatype: ossieType(p.type),
        ...(p.description === null ? {} : { description: p.description }),
        ...context,
        ...extension({ ...exactType(p.type), ...tags }),
      },
    ];
  }

  /** Whether a mapping of links or values can be a dataset: what its keys refer to must be one. */
  #isSide(m: MappingDef): boolean {
    const concepts = m.link === null ? [m.concept ?? ''] : [m.link.forward.concept, m.link.back.concept];
    const without = concepts.map((name) => this.#source.graph.concept(name)).find((c) => c === undefined || !isDataset(c));
    if (without === undefined) return true;
    this.#losses.push(`mapping ${m.name}: only in custom_extensions, because ${without.name} has no dataset`);
    this.#statements.push(printMapping(m));
    return false;
  }

  /** Whether a property has a column, or is calculated from properties that have. */
  #isField(c: Concept, p: PropertyDef): boolean {
    const mappings = c.rows.kind === 'mappings' ? c.rows.sources.map((s) => s.mapping) : [];
    if (p.expression === null) return mappings.some((m) => columnOf(m, p) !== undefined);
    return this.#source.reader.referencesOf({ text: p.expression, offset: 0 }, 'expression').every((r) => {
      const read = c.properties.find((q) => sameName(q.def.name, r.name))?.def;
      return read !== undefined && !r.nested && this.#isField(c, read);
    });
  }

  /** The dataset of a mapping of links, or of a property with several values. */
  #side(m: MappingDef): Dataset {
    const { graph } = this.#source;
    const datasource = m.datasource === 'main' ? {} : { datasource: m.datasource };
    const typed = new Map<string, PropertyDef>();
    for (const end of m.link === null ? [] : [m.link.forward, m.link.back])
      end.columns.forEach((column, i) => {
        const property = graph.property(end.references[i] ?? '');
        if (property) typed.set(fold(column), property);
      });
    if (m.link === null)
      for (const p of [...(graph.concept(m.concept ?? '')?.key?.properties ?? []), graph.property(m.property ?? '')]) if (p) typed.set(fold(p.name), p);
    if (m.property !== null) this.#owned.add(fold(m.property));
    const forward = m.link && linkOf(graph, m);
    const extras: DatasetExtension =
      m.link === null
        ? { multivalue: { concept: m.concept ?? '', property: m.property ?? '' }, ...datasource }
        : { ...(forward ? { link: forward } : {}), ...datasource };
    const columns = m.columns.length === 0 ? [...typed.keys()].map((name) => ({ name })) : m.columns;
    return {
      name: this.#names.take(m.name, 'mapping'),
      source: m.sql,
      fields: columns.map(({ name }) => {
        const p = typed.get(fold(name));
        const { context, tags } = tagsAsContext(m.link === null && p !== undefined ? p.tags : {});
        return {
          name,
          expression: ansi(identifier(name)),
          ...(p === undefined ? {} : { datatype: ossieType(p.type) }),
          ...(m.link === null && p !== undefined && p.description !== null ? { description: p.description } : {}),
          ...context,
          ...(p === undefined ? {} : extension({ ...exactType(p.type), ...tags })),
        };
      }),
      ...extension(extras),
    };
  }

  #relationships(c: Concept): CoreRelationship[] {
    return (c.def?.relationships ?? []).flatMap((r) => {
      const target = this.#source.graph.concept(r.target);
      if (r.kind === 'mtm' || target === undefined) return [];
      if (!isDataset(c) || !isDataset(target)) {
        this.#losses.push(`relationship ${c.name}.${r.name}: only in the ontology document, because ${isDataset(c) ? target.name : c.name} has no dataset`);
        return [];
      }
      const name = this.#names.take(r.name, c.name);
      return [
        {
          name,
          from: c.name,
          to: target.name,
          from_columns: r.source,
          to_columns: r.references,
          ...described(r),
          ...extension(name === r.name ? {} : { name: r.name }),
        },
      ];
    });
  }

  #sideRelationships(m: MappingDef): CoreRelationship[] {
    if (m.link === null) {
      const key = this.#source.graph.concept(m.concept ?? '')?.key;
      const columns = key?.properties.map((p) => p.name) ?? [];
      if (m.kind !== 'multi' || columns.length === 0 || m.concept === null) return [];
      return [{ name: this.#names.take(`${m.name}_of`, m.concept), from: m.name, to: m.concept, from_columns: columns, to_columns: columns }];
    }
    return (['forward', 'back'] as const).flatMap((end) => {
      const e = m.link?.[end];
      const target = this.#source.graph.concept(e?.concept ?? '');
      if (e === undefined || target === undefined || !isDataset(target)) return [];
      const plain = e.relationship.replace(/^~+/, '');
      const name = this.#names.take(plain === e.relationship ? plain : `${plain}_inverse`, m.name);
      return [{ name, from: m.name, to: target.name, from_columns: e.columns, to_columns: e.references, ...extension({ end, name: e.relationship }) }];
    });
  }

  #metric(m: MeasureDef): Metric[] {
    const owners = this.#source.graph.concepts.filter((c) => c.def?.measures.some((name) => sameName(name, m.name)));
    const owner = owners[0];
    const { reader } = this.#source;
    const expression = owner && isDataset(owner) && !hasPath(m.expression) ? toDotted(m.expression, owner, reader) : undefined;
    const filter = m.filter === null || owner === undefined || hasPath(m.filter) ? undefined : toDotted(m.filter, owner, reader);
    const whole =
      expression !== undefined && m.filter !== null && filter !== undefined ? filtered(expression, filter) : m.filter === null ? expression : undefined;
    const isNamed = owner !== undefined && whole?.includes(`${identifier(owner.name)}.`);
    if (owner === undefined || whole === undefined || !isNamed) {
      const why =
        owner === undefined
          ? 'no concept lists it'
          : whole !== undefined
            ? 'its expression names no field'
            : isDataset(owner)
              ? 'Ossie has no name for its path or its shape'
              : `${owner.name} has no dataset`;
      this.#losses.push(`measure ${m.name}: only in custom_extensions, because ${why}`);
      this.#statements.push(printMeasure(m));
      return [];
    }
    const { context, tags } = tagsAsContext(m.tags);
    const extras = {
      ...exactType(m.type),
      ...tags,
      ...(/\bfilter\b/i.test(whole) ? { filtered: m.filter !== null } : {}),
    };
    const name = this.#names.take(m.name, 'measure');
    return [
      {
        name,
        expression: ansi(whole),
        datatype: ossieType(m.type),
        ...(m.description === null ? {} : { description: m.description }),
        ...context,
        ...extension({ ...extras, ...(name === m.name ? {} : { measure: m.name }) }),
      },
    ];
  }

  /** Objects that other tools do not read: as statements in the extension. */
  #rest(): void {
    const { graph, others } = this.#source;
    for (const p of graph.model.properties.filter((q) => !this.#owned.has(fold(q.name)))) {
      this.#statements.push(printProperty(p));
      if (p.expression !== null && !this.#fields.has(fold(p.name)))
        this.#losses.push(`property ${p.name}: not in the core document, because its expression follows paths or has no dataset`);
    }
    for (const v of graph.model.views) {
      this.#statements.push(printView(v));
      this.#losses.push(`${v.cube ? 'cube' : 'view'} ${v.name}: only in custom_extensions`);
    }
    for (const text of others) this.#losses.push(`${titleOf(text)}: only in custom_extensions`);
    const withTags = [...graph.model.properties, ...graph.model.measures, ...graph.model.concepts].filter((o) =>
      Object.keys(o.tags).some((t) => t !== 'synonyms'),
    );
    if (withTags.length > 0) this.#losses.push(`tags other than synonyms: only in custom_extensions (${withTags.length} objects)`);
  }

  #concepts(): void {
    for (const c of this.#source.graph.concepts) {
      if (c.rows.kind === 'logic') this.#losses.push(`concept ${c.name}: not in the core document, because it is derived; the ontology document has it`);
      else if (!isDataset(c)) this.#losses.push(`concept ${c.name}: not in the core document, because it has no mapping`);
    }
    const labels = this.#source.graph.concepts.filter((c) => (c.def?.label.length ?? 0) > 0).length;
    if (labels > 0) this.#losses.push(`labels: only in custom_extensions (${labels} concepts)`);
  }
}

/** The column of a mapping with the values of a property, in the spelling of PostgreSQL. A mapping whose columns are not known is taken to have all. */
const columnOf = (m: MappingDef, p: PropertyDef): string | undefined =>
  m.columns.length === 0 ? p.name : m.columns.find((c) => sameName(c.name, p.name))?.name;

const described = (r: RelationshipDef) => (r.description === null ? {} : { ai_context: { instructions: r.description } });

/** The declaration of the relationship of a link mapping, and the concept that declares it. */
function linkOf(graph: Graph, m: MappingDef): { readonly concept: string; readonly relationship: string } | undefined {
  for (const c of graph.concepts)
    for (const r of c.relationships) if (!r.isInverse && r.links.some((l) => l.mapping === m)) return { concept: r.declaredBy.name, relationship: r.name };
  return undefined;
}

/** An aggregate with a condition: standard SQL has FILTER. Undefined unless the expression is one call. */
const filtered = (expression: string, filter: string): string | undefined =>
  /^\w+\s*\([^()]*(\([^()]*\)[^()]*)*\)$/.test(expression) ? `${expression} FILTER (WHERE ${filter})` : undefined;

/** The core document in version 0.1.1, which has no data types and a closed list of vendors. The types are in the extensions. */
export function oldCore({ semantic_model }: CoreDocument): CoreDocument {
  const old = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(old);
    if (typeof value !== 'object' || value === null) return value;
    const { datatype, custom_extensions: extensions, ...rest } = value as { readonly datatype?: string; readonly custom_extensions?: readonly Extension[] };
    const type = datatype === undefined ? undefined : ownType(datatype);
    const extras = { ...(type === undefined ? {} : { type }), ...extensionOf(extensions) };
    return {
      ...Object.fromEntries(Object.entries(rest).map(([key, v]) => [key, old(v)])),
      ...(Object.keys(extras).length === 0 ? {} : { custom_extensions: [{ vendor_name: OLD_VENDOR, data: JSON.stringify({ svc: extras }) }] }),
    };
  };
  return { version: OSSIE_OLD_VERSION, semantic_model: old(semantic_model) as CoreDocument['semantic_model'] };
}
