/** OWL, RDFS and SKOS documents with R2RML as an ontology (docs/exchange.md#owl-and-r2rml). */
import type { Store, Term } from 'n3';
import type { SqlReader } from '../../ontology/apply.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { Draft } from './draft.ts';
import { UniqueNames } from './ossie-export.ts';
import type { Imported } from './ossie-import.ts';
import { Axioms, short } from './rdf-axioms.ts';
import { readHierarchy } from './rdf-classes.ts';
import { classesOf, describedBy, type RdfContext, textMap } from './rdf-context.ts';
import { RdfMappings } from './rdf-mappings.ts';
import { readMaps, type TriplesMap } from './rdf-maps.ts';
import { readRelationships } from './rdf-relationships.ts';
import { expand, localName, named, term, typeOfRange } from './rdf-terms.ts';
import { definitionsOf } from './script-model.ts';

/** Converts documents. Every axiom that is not converted is in `losses`. */
export function importRdf(store: Store, reader: SqlReader): Imported {
  const axioms = new Axioms(store);
  const draft = new Draft();
  const ontologies = axioms.typed('owl:Ontology');
  const iri = ontologies.find((o) => axioms.text(o, 'kg:version') !== undefined) ?? ontologies[0];
  const isOwn = iri !== undefined && axioms.look(iri, 'kg:version').length > 0;
  const context: RdfContext = {
    axioms,
    draft,
    maps: readMaps(axioms, draft.losses),
    isOwn,
    concepts: new Map(),
    properties: new Map(),
    relationships: new Map(),
  };
  const statements = iri === undefined ? [] : ontology(context, iri, reader);
  const name = (iri && axioms.text(iri, 'kg:name')) ?? fold((iri === undefined ? '' : localName(iri)).replace(/\.\w+$/, '')).replace(/[^\p{L}\p{N}_]+/gu, '_');
  shapes(context);
  classes(context);
  properties(context);
  readHierarchy(context);
  const finish = readRelationships(context);
  const mappings = new RdfMappings(context.maps, draft, context);
  mappings.structure();
  finish();
  mappings.mappings();
  if (draft.untyped.length > 0) draft.losses.push(`no type is given for ${draft.untyped.join(', ')}: string is assumed`);
  draft.losses.push(...axioms.left().map((line) => `axiom ${line}`));
  return { name: name || 'ontology', model: draft.model(), statements, losses: draft.losses };
}

/** The annotations of the ontology itself. @returns statements to add */
function ontology({ axioms, draft }: RdfContext, iri: string, reader: SqlReader): readonly string[] {
  draft.description = axioms.text(iri, 'rdfs:comment') ?? null;
  const settings = axioms.text(iri, 'kg:settings');
  if (settings !== undefined) draft.config = textMap(settings, `kg:settings of ${localName(iri)}`);
  const texts = axioms.list(axioms.take(iri, 'kg:statements')[0]).map((t) => t.value);
  const defined = definitionsOf(texts, reader);
  for (const p of defined.properties) draft.define(p);
  draft.measures.push(...defined.measures);
  return defined.others;
}

/** Shapes of an export repeat what the other documents say. Shapes of other tools have no place in a model. */
function shapes({ axioms, draft, isOwn }: RdfContext): void {
  for (const iri of axioms.typed('sh:NodeShape', 'sh:PropertyShape')) {
    if (!isOwn) draft.losses.push(`shape ${short(named(iri))}: constraints on values have no place in an ontology`);
    axioms.markAll(iri);
  }
}

function classes(context: RdfContext): void {
  const { axioms, draft, concepts } = context;
  const names = new UniqueNames();
  // the root of all concepts has this name
  names.take('thing', 'concept');
  const used = [...axioms.subjects('rdfs:subClassOf'), ...axioms.subjects('rdfs:domain').flatMap((p) => axioms.look(p, 'rdfs:domain'))];
  const all = [
    ...axioms.typed('owl:Class', 'rdfs:Class', 'skos:Concept'),
    ...used.filter((t) => t.termType === 'NamedNode').map((t) => t.value),
    ...context.maps.flatMap((m) => m.classes),
  ];
  for (const iri of new Set(all)) {
    if (iri === expand('owl:Thing') || iri === expand('owl:Nothing') || iri === expand('rdfs:Resource')) continue;
    const name = names.take(localName(iri), 'concept');
    concepts.set(iri, name);
    const made = draft.addConcept(name);
    const { description, tags } = describedBy(context, iri, name);
    made.description = description;
    made.tags = tags;
  }
}

