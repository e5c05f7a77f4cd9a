/** The mappings of an ontology in R2RML (docs/exchange.md#owl-and-r2rml). */
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import type { LinkEnd, MappingDef, PropertyDef } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { identifier } from './expressions.ts';
import { type Iris, named, type Pair, Turtle, term, text, type Value, xsdOf } from './rdf-terms.ts';

/** The column of a mapping with the values of a property. A mapping whose columns are not known is taken to have all. */
const columnOf = (m: MappingDef, property: string): string | undefined =>
  m.columns.length === 0 ? property : m.columns.find((c) => sameName(c.name, property))?.name;

const braces = (column: string): string => `{${identifier(column).replace(/[\\{}]/g, '\\$&')}}`;

/** Writes triples maps. */
export class R2rml {
  readonly #graph: Graph;
  readonly #iris: Iris;
  /** Mappings that are not written, because R2RML has no place for them. */
  readonly unsaid: MappingDef[] = [];
  readonly #keys = new Set<string>();
  readonly #maps: { readonly iri: string; readonly pairs: readonly Pair[] }[] = [];

  constructor(graph: Graph, iris: Iris) {
    this.#graph = graph;
    this.#iris = iris;
    for (const m of [...graph.model.mappings].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const pairs = m.kind === 'concept' ? this.#rows(m) : m.kind === 'multi' ? this.#values(m) : this.#links(m);
      if (pairs === undefined) this.unsaid.push(m);
      else this.#maps.push({ iri: iris.mapping(m.name), pairs: [...this.#table(m), ...pairs] });
    }
  }

  /** Whether the columns of a foreign key are written. */
  hasKey = (concept: string, relationship: string): boolean => this.#keys.has(fold(`${concept}.${relationship}`));

  document(): string {
    const turtle = new Turtle(this.#iris.base, ['rr', 'xsd', 'kg', 'rdf']);
    for (const { iri, pairs } of this.#maps) turtle.add(iri, pairs);
    return String(turtle);
  }

  #table(m: MappingDef): Pair[] {
    return [
      ['rdf:type', term('rr:TriplesMap')],
      ['kg:name', text(m.name)],
      ...(m.datasource === 'main' ? [] : [['kg:datasource', text(m.datasource)] as Pair]),
      ['rr:logicalTable', { pairs: [['rr:sqlQuery', text(m.sql)]] }],
    ];
  }

  /** The template of the objects of a concept. Concepts with one key share it. @param columns the columns of the key, in its order */
  #template(c: Concept, columns: readonly string[]): string {
    return `${this.#iris.object((c.key?.holder ?? c).name)}/${columns.map(braces).join('/')}`;
  }

