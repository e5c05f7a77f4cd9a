/** The SQL of mappings, from datasets and the mapping document. */
import { quoteDouble } from '../../language/quote.ts';
import { fold, sameName } from '../../ontology/names.ts';
import type { Draft, DraftConcept } from './draft.ts';
import { partsOf, plainColumn } from './expressions.ts';
import type { Datasets } from './ossie-datasets.ts';
import type { Documents } from './ossie-read.ts';
import type { Component, CoreRelationship, Dataset, DatasetExtension, ObjectMapping } from './ossie-types.ts';
import { extensionOf, sqlOf } from './ossie-values.ts';
import { combined, without } from './row-sql.ts';

/** A column of a mapping. */
interface Column {
  readonly property: string;
  readonly sql: string;
}

const isQuery = (source: string): boolean => /^\s*(\(|select\b|with\b|values\b)/i.test(source);

/** Makes the mappings of all concepts, of links and of properties with several values. */
export class MappingSql {
  readonly #documents: Documents;
  readonly #draft: Draft;
  readonly #datasets: Datasets;

  constructor(documents: Documents, draft: Draft, datasets: Datasets) {
    this.#documents = documents;
    this.#draft = draft;
    this.#datasets = datasets;
  }

  add(sides: readonly Dataset[]): void {
    for (const c of this.#draft.concepts) this.#concept(c);
    for (const d of sides) this.#values(d);
    for (const link of this.#datasets.sideLinks) this.#link(link);
    if (!this.#datasets.isOwn) for (const c of this.#draft.concepts) this.#mappedLinks(c);
  }

  #push(name: string, of: { readonly concept?: string; readonly property?: string }, sql: string, datasource = 'main'): void {
    const kind = of.property === undefined ? 'concept' : 'multi';
    this.#draft.mappings.push({ name, kind, concept: of.concept ?? null, property: of.property ?? null, link: null, datasource, sql, columns: [] });
  }

  #concept(c: DraftConcept): void {
    const dataset = this.#datasets.of(c.name);
    if (dataset === undefined || c.logic !== null) return;
    const extras = extensionOf<DatasetExtension>(dataset.custom_extensions);
    if (extras?.own !== undefined && sameName(dataset.name, c.name)) {
      this.#ownMappings(c.name, dataset, extras);
      return;
    }
    const sql = this.#rowsOf(c);
    if (sql !== undefined) this.#push(`map_${c.name}`, { concept: c.name }, this.#withoutParts(c, sql));
  }

  /** The mappings of a document that this service wrote. */
  #ownMappings(concept: string, dataset: Dataset, { own = [], datasources = {} }: DatasetExtension): void {
    const parts = partsOf(dataset.source);
    const [name, ...more] = own;
    const isWhole = name !== undefined && more.length === 0 && parts?.some((p) => own.includes(p.name)) !== true;
    if (isWhole) this.#push(name, { concept }, dataset.source.trim(), datasources[name]);
    else
      for (const mapping of own) {
        const part = parts?.find((p) => p.name === mapping);
        if (part) this.#push(mapping, { concept }, part.sql, datasources[mapping]);
        else this.#draft.losses.push(`mapping ${mapping} of ${concept}: the source of its dataset no longer has it`);
      }
  }

  /** The datasets that a concept's objects come from. */
  #populations(c: DraftConcept): readonly { readonly dataset: Dataset; readonly key: ObjectMapping | undefined }[] {
    const mapped = this.#documents.mappings
      .filter((m) => sameName(m.concept, c.name))
      .flatMap((m) => [...(m.object_mappings ?? []), ...(m.link_mappings ?? []).map((l) => l.object_mapping)])
      .flatMap((key) => {
        const dataset = this.#datasets.mapped.refOf(key)?.dataset;
        return dataset === undefined ? [] : [{ dataset, key }];
      });
    const unique = mapped.filter((m, i) => mapped.findIndex((o) => o.dataset === m.dataset) === i);
    const same = this.#datasets.of(c.name);
    return unique.length > 0 ? unique : same === undefined ? [] : [{ dataset: same, key: undefined }];
  }

  /** The rows of a concept: one for each object, also if several rows of a dataset, or several datasets, have it. */
  #rowsOf(c: DraftConcept): string | undefined {
    const populations = this.#populations(c);
    const key = this.#draft.keyOf(c.name);
    const queries = populations.flatMap(({ dataset, key: object }) => {
      const columns = this.#columns(c, dataset, object, key);
      return columns.length === 0 ? [] : [{ dataset, columns }];
    });
    const [first, ...more] = queries;
    if (first === undefined) return undefined;
    if (more.length === 0) return this.#select(first.dataset, first.columns, this.#repeats(first.dataset, first.columns, key), key);
    if (key.length === 0) {
      this.#draft.losses.push(
        `datasets ${more.map((q) => q.dataset.name).join(', ')} of ${c.name}: without a key, objects of several datasets cannot be distinguished`,
      );
      return this.#select(first.dataset, first.columns, false);
    }
    return this.#combined(queries, key);
  }

  /** Whether a dataset may have several rows of an object. */
  #repeats(dataset: Dataset, columns: readonly Column[], key: readonly string[]): boolean {
    const unique = [dataset.primary_key ?? [], ...(dataset.unique_keys ?? [])].filter((k) => k.length > 0);
    if (key.length === 0 || unique.length === 0) return this.#documents.mappings.length > 0 && key.length > 0;
    const own = columns.filter((c) => key.some((k) => sameName(k, c.property))).map((c) => plainColumn(c.sql) ?? '');
    const fieldColumn = (name: string): string => {
      const field = dataset.fields?.find((f) => sameName(f.name, name));
      return (field && plainColumn(sqlOf(field.expression) ?? '')) ?? fold(name);
    };
    return !unique.some((k) => k.every((name) => own.includes(fieldColumn(name)) || own.includes(fold(name))));
  }

  #columns(c: DraftConcept, dataset: Dataset, object: ObjectMapping | undefined, key: readonly string[]): readonly Column[] {
    const found = new Map<string, Column>();
    const put = (property: string, sql: string | undefined): void => {
      if (sql !== undefined && !found.has(fold(property))) found.set(fold(property), { property, sql });
    };
    if (object !== undefined)
      for (const [i, e] of this.expressionsOf(object, c.name).entries()) {
        const property = key[i];
        if (property !== undefined) put(property, this.#datasets.mapped.sqlOf(e, dataset));
      }
    for (const field of dataset.fields ?? []) {
      const property = this.#datasets.propertyOfField(c.name, dataset, field.name);
      const sql = sqlOf(field.expression);
      if (property === undefined || sql === undefined || this.#draft.property(property)?.expression != null || this.#datasets.isCross(dataset, sql)) continue;
      put(property, sql);
    }
    return [...found.values()];
  }

  /** The expressions of an object's key, in the order of the key. */
  expressionsOf(object: ObjectMapping, concept: string): readonly string[] {
    if (object.expression !== undefined) return [object.expression];
    const all = object.referent_mappings ?? [];
    const component = this.#documents.ontology?.ontology.find((c) => sameName(c.concept, concept));
    const plain = (name: string): string => name.replace(`${concept}.`, '');
    const ordered = (component?.identify_by ?? []).map((name) => all.find((m) => sameName(plain(m.relationship), plain(name))));
    const found = ordered.length === 0 || ordered.includes(undefined) ? all : ordered;
    return found.flatMap((m) => (m === undefined ? [] : this.expressionsOf(m, this.#roleOf(component, plain(m.relationship)) ?? '')));
  }

  /** The concept that a relationship leads to. */
  #roleOf(component: Component | undefined, name: string): string | undefined {
    return component?.relationships?.find((r) => sameName(r.name, name))?.roles?.[0]?.concept;
  }

  /** A SELECT from a dataset. */
  #select(dataset: Dataset, columns: readonly Column[], isDistinct: boolean, key: readonly string[] = []): string {
    const isSame = columns.every((c) => plainColumn(c.sql) === c.property);
    if (isSame && !isDistinct && isQuery(dataset.source)) return dataset.source.trim();
    const list = columns.map(({ property, sql }) => (plainColumn(sql) === property ? sql : `${sql} AS ${quoteDouble(property)}`));
    // an object has a key
    const known = isDistinct ? columns.filter((c) => key.some((k) => sameName(k, c.property))).map((c) => `${c.sql} IS NOT NULL`) : [];
    const where = known.length === 0 ? '' : ` WHERE ${known.join(' AND ')}`;
    return `SELECT ${isDistinct ? 'DISTINCT ' : ''}${list.join(', ')} FROM ${this.#from(dataset)}${where}`;
  }

  #from(dataset: Dataset): string {
    const alias = quoteDouble(dataset.name);
    if (isQuery(dataset.source)) return `(\n${dataset.source.trim()}\n) AS ${alias}`;
    const parts = dataset.source.split('.');
    if (parts.length > 2) this.#draft.once(`database ${parts.slice(0, -2).join('.')} of ${dataset.source}: a mapping reads the database of its data source`);
    return `${parts.slice(-2).join('.')} AS ${alias}`;
  }

  /** Objects of several datasets, each once. */
  #combined(queries: readonly { readonly dataset: Dataset; readonly columns: readonly Column[] }[], key: readonly string[]): string {
    const complete = queries.filter((q) => key.every((k) => q.columns.some((c) => sameName(c.property, k))));
    return combined(
      complete.map((q) => ({ sql: this.#select(q.dataset, q.columns, true, key), properties: q.columns.map((c) => c.property) })),
      key,
    );
  }

  /** Without the rows of concepts below, which have mappings of their own: a row in two mappings would count twice. */
  #withoutParts(c: DraftConcept, sql: string): string {
    const key = this.#draft.keyOf(c.name);
    const below = this.#draft
      .descendants(c.name)
      .filter((d) => d.logic === null && this.#datasets.of(d.name) !== undefined && this.#datasets.of(d.name) !== this.#datasets.of(c.name));
    const others = below.flatMap((d) => {
      const rows = this.#rowsOf(d);
      if (rows === undefined) return [];
      if (key.length > 0) return [rows];
      this.#draft.losses.push(`rows of ${c.name} that ${d.name} also has: without a key they are counted twice`);
      return [];
    });
    if (others.length === 0) return sql;
    const columns = this.#draft
      .lineage(c.name)
      .flatMap((d) => d.properties)
      .filter((p) => this.#draft.property(p)?.expression === null);
    const known = columns.filter((p, i) => columns.indexOf(p) === i && new RegExp(`\\b${p.replace(/\W/g, '\\$&')}\\b`, 'i').test(sql));
    return without({ sql, properties: known }, others, key);
  }

  #values(dataset: Dataset): void {
    const extras = extensionOf<DatasetExtension>(dataset.custom_extensions);
    if (extras?.multivalue === undefined) return;
    const { concept, property } = extras.multivalue;
    const field = dataset.fields?.find((f) => sameName(f.name, property));
    const facts = field && this.#datasets.factsOf(dataset, field);
    const made = this.#draft.concept(concept);
    if (made === undefined || facts === undefined) {
      this.#draft.losses.push(`dataset ${dataset.name}: ${made === undefined ? `there is no concept ${concept}` : `it has no field ${property}`}`);
      return;
    }
    const name = this.#draft.addProperty({ name: property, ...facts, multi: true }, concept);
    if (!this.#draft.lineage(concept).some((c) => c.multi.some((p) => sameName(p, name)))) made.multi.push(name);
    this.#push(dataset.name, { concept, property: name }, dataset.source.trim(), extras.datasource);
  }

  #link({ dataset, ends, relationship = dataset.name, concept }: Datasets['sideLinks'][number]): void {
    const [forward, back] = ends;
    if (forward === undefined || back === undefined) return;
    const declared = this.#draft.concept(concept)?.relationships.find((r) => sameName(r.name, relationship));
    const inverse = declared?.inverse ?? `~${relationship}`;
    const end = (r: CoreRelationship, name: string) => {
      const target = this.#datasets.conceptOf(r.to) ?? r.to;
      return {
        relationship: this.#datasets.hasEnd(r) ? this.#datasets.endName(r) : name,
        columns: this.#linkColumns(dataset, r),
        concept: target,
        references: this.#datasets.endOf(r, target),
      };
    };
    const link = { forward: end(forward, relationship), back: end(back, inverse) };
    const known = [link.forward, link.back].flatMap((e) => e.columns.map((column, i) => ({ column, reference: e.references[i] ?? '' })));
    const fields = (dataset.fields ?? []).map((f) => {
      const reference = known.find((k) => sameName(k.column, f.name))?.reference ?? '';
      return { property: f.name, sql: this.#draft.compared(sqlOf(f.expression) ?? f.name, reference) };
    });
    const sql = this.#datasets.hasEnd(forward) ? dataset.source.trim() : this.#select(dataset, fields, true);
    const datasource = extensionOf<DatasetExtension>(dataset.custom_extensions)?.datasource ?? 'main';
    this.#draft.mappings.push({ name: dataset.name, kind: 'link', concept: null, property: null, link, datasource, sql, columns: [] });
  }

  /** The columns of a link's SELECT: keys name columns of the source, whose fields may have other names. */
  #linkColumns(dataset: Dataset, r: CoreRelationship): readonly string[] {
    return r.from_columns.map(
      (column) => dataset.fields?.find((f) => sameName(f.name, column) || plainColumn(sqlOf(f.expression) ?? '') === fold(column))?.name ?? column,
    );
  }

  /** Links that the mapping document takes from the datasets of concepts. */
  #mappedLinks(c: DraftConcept): void {
    for (const r of c.relationships.filter((q) => q.kind === 'mtm')) {
      if (this.#datasets.sideLinks.some((s) => sameName(s.concept, c.name) && s.relationship !== undefined && sameName(s.relationship, r.name))) continue;
      const links = this.#datasets.mapped.linksOf(c.name, r.name);
      if (links.length === 0) this.#draft.losses.push(`relationship ${c.name}.${r.name}: no columns are mapped to it, so it has no links`);
      links.forEach(({ from, to }, i) => {
        const dataset = this.#datasets.mapped.refOf(from)?.dataset;
        const [near, far] = [this.#draft.keyOf(c.name), this.#draft.keyOf(r.target)];
        const sql = (o: ObjectMapping, concept: string, prefix: string): Column[] =>
          this.expressionsOf(o, concept).map((e, n) => ({ property: `${prefix}${n + 1}`, sql: (dataset && this.#datasets.mapped.sqlOf(e, dataset)) ?? '' }));
        const columns = [...sql(from, c.name, 'from'), ...sql(to, r.target, 'to')];
        const references = [...near, ...far];
        if (
          dataset === undefined ||
          near.length === 0 ||
          far.length === 0 ||
          columns.length !== near.length + far.length ||
          columns.some((e) => e.sql === '')
        ) {
          this.#draft.losses.push(`links of ${c.name}.${r.name}: they are not mapped to keys by fields of one dataset`);
          return;
        }
        const names = (prefix: string): string[] => columns.map((e) => e.property).filter((p) => p.startsWith(prefix));
        const link = {
          forward: { relationship: r.name, columns: names('to'), concept: r.target, references: far },
          back: { relationship: r.inverse ?? `~${r.name}`, columns: names('from'), concept: c.name, references: near },
        };
        const name = `map_${c.name}_${r.name}${i === 0 ? '' : `_${i + 1}`}`;
        const compared = columns.map((e, n) => ({ ...e, sql: this.#draft.compared(e.sql, references[n] ?? '') }));
        const notNull = columns.map((e) => `${quoteDouble(e.property)} IS NOT NULL`).join(' AND ');
        const text = `SELECT * FROM (${this.#select(dataset, compared, true)}) AS links WHERE ${notNull}`;
        const listed = `SELECT ${columns.map((e) => quoteDouble(e.property)).join(', ')}${text.slice('SELECT *'.length)}`;
        this.#draft.mappings.push({ name, kind: 'link', concept: null, property: null, link, datasource: 'main', sql: listed, columns: [] });
      });
    }
  }
}
