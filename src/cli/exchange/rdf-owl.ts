/** An ontology in OWL (docs/exchange.md#owl-and-r2rml). */
import { printMapping, printMeasure, printView } from '../../language/print.ts';
import type { Concept, Relationship } from '../../ontology/graph.ts';
import type { PropertyDef, RelationshipDef, Tags } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { includedBy } from '../../ontology/parts.ts';
import type { Source } from './ossie-export.ts';
import type { R2rml } from './rdf-r2rml.ts';
import { type Iris, named, number, type Pair, Turtle, term, text, truth, typeOfRange, type Value, xsdOf } from './rdf-terms.ts';
import { titleOf } from './script-model.ts';

/** The version of what `kg:` annotations say. */
const KG_VERSION = '1';

/** Synonyms as labels, and all tags that those do not give back. */
function tagPairs(tags: Tags): Pair[] {
  const { synonyms, ...others } = tags;
  const parts = synonyms?.split(', ') ?? [];
  const isList = synonyms !== undefined && parts.every((s) => s.trim() === s && s !== '') && new Set(parts).size === parts.length;
  const exact = isList && [...parts].sort().join(', ') === synonyms ? others : tags;
  return [
    ...(isList ? parts.map((s): Pair => ['skos:altLabel', text(s)]) : []),
    ...(Object.keys(exact).length === 0 ? [] : [['kg:tags', text(JSON.stringify(exact))] as const]),
  ];
}

/** Objects in the order of their names. */
export const byName = <T extends { readonly name: string }>(objects: readonly T[]): T[] => [...objects].sort((a, b) => (a.name < b.name ? -1 : 1));

const described = (description: string | null): Pair[] => (description === null ? [] : [['rdfs:comment', text(description)]]);
const optional = (has: boolean, ...pairs: Pair[]): Pair[] => (has ? pairs : []);

/** Writes the OWL document. */
export class OwlExport {
  readonly #source: Source;
  readonly #iris: Iris;
  readonly #maps: R2rml;
  readonly #losses: string[] = [];

  constructor(source: Source, iris: Iris, maps: R2rml) {
    this.#source = source;
    this.#iris = iris;
    this.#maps = maps;
  }

  /** What OWL and R2RML say in `kg:` annotations only. */
  get losses(): readonly string[] {
    return this.#losses;
  }