  #subject(c: Concept, columns: readonly string[], isTyped: boolean): Pair {
    const pairs: Pair[] = [['rr:template', text(this.#template(c, columns))]];
    if (c.key === null) pairs.push(['rr:termType', term('rr:BlankNode')]);
    if (isTyped) pairs.push(['rr:class', named(this.#iris.concept(c.name))]);
    return ['rr:subjectMap', { pairs }];
  }

  #column(p: PropertyDef, column: string): Pair {
    const object: Value = {
      pairs: [
        ['rr:column', text(identifier(column))],
        ['rr:datatype', xsdOf(p.type)],
      ],
    };
    return [
      'rr:predicateObjectMap',
      {
        pairs: [
          ['rr:predicate', named(this.#iris.property(p.name))],
          ['rr:objectMap', object],
        ],
      },
    ];
  }

  #rows(m: MappingDef): Pair[] | undefined {
    const c = this.#graph.concept(m.concept ?? '');
    const key = c && this.#subjectColumns(m, c);
    if (c === undefined || key === undefined) return undefined;
    const links = c.relationships.filter((r) => !r.isInverse && r.kind === 'fk').flatMap((r) => this.#foreignKey(m, r));
    return [this.#subject(c, key, true), ...this.#stored(m, c).map(({ def, column }) => this.#column(def, column)), ...links];
  }

  /** The properties of a concept that a mapping has, with their columns. */
  #stored = (m: MappingDef, c: Concept): readonly { readonly def: PropertyDef; readonly column: string }[] =>
    c.properties.flatMap(({ def }) => {
      const column = def.expression === null ? columnOf(m, def.name) : undefined;
      return column === undefined ? [] : [{ def, column }];
    });

  /** The columns that identify the objects of a mapping; undefined if it lacks one of them, so that it has no triples map. */
  #subjectColumns(m: MappingDef, c: Concept): readonly string[] | undefined {
    const key = c.key?.properties.map((k) => columnOf(m, k.name)) ?? this.#stored(m, c).map((s) => s.column);
    return key.length === 0 || key.includes(undefined) ? undefined : (key as string[]);
  }

  /** A foreign key joins the triples maps of the target and of the concepts below it. */
  #foreignKey(m: MappingDef, r: Relationship): Pair[] {
    const child = r.source.map((p) => (p.expression === null ? columnOf(m, p.name) : undefined));
    if (child.includes(undefined)) return [];
    const parents = [r.target, ...r.target.descendants]
      .flatMap((t) => t.mappings.filter((parent) => this.#subjectColumns(parent, t) !== undefined))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const objects = parents.flatMap((parent): Pair[] => {
      const columns = r.references.map((p) => (p.expression === null ? columnOf(parent, p.name) : undefined));
      if (columns.includes(undefined)) return [];
      const joins = columns.map(
        (column, i): Pair => [
          'rr:joinCondition',
          {
            pairs: [
              ['rr:child', text(identifier(child[i] ?? ''))],
              ['rr:parent', text(identifier(column ?? ''))],
            ],
          },
        ],
      );
      return [['rr:objectMap', { pairs: [['rr:parentTriplesMap', named(this.#iris.mapping(parent.name))], ...joins] }]];
    });
    if (objects.length === 0) return [];
    this.#keys.add(fold(`${r.declaredBy.name}.${r.def.name}`));
    return [['rr:predicateObjectMap', { pairs: [['rr:predicate', named(this.#iris.relationship(r.declaredBy.name, r.def.name))], ...objects] }]];
  }

  #values(m: MappingDef): Pair[] | undefined {
    const c = this.#graph.concept(m.concept ?? '');
    const property = this.#graph.property(m.property ?? '');
    const key = c?.key?.properties.map((k) => columnOf(m, k.name));
    const value = property && columnOf(m, property.name);
    if (c === undefined || property === undefined || key === undefined || key.includes(undefined) || value === undefined) return undefined;
    return [this.#subject(c, key as string[], false), ['kg:valuesOf', named(this.#iris.concept(c.name))], this.#column(property, value)];
  }

  /** Links between keys, from the concept that declares the relationship. */
  #links(m: MappingDef): Pair[] | undefined {
    const [forward, back] = [m.link?.forward, m.link?.back];
    if (forward === undefined || back === undefined) return undefined;
    const from = this.#graph.concept(back.concept);
    const r = from?.def?.relationships.find((q) => q.kind === 'mtm' && sameName(q.name, forward.relationship));
    const target = this.#graph.concept(forward.concept);
    if (
      from === undefined ||
      r === undefined ||
      target === undefined ||
      !sameName(r.target, target.name) ||
      !sameName(back.relationship, r.inverse ?? `~${r.name}`)
    )
      return undefined;
    const [near, far] = [inOrder(from, back), inOrder(target, forward)];
    if (near === undefined || far === undefined) return undefined;
    return [
      this.#subject(from, near, false),
      [
        'rr:predicateObjectMap',
        {
          pairs: [
            ['rr:predicate', named(this.#iris.relationship(from.name, r.name))],
            ['rr:objectMap', { pairs: [['rr:template', text(this.#template(target, far))]] }],
          ],
        },
      ],
    ];
  }
}

/** The columns of an end in the order of the concept's key; undefined if they do not refer to the key in that order. */
const inOrder = (c: Concept, end: LinkEnd): readonly string[] | undefined =>
  c.key !== null && c.key.properties.length === end.references.length && c.key.properties.every((k, i) => sameName(k.name, end.references[i] ?? ''))
    ? end.columns
    : undefined;