/** Datatype properties, and those that only triples maps use. */
function properties(context: RdfContext): void {
  const { axioms, draft, maps } = context;
  const isLiteral = (o: Term): boolean => typeOfRange(o.value) !== undefined;
  const plain = axioms
    .typed('rdf:Property')
    .filter((p) => axioms.look(p, 'rdfs:range').some(isLiteral) || (axioms.look(p, 'rdfs:range').length === 0 && usesColumn(maps, p)));
  const declared = new Set([...axioms.typed('owl:DatatypeProperty'), ...plain]);
  const objects = new Set(
    [...axioms.subjects('rdf:type', term('owl:ObjectProperty')), ...axioms.subjects('rdf:type', term('rdf:Property'))].map((t) => t.value),
  );
  const used = maps
    .flatMap((m) => m.objects)
    .filter((o) => !declared.has(o.predicate) && !objects.has(o.predicate) && isValue(o.object))
    .map((o) => o.predicate);
  const names = new UniqueNames();
  for (const iri of new Set([...declared, ...used])) property(context, iri, names.take(localName(iri), 'property'));
  for (const c of draft.concepts) order(context, c.name);
}

const isValue = (o: TriplesMap['objects'][number]['object']): boolean =>
  o.column !== undefined || (o.constant !== undefined && o.constant.termType === 'Literal');
const usesColumn = (maps: readonly TriplesMap[], iri: string): boolean => maps.some((m) => m.objects.some((o) => o.predicate === iri && isValue(o.object)));

function property(context: RdfContext, iri: string, name: string): void {
  const { axioms, draft, maps, isOwn } = context;
  context.properties.set(iri, name);
  const isFunctional = axioms.has(iri, 'rdf:type', 'owl:FunctionalProperty');
  axioms.mark(iri, 'rdf:type', term('owl:FunctionalProperty'));
  const [range] = axioms.look(iri, 'rdfs:range').filter((o) => typeOfRange(o.value) !== undefined);
  if (range) axioms.mark(iri, 'rdfs:range', range);
  const uses = maps.filter((m) => m.objects.some((o) => o.predicate === iri));
  const inMaps = uses.flatMap((m) => m.objects.filter((o) => o.predicate === iri).flatMap((o) => o.object.datatype ?? []))[0];
  const type = axioms.text(iri, 'kg:type') ?? (range ? typeOfRange(range.value) : inMaps === undefined ? undefined : typeOfRange(inMaps));
  const isSide = uses.length > 0 && uses.every((m) => m.classes.length === 0);
  const multi = isOwn ? !isFunctional : isSide && !isFunctional;
  const expression = axioms.text(iri, 'kg:expression') ?? null;
  const { description, tags } = describedBy(context, iri, name);
  if (type === undefined) draft.addProperty({ name, type, multi, description, tags, expression }, name);
  else draft.define({ name, type, multi, description, tags, expression });
  const domain = classesOf(context, iri, 'rdfs:domain');
  const holders = domain.length > 0 ? domain : isSide ? [] : uses.flatMap((m) => m.classes.flatMap((c) => context.concepts.get(c) ?? []));
  if (holders.length === 0 && !isOwn && !isSide) draft.losses.push(`property ${name}: no class is its domain, so no concept has it`);
  for (const holder of new Set(holders)) {
    const c = draft.concept(holder);
    (multi ? c?.multi : c?.properties)?.push(name);
  }
}

/** Puts the properties of a concept in their order. A property of an ancestor is not listed again by documents of other tools. */
function order({ axioms, draft, concepts, properties: known }: RdfContext, concept: string): void {
  const iri = [...concepts].find(([, name]) => name === concept)?.[0] ?? '';
  const listed = axioms.list(axioms.take(iri, 'kg:properties')[0]).flatMap((t) => known.get(t.value) ?? []);
  const c = draft.concept(concept);
  if (c === undefined) return;
  const at = (p: string): number => listed.findIndex((q) => sameName(q, p)) + 1 || listed.length + 1;
  c.properties.sort((a, b) => at(a) - at(b));
  c.multi.sort((a, b) => at(a) - at(b));
  c.label = axioms.list(axioms.take(iri, 'kg:label')[0]).flatMap((t) => known.get(t.value) ?? []);
  c.measures = axioms.list(axioms.take(iri, 'kg:measures')[0]).map((t) => t.value);
  c.key = axioms.list(axioms.take(iri, 'owl:hasKey')[0]).flatMap((t) => known.get(t.value) ?? []);
}