  document(): string {
    const { graph } = this.#source;
    const turtle = new Turtle(this.#iris.base, ['owl', 'rdf', 'rdfs', 'skos', 'xsd', 'kg']);
    turtle.add(this.#iris.ontology, this.#ontology());
    // the order of objects has no meaning; this one makes the text the same for equal models
    const concepts = byName(graph.concepts);
    for (const c of concepts) turtle.add(this.#iris.concept(c.name), this.#concept(c));
    for (const p of byName(graph.model.properties)) turtle.add(this.#iris.property(p.name), this.#property(p));
    for (const c of concepts)
      for (const r of c.def?.relationships ?? []) {
        turtle.add(this.#iris.relationship(c.name, r.name), this.#relationship(c, r));
        if (r.inverse !== null) turtle.add(this.#iris.inverse(c.name, r.name), this.#inverse(c, r));
      }
    return String(turtle);
  }

  #ontology(): Pair[] {
    const { graph, name, others } = this.#source;
    const { measures, views, config } = graph.model;
    for (const m of measures) this.#losses.push(`measure ${m.name}: only in kg:statement, because OWL has no aggregates`);
    for (const v of views) this.#losses.push(`${v.cube ? 'cube' : 'view'} ${v.name}: only in kg:statement`);
    for (const m of this.#maps.unsaid) this.#losses.push(`mapping ${m.name}: only in kg:statement, because its columns are not those of keys`);
    for (const text of others) this.#losses.push(`${titleOf(text)}: only in kg:statement`);
    const statements = [...byName(measures).map(printMeasure), ...byName(views).map(printView), ...this.#maps.unsaid.map(printMapping), ...others];
    return [
      ['rdf:type', term('owl:Ontology')],
      ['kg:version', text(KG_VERSION)],
      ['kg:name', text(name)],
      ...described(graph.model.description),
      ...optional(Object.keys(config).length > 0, ['kg:settings', text(JSON.stringify(config))]),
      ...optional(statements.length > 0, ['kg:statements', { list: statements.map(text) }]),
    ];
  }

  #concept(c: Concept): Pair[] {
    const { def } = c;
    if (def === null) return [];
    const { logic } = def;
    const parents = [...def.parents, ...(logic === null || def.parents.some((p) => sameName(p, logic.concept)) ? [] : [logic.concept])];
    const listed = [...def.properties, ...def.multi];
    const list = (names: readonly string[]): Value => ({ list: names.map((p) => named(this.#iris.property(p))) });
    if (logic !== null) this.#losses.push(`condition of ${c.name}: only in kg:condition, because OWL has no SQL`);
    if (def.label.length > 0) this.#losses.push(`label of ${c.name}: only in kg:label`);
    const own = Object.keys(def.tags).filter((t) => t !== 'synonyms');
    if (own.length > 0) this.#losses.push(`tags of ${c.name}: only in kg:tags (${own.join(', ')})`);
    return [
      ['rdf:type', term('owl:Class')],
      ['rdfs:label', text(c.name)],
      ...described(def.description),
      ...tagPairs(def.tags),
      ...parents
        .filter((p) => this.#source.graph.concept(p) !== this.#source.graph.thing)
        .map((p): Pair => ['rdfs:subClassOf', named(this.#iris.concept(this.#nameOf(p)))]),
      ...optional(def.primaryKey.length > 0, ['owl:hasKey', list(def.primaryKey)]),
      ...optional(parents.length > 1, ['kg:parents', { list: parents.map((p) => text(this.#nameOf(p))) }]),
      ...optional(listed.length > 1, ['kg:properties', list(listed)]),
      ...optional(def.relationships.length > 1, ['kg:relationships', { list: def.relationships.map((r) => text(r.name)) }]),
      ...optional(def.label.length > 0, ['kg:label', list(def.label)]),
      ...optional(def.measures.length > 0, ['kg:measures', { list: def.measures.map(text) }]),
      ...(logic === null
        ? []
        : ([
            ['kg:derivedFrom', logic.concept.toLowerCase() === 'thing' ? term('owl:Thing') : named(this.#iris.concept(this.#nameOf(logic.concept)))],
            ['kg:schema', text(logic.schema)],
            ['kg:condition', text(logic.condition)],
            ['kg:inherits', truth(def.parents.some((p) => sameName(p, logic.concept)))],
          ] as Pair[])),
    ];
  }

  /** The name of a concept as declared. */
  #nameOf = (name: string): string => this.#source.graph.concept(name)?.name ?? name;

  #property(p: PropertyDef): Pair[] {
    const holders = byName(this.#source.graph.concepts).filter((c) =>
      [...(c.def?.properties ?? []), ...(c.def?.multi ?? [])].some((name) => sameName(name, p.name)),
    );
    const domain = holders.map((c) => named(this.#iris.concept(c.name)));
    const isExact = typeOfRange(xsdOf(p.type).value) === p.type;
    if (!isExact) this.#losses.push(`type ${p.type} of ${p.name}: only in kg:type`);
    if (p.expression !== null) this.#losses.push(`expression of ${p.name}: only in kg:expression, because OWL has no SQL`);
    const own = Object.keys(p.tags).filter((t) => t !== 'synonyms');
    if (own.length > 0) this.#losses.push(`tags of ${p.name}: only in kg:tags (${own.join(', ')})`);
    return [
      ['rdf:type', term('owl:DatatypeProperty')],
      ...optional(!p.multi, ['rdf:type', term('owl:FunctionalProperty')]),
      ['rdfs:label', text(p.name)],
      ...described(p.description),
      ...tagPairs(p.tags),
      ...(domain.length === 0
        ? []
        : [
            [
              'rdfs:domain',
              domain.length === 1
                ? (domain[0] as Value)
                : {
                    pairs: [
                      ['rdf:type', term('owl:Class')],
                      ['owl:unionOf', { list: domain }],
                    ],
                  },
            ] as Pair,
          ]),
      ['rdfs:range', xsdOf(p.type)],
      ...optional(!isExact, ['kg:type', text(p.type)]),
      ...optional(p.expression !== null, ['kg:expression', text(p.expression ?? '')]),
    ];
  }

  #relationship(c: Concept, r: RelationshipDef): Pair[] {
    const isSaid = r.kind === 'mtm' || this.#maps.hasKey(c.name, r.name);
    if (!isSaid) this.#losses.push(`columns of ${c.name}.${r.name}: only in kg:source, because no mapping of both concepts has them`);
    if (typeof r.transitive === 'number') this.#losses.push(`depth ${r.transitive} of ${c.name}.${r.name}: only in kg:depth`);
    for (const q of this.#included(c, r))
      if (q.isInverse && q.def.inverse === null) this.#losses.push(`${c.name}.${r.name} includes ${q.name}: only in kg:includes`);
    const list = (names: readonly string[]): Value => ({ list: names.map((p) => named(this.#iris.property(p))) });
    const target = this.#source.graph.concept(r.target);
    const toOne =
      r.kind === 'fk' &&
      r.symmetric !== true &&
      r.includes === undefined &&
      target?.key?.properties.every((k) => r.references.some((name) => sameName(name, k.name)));
    return [
      ['rdf:type', term('owl:ObjectProperty')],
      ...optional(toOne === true, ['rdf:type', term('owl:FunctionalProperty')]),
      ...optional(r.transitive !== null, ['rdf:type', term('owl:TransitiveProperty')]),
      ...optional(r.symmetric === true, ['rdf:type', term('owl:SymmetricProperty')]),
      ['kg:name', text(r.name)],
      ['rdfs:label', text(r.name)],
      ...described(r.description),
      ['rdfs:domain', named(this.#iris.concept(c.name))],
      ['rdfs:range', named(this.#iris.concept(target?.name ?? r.target))],
      ...this.#includedIn(c, r, false),
      ...optional(r.includes !== undefined, ['kg:includes', { list: (r.includes ?? []).map(text) }]),
      ...optional(typeof r.transitive === 'number', ['kg:depth', number(Number(r.transitive))]),
      ...optional(r.kind === 'fk', ['kg:columns', truth(true)]),
      ...optional(!isSaid, ['kg:source', list(r.source)], ['kg:references', list(r.references)]),
    ];
  }

  /** The relationships that include a direction of this one. */
  #includedIn(c: Concept, r: RelationshipDef, isInverse: boolean): Pair[] {
    return byName(this.#source.graph.concepts).flatMap((owner) =>
      (owner.def?.relationships ?? [])
        .filter((upper) => this.#included(owner, upper).some((q) => q.def === r && q.isInverse === isInverse && q.declaredBy === c))
        .map((upper): Pair => ['rdfs:subPropertyOf', named(this.#iris.relationship(owner.name, upper.name))]),
    );
  }

  #included(c: Concept, upper: RelationshipDef): readonly Relationship[] {
    const target = this.#source.graph.concept(upper.target);
    return target === undefined ? [] : (upper.includes ?? []).flatMap((name) => includedBy(c, name, target));
  }

  #inverse(c: Concept, r: RelationshipDef): Pair[] {
    return [
      ['rdf:type', term('owl:ObjectProperty')],
      ['kg:name', text(r.inverse ?? '')],
      ['rdfs:label', text(r.inverse ?? '')],
      ['owl:inverseOf', named(this.#iris.relationship(c.name, r.name))],
      ...this.#includedIn(c, r, true),
    ];
  }
}
