/** Triples maps as mappings: keys, foreign keys, links and SQL. */
import { quoteDouble, quoteLiteral } from '../../language/quote.ts';
import type { RelationshipDef } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import type { Draft, DraftConcept } from './draft.ts';
import { identifier } from './expressions.ts';
import { short } from './rdf-axioms.ts';
import { columnName, fromOf, mapName, type Template, type TermMap, type TriplesMap } from './rdf-maps.ts';
import { named } from './rdf-terms.ts';
import { combined, extended, type RowQuery, without } from './row-sql.ts';

/** What the OWL part of an import knows about IRIs. */
export interface Known {
  readonly concepts: ReadonlyMap<string, string>;
  readonly properties: ReadonlyMap<string, string>;
  /** Relationships by IRI: the concept that declares each, and its name. */
  readonly relationships: ReadonlyMap<string, readonly { readonly concept: string; readonly name: string }[]>;
}

/** The columns of a triples map. */
interface Columns {
  /** The SQL of each property. */
  readonly sql: Map<string, string>;
  /** The property of each column. */
  readonly property: Map<string, string>;
}

/** An end of a link: the SQL of its columns, and the properties whose values they have. */
interface End {
  readonly sql: readonly string[];
  readonly references: readonly string[];
}

/** Adds what triples maps say to a draft. */
export class RdfMappings {
  readonly #maps: readonly TriplesMap[];
  readonly #draft: Draft;
  readonly #known: Known;
  readonly #columns = new Map<TriplesMap, Columns>();
  readonly #names = new Set<string>();
  /** Concepts whose objects have several templates. */
  readonly #iris = new Set<DraftConcept>();

  constructor(maps: readonly TriplesMap[], draft: Draft, known: Known) {
    this.#maps = maps;
    this.#draft = draft;
    this.#known = known;
  }

