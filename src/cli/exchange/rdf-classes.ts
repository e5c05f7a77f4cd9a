/** The hierarchy of classes, and classes that are defined by others. */
import { DataFactory, type Literal, type Term } from 'n3';
import { quoteBack, quoteLiteral } from '../../language/quote.ts';
import { sameName } from '../../ontology/names.ts';
import type { DraftConcept } from './draft.ts';
import type { RdfContext } from './rdf-context.ts';
import { expand, NAMESPACES, term } from './rdf-terms.ts';

/** Adds parents and logic concepts. */
export function readHierarchy(context: RdfContext): void {
  const { axioms, draft, concepts } = context;
  for (const [iri, name] of concepts) {
    const c = draft.addConcept(name);
    own(context, iri, c);
    for (const o of [...axioms.look(iri, 'rdfs:subClassOf'), ...axioms.look(iri, 'skos:broader')]) superClass(context, iri, c, o);
    for (const o of axioms.look(iri, 'skos:narrower')) {
      const below = draft.concept(concepts.get(o.value) ?? '');
      if (below !== undefined && addParent(context, below, c)) axioms.mark(iri, 'skos:narrower', o);
    }
  }
  for (const [iri, name] of concepts) {
    const c = draft.addConcept(name);
    const listed = axioms.list(axioms.take(iri, 'kg:parents')[0]).map((t) => t.value);
    const at = (p: string): number => listed.findIndex((q) => sameName(p, q)) + 1 || listed.length + 1;
    c.parents.sort((a, b) => at(a) - at(b));
  }
  for (const [iri, name] of concepts) defined(context, iri, draft.addConcept(name));
}

/** A logic concept of this service. */
function own({ axioms, concepts }: RdfContext, iri: string, c: DraftConcept): void {
  const [from] = axioms.take(iri, 'kg:derivedFrom');
  const condition = axioms.text(iri, 'kg:condition');
  const schema = axioms.text(iri, 'kg:schema');
  const inherits = axioms.text(iri, 'kg:inherits');
  if (from === undefined || condition === undefined) return;
  const concept = concepts.get(from.value) ?? 'thing';
  c.logic = { schema: schema === 'svc' || schema === 'esvc' ? schema : 'dsvc', concept, condition };
  if (inherits === 'false') axioms.mark(iri, 'rdfs:subClassOf', from);
}

/** @returns whether the parent could be added: a concept cannot be an ancestor of itself */
function addParent({ draft }: RdfContext, c: DraftConcept, parent: DraftConcept): boolean {
  if (draft.lineage(parent.name).includes(c)) return false;
  if (!c.parents.some((p) => sameName(p, parent.name))) c.parents.push(parent.name);
  return true;
}

function superClass(context: RdfContext, iri: string, c: DraftConcept, o: Term): void {
  const { axioms, draft, concepts } = context;
  const mark = (): void => {
    axioms.mark(iri, 'rdfs:subClassOf', o);
    axioms.mark(iri, 'skos:broader', o);
  };
  const parent = draft.concept(concepts.get(o.value) ?? '');
  const isSource = c.logic !== null && parent !== undefined && sameName(c.logic.concept, parent.name) && axioms.look(iri, 'kg:inherits')[0]?.value === 'false';
  if (o.value === expand('owl:Thing') || isSource) mark();
  else if (parent !== undefined) {
    if (addParent(context, c, parent)) mark();
  } else if (o.termType === 'BlankNode' && isSingle(context, o)) {
    // a property has one value unless it is multi-valued
    mark();
    axioms.markBelow(o);
  }
}

const isSingle = ({ axioms, properties }: RdfContext, o: Term): boolean =>
  (['owl:maxCardinality', 'owl:maxQualifiedCardinality'] as const).some((p) => axioms.look(o, p).some((n) => n.value === '1')) &&
  axioms.look(o, 'owl:onProperty').some((p) => properties.has(p.value));

