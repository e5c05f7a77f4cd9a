/** The shapes of an ontology's objects in SHACL (docs/exchange.md#shacl). */
import type { Concept } from '../../ontology/graph.ts';
import { sameName } from '../../ontology/names.ts';
import type { Source } from './ossie-export.ts';
import { byName } from './rdf-owl.ts';
import { type Iris, named, number, type Pair, Turtle, term, text, type Value, xsdOf } from './rdf-terms.ts';

/** One shape for each concept: types and numbers of values, and classes at the end of relationships. */
export function shaclOf({ graph }: Pick<Source, 'graph'>, iris: Iris): string {
  const turtle = new Turtle(iris.base, ['sh', 'xsd', 'rdf']);
  for (const c of byName(graph.concepts)) turtle.add(iris.shape(c.name), shape(c, iris));
  return String(turtle);
}

/** Inherited properties are checked by the shapes of ancestors, whose targets include subclasses. */
function shape(c: Concept, iris: Iris): Pair[] {
  const isKey = (name: string): boolean => c.key?.properties.some((k) => sameName(k.name, name)) ?? false;
  const own = [...c.properties, ...c.multi].filter((p) => p.owner === c && p.def.expression === null);
  const properties = own.map(({ def }): Value => {
    const pairs: Pair[] = [
      ['sh:path', named(iris.property(def.name))],
      ['sh:datatype', xsdOf(def.type)],
    ];
    if (isKey(def.name)) pairs.push(['sh:minCount', number(1)]);
    if (!def.multi) pairs.push(['sh:maxCount', number(1)]);
    if (def.description !== null) pairs.push(['sh:description', text(def.description)]);
    return { pairs };
  });
  const links = c.relationships.filter((r) => !r.isInverse && r.declaredBy === c);
  const relationships = links.map((r): Value => {
    const toOne = r.kind === 'fk' && r.target.key?.properties.every((k) => r.references.some((p) => sameName(p.name, k.name)));
    const pairs: Pair[] = [
      ['sh:path', named(iris.relationship(c.name, r.name))],
      ['sh:class', named(iris.concept(r.target.name))],
    ];
    if (toOne) pairs.push(['sh:maxCount', number(1)]);
    return { pairs };
  });
  return [
    ['rdf:type', term('sh:NodeShape')],
    ['sh:targetClass', named(iris.concept(c.name))],
    ...[...properties, ...relationships].map((p): Pair => ['sh:property', p]),
  ];
}