  /** Names columns, then adds keys and foreign keys. */
  structure(): void {
    for (const m of this.#maps) for (const c of this.#classes(m)) this.#bind(m, c);
    const byLevel = [...this.#draft.concepts].sort((a, b) => this.#draft.lineage(a.name).length - this.#draft.lineage(b.name).length);
    for (const c of byLevel) this.#key(c);
    for (const m of this.#maps) for (const c of this.#classes(m)) this.#foreignKeys(m, c);
  }

  /** Adds the mappings. */
  mappings(): void {
    for (const c of this.#draft.concepts) if (c.logic === null) this.#rows(c);
    for (const m of this.#maps) this.#sides(m);
  }

  #concept = (iri: string): DraftConcept | undefined => this.#draft.concept(this.#known.concepts.get(iri) ?? '');

  /** The most special concepts of a map. */
  #classes(m: TriplesMap): readonly DraftConcept[] {
    const all = m.classes.flatMap((iri) => this.#concept(iri) ?? []);
    return all.filter((c) => !all.some((d) => d !== c && this.#draft.lineage(d.name).includes(c)));
  }

  #columnsOf(m: TriplesMap): Columns {
    const found = this.#columns.get(m) ?? { sql: new Map(), property: new Map() };
    this.#columns.set(m, found);
    return found;
  }

  #bind(m: TriplesMap, c: DraftConcept): void {
    const { sql, property } = this.#columnsOf(m);
    for (const { predicate, object } of m.objects) {
      const name = this.#known.properties.get(predicate);
      if (name === undefined || this.#draft.property(name)?.multi) continue;
      const text = sqlOf(object);
      if (text === undefined) this.#draft.losses.push(`triples map ${short(named(m.iri))}: the values of ${name} are objects`);
      else if (sql.has(name) && sql.get(name) !== text) this.#draft.losses.push(`triples map ${short(named(m.iri))}: other values of ${name} (${text})`);
      else {
        sql.set(name, text);
        if (object.column !== undefined) property.set(object.column, name);
      }
      if (!this.#draft.lineage(c.name).some((a) => a.properties.some((p) => sameName(p, name)))) c.properties.push(name);
    }
  }

  /** The property with the values of a column. It is added if no property has them. */
  #propertyOf(m: TriplesMap, column: string, c: DraftConcept, wanted = column): string {
    const { sql, property } = this.#columnsOf(m);
    const found = property.get(column);
    if (found !== undefined) return found;
    const name = this.#draft.addProperty({ name: wanted, type: undefined }, c.name);
    if (!this.#draft.lineage(c.name).some((a) => a.properties.some((p) => sameName(p, name)))) c.properties.push(name);
    property.set(column, name);
    sql.set(name, identifier(column));
    return name;
  }

  /** The property with the values of an expression. */
  #propertyOfSql(m: TriplesMap, text: string, c: DraftConcept, wanted: string): string {
    const { sql, property } = this.#columnsOf(m);
    const column = [...property].find(([name]) => identifier(name) === text)?.[0] ?? (/^("([^"]|"")*"|\w+)$/.test(text) ? columnName(text) : undefined);
    if (column !== undefined) return this.#propertyOf(m, column, c, wanted);
    const name = this.#draft.addProperty({ name: wanted, type: 'string' }, c.name);
    if (!this.#draft.lineage(c.name).some((a) => a.properties.some((p) => sameName(p, name)))) c.properties.push(name);
    sql.set(name, text);
    return name;
  }

  #mapsOf = (c: DraftConcept): readonly TriplesMap[] => this.#maps.filter((m) => this.#classes(m).includes(c));

  /** The key: the columns of the template. Concepts with the template of an ancestor have its key. */
  #key(c: DraftConcept): void {
    const maps = this.#mapsOf(c).filter((m) => m.own === undefined && (m.subject?.columns.length ?? 0) > 0);
    const [first] = maps;
    if (first?.subject === undefined) return;
    const { shape } = first.subject;
    // objects of several templates are different ones, also if their columns have the same values
    const shapes = new Set([c, ...this.#draft.descendants(c.name)].flatMap((d) => this.#mapsOf(d)).map((m) => m.subject?.shape));
    if (this.#draft.keyOf(c.name).length === 0) {
      if (shapes.size > 1) this.#byIri(c);
      else c.key = first.subject.columns.map((column) => this.#propertyOf(first, column, c));
    }
    if (this.#isByIri(c)) return;
    const key = this.#draft.keyOf(c.name);
    for (const m of maps) {
      const { sql, property } = this.#columnsOf(m);
      if (m.subject?.shape !== shape || m.subject.columns.length !== key.length) continue;
      for (const [i, column] of m.subject.columns.entries()) {
        const p = key[i];
        if (p === undefined) continue;
        sql.set(p, identifier(column));
        if (!property.has(column)) property.set(column, p);
      }
    }
  }

  /** Objects of several templates have one key: their IRI. */
  #byIri(c: DraftConcept): void {
    const iri = this.#draft.addProperty({ name: 'iri', type: 'string' }, c.name);
    c.properties.push(iri);
    c.key = [iri];
    this.#iris.add(c);
    for (const d of [c, ...this.#draft.descendants(c.name)])
      for (const m of this.#mapsOf(d)) if (m.subject !== undefined) this.#columnsOf(m).sql.set(iri, templateSql(m.subject));
  }
  #isByIri = (c: DraftConcept): boolean => this.#draft.lineage(c.name).some((a) => this.#iris.has(a));

  /** The SQL of the key of a concept, from a template of its objects. */
  #keySql = (template: Template, c: DraftConcept): readonly string[] => (this.#isByIri(c) ? [templateSql(template)] : template.columns.map(identifier));

  /** The concept whose values or links a map without a class has. */
  #subjectOf(m: TriplesMap): DraftConcept | undefined {
    if (m.valuesOf !== undefined) return this.#concept(m.valuesOf);
    const same = this.#maps.filter((o) => o.classes.length > 0 && o.subject !== undefined && o.subject.shape === m.subject?.shape);
    const [found] = same.flatMap((o) => this.#classes(o)).sort((a, b) => this.#draft.lineage(a.name).length - this.#draft.lineage(b.name).length);
    const declared = m.objects.flatMap((o) => this.#known.relationships.get(o.predicate) ?? [])[0];
    return found ?? this.#draft.concept(declared?.concept ?? '');
  }

  /** The SQL of an object's key, and the properties of its concept whose values it has. */
  #end(object: TermMap): End | undefined {
    const byTemplate = (template: Template): End | undefined => {
      const target = this.#maps.find((o) => o.classes.length > 0 && o.subject?.shape === template.shape && this.#classes(o).length > 0);
      const [c] = target === undefined ? [] : this.#classes(target);
      return target === undefined || c === undefined ? undefined : { sql: this.#keySql(template, c), references: this.#keyColumns(target, c) };
    };
    if (object.template !== undefined) return byTemplate(object.template);
    if (object.parent === undefined) return undefined;
    const { map, joins } = object.parent;
    const target = this.#maps.find((o) => o.iri === map);
    const [c] = target === undefined ? [] : [...this.#classes(target), this.#subjectOf(target)];
    if (target === undefined || c === undefined) return undefined;
    if (joins.length === 0) return target.subject && { sql: this.#keySql(target.subject, c), references: this.#keyColumns(target, c) };
    return { sql: joins.map((j) => identifier(j.child)), references: joins.map((j) => this.#propertyOf(target, j.parent, c)) };
  }

  /** The properties that the template of a triples map has values of, in its order. */
  #keyColumns(m: TriplesMap, c: DraftConcept): readonly string[] {
    const key = this.#draft.keyOf(c.name);
    return this.#isByIri(c) || key.length === m.subject?.columns.length ? key : (m.subject?.columns ?? []).map((column) => this.#propertyOf(m, column, c));
  }

  /** The declaration of a relationship for a concept. */
  #declared(predicate: string, c: DraftConcept, isSide = false): { readonly holder: DraftConcept; readonly r: RelationshipDef } | undefined {
    for (const { concept, name } of this.#known.relationships.get(predicate) ?? []) {
      const root = this.#draft.lineage(c.name).at(-1) ?? c;
      // the links of a map without a class start at any concept with its template
      const near = [...this.#draft.lineage(c.name), ...(isSide ? [...this.#draft.descendants(c.name), root, ...this.#draft.descendants(root.name)] : [])];
      const holder = near.find((a) => sameName(a.name, concept));
      const r = holder?.relationships.find((q) => sameName(q.name, name));
      if (holder && r) return { holder, r };
    }
    return undefined;
  }

  /** The relationships that a triples map with a class has links of: each is a foreign key of its concept. */
  #foreignKeys(m: TriplesMap, c: DraftConcept): void {
    for (const { predicate, object } of m.objects) {
      const declared = this.#declared(predicate, c);
      if (declared === undefined) continue;
      const { holder, r } = declared;
      const end = this.#end(object);
      if (end === undefined || end.sql.length === 0 || end.sql.length !== end.references.length) {
        this.#draft.once(`links of ${holder.name}.${r.name} in ${short(named(m.iri))}: they do not lead to objects of a triples map`);
        continue;
      }
      if (r.kind === 'fk') this.#again(m, r, end, c);
      else {
        const source = end.sql.map((text, i) => this.#propertyOfSql(m, text, c, `${r.name}_${end.references[i]}`));
        for (const [i, p] of source.entries()) this.#draft.alike(p, end.references[i] ?? p);
        holder.relationships[holder.relationships.indexOf(r)] = { ...r, kind: 'fk', source, references: end.references };
        this.#lift(holder, c, source);
      }
    }
  }

  /** A foreign key of an ancestor needs its properties there. */
  #lift(holder: DraftConcept, c: DraftConcept, source: readonly string[]): void {
    for (const p of source) {
      if (this.#draft.lineage(holder.name).some((a) => a.properties.some((q) => sameName(q, p)))) continue;
      holder.properties.push(p);
      c.properties = c.properties.filter((q) => !sameName(q, p));
    }
  }

  /** Another map with links of one foreign key: its columns get the same properties. */
  #again(m: TriplesMap, r: RelationshipDef, end: End, c: DraftConcept): void {
    const { sql } = this.#columnsOf(m);
    for (const [i, text] of end.sql.entries()) {
      const at = r.references.findIndex((p) => sameName(p, end.references[i] ?? ''));
      const p = r.source[at];
      const known = p === undefined ? undefined : sql.get(p);
      if (p === undefined || (known !== undefined && known !== text))
        this.#draft.once(`links of ${c.name}.${r.name} in ${short(named(m.iri))}: another triples map has other columns for them`);
      else sql.set(p, text);
    }
  }

  /** The rows of a triples map. */
  #query(m: TriplesMap): RowQuery {
    const columns = [...this.#columnsOf(m).sql];
    const isPlain = columns.every(([p, sql]) => sameName(sql.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"'), p));
    const properties = columns.map(([p]) => p);
    if (isPlain && m.query !== undefined) return { sql: m.query, properties };
    const list = columns.map(([p, sql]) => (sql === p ? sql : `${sql} AS ${quoteDouble(p)}`));
    return { sql: `SELECT ${list.join(', ')} FROM ${fromOf(m, (loss) => this.#draft.once(loss))}`, properties };
  }

  /** A name that no other mapping has. */
  #name(wanted: string): string {
    let name = wanted;
    for (let i = 2; this.#names.has(fold(name)); i++) name = `${wanted}_${i}`;
    this.#names.add(fold(name));
    return name;
  }

  /** Adds the mappings of a concept: its own ones in documents of this service, otherwise one for each template of its objects. */
  #rows(c: DraftConcept): void {
    const maps = this.#mapsOf(c).filter((m) => this.#columnsOf(m).sql.size > 0);
    for (const m of maps.filter((o) => o.own !== undefined))
      this.#push({ name: this.#name(mapName(m)), concept: c.name, datasource: m.datasource, sql: this.#query(m).sql });
    const others = Map.groupBy(
      maps.filter((m) => m.own === undefined),
      (m) => m.subject?.shape ?? m.iri,
    );
    for (const [shape, group] of others) {
      const key = this.#draft.keyOf(c.name);
      const above = this.#draft
        .lineage(c.name)
        .slice(1)
        .flatMap((a) => this.#mapsOf(a).filter((m) => m.subject?.shape === shape && !group.includes(m)));
      const query =
        key.length === 0
          ? this.#objects(group, key)
          : extended(
              this.#objects(group, key),
              above.map((m) => this.#query(m)),
              key,
            );
      const below = this.#draft.descendants(c.name).flatMap((d) => {
        const same = this.#mapsOf(d).filter((m) => m.subject?.shape === shape && !group.includes(m) && this.#columnsOf(m).sql.size > 0);
        return same.length === 0 || d.logic !== null || key.length === 0 ? [] : [this.#objects(same, key).sql];
      });
      this.#push({ name: this.#name(mapName(group[0] as TriplesMap)), concept: c.name, sql: without(query, below, key) });
    }
  }

  /** One query for the maps of the same objects. */
  #objects(group: readonly TriplesMap[], key: readonly string[]): RowQuery {
    const queries = group.map((m) => this.#query(m));
    const [only] = queries;
    if (queries.length === 1 || only === undefined) return only ?? { sql: '', properties: [] };
    return { sql: combined(queries, key), properties: [...new Set(queries.flatMap((q) => q.properties))] };
  }

  /** Links and several values: of maps without a class, and of multi-valued properties. */
  #sides(m: TriplesMap): void {
    const isSide = this.#classes(m).length === 0;
    const c = isSide ? this.#subjectOf(m) : this.#classes(m)[0];
    if (c === undefined) {
      this.#draft.losses.push(`triples map ${short(named(m.iri))}: no class has its objects`);
      return;
    }
    const key = this.#draft.keyOf(c.name);
    const near = m.subject === undefined ? [] : this.#keySql(m.subject, c);
    for (const { predicate, object } of m.objects) {
      const property = this.#known.properties.get(predicate);
      const declared = this.#declared(predicate, c, isSide);
      if (property !== undefined && (isSide || this.#draft.property(property)?.multi)) this.#values(m, c, property, object, near, key);
      else if (declared !== undefined && isSide) this.#links(m, declared, object);
      else if (property === undefined && declared === undefined)
        this.#draft.losses.push(`triples map ${short(named(m.iri))}: ${short(named(predicate))} is not a property of ${c.name}`);
    }
  }

  #values(m: TriplesMap, c: DraftConcept, property: string, object: TermMap, near: readonly string[], key: readonly string[]): void {
    const value = sqlOf(object);
    if (value === undefined || near.length !== key.length || key.length === 0 || this.#draft.property(property)?.multi !== true) {
      this.#draft.losses.push(`values of ${c.name}.${property} in ${short(named(m.iri))}: their triples map has another subject than the others`);
      return;
    }
    if (!this.#draft.lineage(c.name).some((a) => a.multi.some((p) => sameName(p, property)))) c.multi.push(property);
    const own = near.map((text, i) => `${this.#draft.compared(text, key[i] ?? '')} AS ${quoteDouble(key[i] ?? '')}`);
    const list = [...own, `${value} AS ${quoteDouble(property)}`];
    const sql =
      m.own !== undefined && m.query !== undefined
        ? m.query
        : `SELECT ${list.join(', ')} FROM ${fromOf(m, (loss) => this.#draft.once(loss))} WHERE ${value} IS NOT NULL`;
    this.#push({ name: this.#name(m.own ?? `${mapName(m)}_${property}`), concept: c.name, property, datasource: m.datasource, sql });
  }

  #links(m: TriplesMap, { holder, r }: { readonly holder: DraftConcept; readonly r: RelationshipDef }, object: TermMap): void {
    const isOwn = m.own !== undefined && m.query !== undefined;
    const far = isOwn && object.template !== undefined ? { sql: object.template.columns, references: this.#draft.keyOf(r.target) } : this.#end(object);
    const near = m.subject === undefined ? [] : isOwn ? m.subject.columns : this.#keySql(m.subject, holder);
    const key = this.#draft.keyOf(holder.name);
    if (far === undefined || near.length !== key.length || key.length === 0 || far.sql.length !== far.references.length || r.kind !== 'mtm') {
      this.#draft.losses.push(
        `links of ${holder.name}.${r.name} in ${short(named(m.iri))}: ${r.kind === 'mtm' ? 'they do not lead from key to key' : 'it is a foreign key'}`,
      );
      return;
    }
    const names = (prefix: string, texts: readonly string[]): readonly string[] => (isOwn ? texts : texts.map((_, i) => `${prefix}${i + 1}`));
    const [from, to] = [names('from', near), names('to', far.sql)];
    const all = [...near, ...far.sql];
    const references = [...key, ...far.references];
    const list = all.map((text, i) => `${isOwn ? text : this.#draft.compared(text, references[i] ?? '')} AS ${quoteDouble([...from, ...to][i] ?? '')}`);
    const sql = isOwn
      ? (m.query ?? '')
      : `SELECT DISTINCT ${list.join(', ')} FROM ${fromOf(m, (loss) => this.#draft.once(loss))} WHERE ${all.map((a) => `${a} IS NOT NULL`).join(' AND ')}`;
    const link = {
      forward: { relationship: r.name, columns: to, concept: r.target, references: far.references },
      back: { relationship: r.inverse ?? `~${r.name}`, columns: from, concept: holder.name, references: key },
    };
    const name = this.#name(m.own ?? `${mapName(m)}_${r.name}`);
    this.#draft.mappings.push({ name, kind: 'link', concept: null, property: null, link, datasource: m.datasource, sql, columns: [] });
  }

  #push({
    name,
    concept,
    property,
    datasource = 'main',
    sql,
  }: {
    readonly name: string;
    readonly concept: string;
    readonly property?: string;
    readonly datasource?: string;
    readonly sql: string;
  }): void {
    const kind = property === undefined ? 'concept' : 'multi';
    this.#draft.mappings.push({ name, kind, concept, property: property ?? null, link: null, datasource, sql, columns: [] });
  }
}

/** The SQL of a value; undefined for an object. */
function sqlOf(object: TermMap): string | undefined {
  if (object.column !== undefined) return identifier(object.column);
  if (object.constant !== undefined) return quoteLiteral(object.constant.value);
  if (object.template === undefined) return undefined;
  return templateSql(object.template);
}

/** A template as SQL. */
function templateSql({ shape, columns }: Template): string {
  const parts = shape
    .split('{}')
    .flatMap((part, i) => [...(part === '' ? [] : [quoteLiteral(part)]), ...(columns[i] === undefined ? [] : [`${identifier(columns[i] ?? '')}::text`])]);
  return `(${parts.join(' || ')})`;
}