/** A class that is a union has its members below it; one that is an intersection is a logic concept. */
function defined(context: RdfContext, iri: string, c: DraftConcept): void {
  const { axioms } = context;
  for (const o of [...axioms.look(iri, 'owl:equivalentClass').filter((e) => e.termType === 'BlankNode'), DataFactory.namedNode(iri)]) {
    const [union] = axioms.look(o, 'owl:unionOf');
    const [intersection] = axioms.look(o, 'owl:intersectionOf');
    const isDone = (union !== undefined && unionOf(context, c, union)) || (intersection !== undefined && intersectionOf(context, c, intersection));
    if (!isDone) continue;
    if (o.termType === 'BlankNode') {
      axioms.mark(iri, 'owl:equivalentClass', o);
      axioms.markBelow(o);
    } else
      for (const [p, head] of [
        ['owl:unionOf', union],
        ['owl:intersectionOf', intersection],
      ] as const)
        if (head !== undefined) {
          axioms.mark(iri, p, head);
          axioms.markBelow(head);
        }
  }
}

/** Members of a list, without a record. */
function members({ axioms }: RdfContext, head: Term): Term[] {
  const found: Term[] = [];
  for (let at: Term | undefined = head; at !== undefined && at.value !== expand('rdf:nil') && found.length < 10_000; [at] = axioms.look(at, 'rdf:rest'))
    found.push(...axioms.look(at, 'rdf:first').slice(0, 1));
  return found;
}

function unionOf(context: RdfContext, c: DraftConcept, head: Term): boolean {
  const all = members(context, head).map((m) => context.draft.concept(context.concepts.get(m.value) ?? ''));
  const isMapped = context.maps.some((m) => m.classes.some((iri) => context.concepts.get(iri) === c.name));
  if (isMapped || all.some((m) => m === undefined || context.draft.lineage(c.name).includes(m))) return false;
  for (const m of all) if (m) addParent(context, m, c);
  return true;
}

function intersectionOf(context: RdfContext, c: DraftConcept, head: Term): boolean {
  const { draft, concepts } = context;
  const all = members(context, head);
  const base = all.map((m) => draft.concept(concepts.get(m.value) ?? '')).find((m) => m !== undefined);
  if (base === undefined || c.logic !== null || draft.lineage(base.name).includes(c)) return false;
  const conditions = all.filter((m) => concepts.get(m.value) !== base.name).map((m) => conditionOf(context, m, base));
  if (conditions.length === 0 || conditions.includes(undefined)) return false;
  c.logic = { schema: 'dsvc', concept: base.name, condition: conditions.join(' AND ') };
  return addParent(context, c, base);
}

const FACETS: Readonly<Record<string, string>> = { minInclusive: '>=', maxInclusive: '<=', minExclusive: '>', maxExclusive: '<' };

/** The condition of a member of an intersection, on the rows of a concept. */
function conditionOf(context: RdfContext, m: Term, base: DraftConcept): string | undefined {
  const { axioms, draft, concepts } = context;
  const isBelow = (name: string | undefined): name is string => name !== undefined && draft.descendants(base.name).some((d) => sameName(d.name, name));
  const member = concepts.get(m.value);
  if (isBelow(member)) return quoteBack(`_type_of_${member}`);
  const not = concepts.get(axioms.look(m, 'owl:complementOf')[0]?.value ?? '');
  if (isBelow(not)) return `NOT ${quoteBack(`_type_of_${not}`)}`;
  const property = context.properties.get(axioms.look(m, 'owl:onProperty')[0]?.value ?? '');
  if (property === undefined) return undefined;
  const [value] = axioms.look(m, 'owl:hasValue');
  if (value?.termType === 'Literal') return `${quoteBack(property)} = ${literal(value)}`;
  const [range] = axioms.look(m, 'owl:someValuesFrom');
  const [facets] = range === undefined ? [] : axioms.look(range, 'owl:withRestrictions');
  if (facets === undefined) return undefined;
  const conditions = members(context, facets).flatMap((f) =>
    Object.entries(FACETS).flatMap(([facet, operator]) =>
      axioms.look(f, `xsd:${facet}`).map((v) => `${quoteBack(property)} ${operator} ${literal(v as Literal)}`),
    ),
  );
  return conditions.length === 0 ? undefined : conditions.join(' AND ');
}

/** A literal in SQL. */
function literal(l: Literal): string {
  const type = l.datatype.value.startsWith(NAMESPACES.xsd) ? l.datatype.value.slice(NAMESPACES.xsd.length) : '';
  const isNumber =
    /^(integer|int|long|short|byte|decimal|double|float|nonNegativeInteger|positiveInteger)$/.test(type) && /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(l.value);
  if (isNumber || l.datatype.value === term('xsd:boolean').value) return l.value === '1' && !isNumber ? 'true' : l.value;
  return quoteLiteral(l.value);
}
