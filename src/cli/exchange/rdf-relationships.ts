/** Object properties as relationships. */
import type { RelationshipDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import type { DraftConcept } from './draft.ts';
import { classesOf, describedBy, type RdfContext } from './rdf-context.ts';
import { expand, localName, term } from './rdf-terms.ts';

/** Adds relationships. @returns what to call when their foreign keys are known: it adds the relationships that others include */
export function readRelationships(context: RdfContext): () => void {
  const { axioms, properties, maps } = context;
  const declared = axioms.typed('owl:ObjectProperty', 'owl:TransitiveProperty', 'owl:SymmetricProperty', 'rdf:Property').filter((p) => !properties.has(p));
  const used = maps
    .flatMap((m) => m.objects)
    .map((o) => o.predicate)
    .filter((p) => !properties.has(p));
  const all = new Set([...declared, ...used]);
  const isUsed = (iri: string): boolean => maps.some((m) => m.objects.some((o) => o.predicate === iri));
  const inverses = new Map<string, string>();
  for (const iri of all)
    for (const o of axioms.look(iri, 'owl:inverseOf')) {
      if (!all.has(o.value) || inverses.has(o.value) || [...inverses.values()].includes(iri)) {
        if (inverses.get(o.value) === iri || inverses.get(iri) === o.value) axioms.mark(iri, 'owl:inverseOf', o);
        continue;
      }
      // the direction that triples maps have is the declared one
      const [main, other] = isUsed(iri) && !isUsed(o.value) ? [iri, o.value] : [o.value, iri];
      if (isUsed(other) || inverses.has(main)) continue;
      inverses.set(main, other);
      axioms.mark(iri, 'owl:inverseOf', o);
    }
  const others = new Set(inverses.values());
  for (const iri of all) if (!others.has(iri)) relationship(context, iri, inverses.get(iri));
  for (const [iri, name] of context.concepts) {
    const listed = axioms.list(axioms.take(iri, 'kg:relationships')[0]).map((t) => t.value);
    const at = (r: RelationshipDef): number => listed.findIndex((q) => sameName(r.name, q)) + 1 || listed.length + 1;
    context.draft.concept(name)?.relationships.sort((a, b) => at(a) - at(b));
  }
  return () => {
    for (const iri of all) includes(context, iri, [...inverses].find(([, other]) => other === iri)?.[0]);
    for (const iri of all) inOrder(context, iri);
  };
}

/** What a range leads to: one concept, or the nearest one above all. */
function targetOf(context: RdfContext, names: readonly string[]): string | undefined {
  const [first, ...more] = names;
  if (first === undefined || more.length === 0) return first;
  return context.draft.lineage(first).find((c) => more.every((m) => context.draft.lineage(m).includes(c)))?.name;
}

/** The concepts at the ends of the links that triples maps have. */
function endsInMaps({ maps, concepts }: RdfContext, iri: string): { readonly from: readonly string[]; readonly to: readonly string[] } {
  const named = (classes: readonly string[]): string[] => classes.flatMap((c) => concepts.get(c) ?? []);
  const byShape = (shape: string | undefined): string[] =>
    named(maps.filter((m) => m.subject !== undefined && m.subject.shape === shape).flatMap((m) => m.classes));
  const from: string[] = [];
  const to: string[] = [];
  for (const m of maps)
    for (const { predicate, object } of m.objects) {
      if (predicate !== iri) continue;
      from.push(...(m.classes.length > 0 ? named(m.classes) : byShape(m.subject?.shape)));
      to.push(...(object.parent === undefined ? byShape(object.template?.shape) : named(maps.find((o) => o.iri === object.parent?.map)?.classes ?? [])));
    }
  return { from: [...new Set(from)], to: [...new Set(to)] };
}

function relationship(context: RdfContext, iri: string, inverse: string | undefined): void {
  const { axioms, draft, isOwn } = context;
  const name = axioms.text(iri, 'kg:name') ?? localName(iri);
  const ends = endsInMaps(context, iri);
  const or = (...lists: readonly (readonly string[])[]): readonly string[] => lists.find((l) => l.length > 0) ?? [];
  const domain = or(classesOf(context, iri, 'rdfs:domain'), inverse === undefined ? [] : classesOf(context, inverse, 'rdfs:range'), ends.from);
  const range = or(classesOf(context, iri, 'rdfs:range'), inverse === undefined ? [] : classesOf(context, inverse, 'rdfs:domain'), ends.to);
  const target = targetOf(context, range);
  axioms.mark(iri, 'rdf:type', term('owl:FunctionalProperty'));
  const { description, tags } = describedBy(context, iri, name);
  if (tags.synonyms !== undefined) draft.losses.push(`synonyms of ${name}: a relationship has no synonyms (${tags.synonyms})`);
  const inverseName = inverse === undefined ? null : (axioms.text(inverse, 'kg:name') ?? localName(inverse));
  if (inverse !== undefined) {
    const other = describedBy(context, inverse, inverseName ?? '');
    for (const text of [other.description, other.tags.synonyms])
      if (text) draft.losses.push(`description of ${inverseName}: the other direction of a relationship has no description (${text})`);
  }
  if (domain.length === 0 || target === undefined) {
    draft.losses.push(
      `relationship ${name}: ${domain.length === 0 ? 'no class is its domain' : range.length === 0 ? 'no class is its range' : `no concept is above ${range.join(', ')}`}`,
    );
    return;
  }
  const columns = {
    source: axioms.list(axioms.take(iri, 'kg:source')[0]).flatMap((t) => context.properties.get(t.value) ?? []),
    references: axioms.list(axioms.take(iri, 'kg:references')[0]).flatMap((t) => context.properties.get(t.value) ?? []),
  };
  axioms.take(iri, 'kg:columns');
  const depth = axioms.text(iri, 'kg:depth');
  for (const concept of domain) {
    const c = draft.addConcept(concept);
    const free = draft.lineage(concept).some((a) => a.properties.some((p) => sameName(p, name))) && !isOwn ? `${name}_link` : name;
    const traits = traitsOf(context, iri, c, target, depth);
    c.relationships.push({ name: free, kind: columns.source.length > 0 ? 'fk' : 'mtm', target, ...columns, inverse: inverseName, description, ...traits });
    context.relationships.set(iri, [...(context.relationships.get(iri) ?? []), { concept, name: free }]);
  }
}

/** Transitive and symmetric, where a walk makes sense. */
function traitsOf(
  { axioms, draft }: RdfContext,
  iri: string,
  c: DraftConcept,
  target: string,
  depth: string | undefined,
): Pick<RelationshipDef, 'transitive' | 'symmetric'> {
  const isRelated = draft.lineage(c.name).some((a) => sameName(a.name, target)) || draft.lineage(target).includes(c);
  const transitive = axioms.has(iri, 'rdf:type', 'owl:TransitiveProperty') && isRelated;
  const symmetric = axioms.has(iri, 'rdf:type', 'owl:SymmetricProperty') && sameName(c.name, target);
  for (const [is, type] of [
    [transitive, 'owl:TransitiveProperty'],
    [symmetric, 'owl:SymmetricProperty'],
  ] as const)
    if (axioms.has(iri, 'rdf:type', type)) {
      if (is) axioms.mark(iri, 'rdf:type', term(type));
      else draft.losses.push(`${type} of ${localName(iri)}: it leads from ${c.name} to ${target}`);
    }
  return { transitive: !transitive ? null : depth === undefined ? 'default' : Number(depth), ...(symmetric ? { symmetric: true as const } : {}) };
}

/** The directions that an IRI names: of a relationship, or of the other direction of one. */
function directionsOf(
  { draft, relationships }: RdfContext,
  iri: string,
  main: string | undefined,
): readonly { readonly concept: string; readonly name: string; readonly target: string }[] {
  return (relationships.get(main ?? iri) ?? []).flatMap(({ concept, name }) => {
    const r = draft.concept(concept)?.relationships.find((q) => sameName(q.name, name));
    if (r === undefined) return [];
    return main === undefined ? [{ concept, name, target: r.target }] : [{ concept: r.target, name: r.inverse ?? `~${name}`, target: concept }];
  });
}

/** Relationships that are part of another one. Each name is that of the concept, or of one above or below it. */
function includes(context: RdfContext, iri: string, main: string | undefined): void {
  const { axioms, draft, relationships } = context;
  for (const o of axioms.look(iri, 'rdfs:subPropertyOf')) {
    if (o.value === expand('owl:topObjectProperty')) axioms.mark(iri, 'rdfs:subPropertyOf', o);
    for (const upper of relationships.get(o.value) ?? []) {
      const above = draft.addConcept(upper.concept);
      const r = above.relationships.find((q) => sameName(q.name, upper.name));
      if (r === undefined || [above.name, r.target].some((name) => draft.keyOf(name).length === 0)) continue;
      for (const { concept, name, target } of directionsOf(context, iri, main)) {
        const below = draft.addConcept(concept);
        const isNear = draft.lineage(concept).includes(above) || draft.lineage(above.name).includes(below);
        if (!isNear || !draft.lineage(target).some((c) => sameName(c.name, r.target))) continue;
        const now = above.relationships.find((q) => sameName(q.name, upper.name)) ?? r;
        const parts = now.includes ?? [];
        above.relationships[above.relationships.indexOf(now)] = { ...now, includes: parts.some((p) => sameName(p, name)) ? parts : [...parts, name] };
        axioms.mark(iri, 'rdfs:subPropertyOf', o);
      }
    }
  }
}

/** The order of included relationships, and other directions of relationships, which have no IRI of their own. */
function inOrder({ axioms, draft, relationships }: RdfContext, iri: string): void {
  const listed = axioms.list(axioms.take(iri, 'kg:includes')[0]).map((t) => t.value);
  if (listed.length === 0) return;
  for (const { concept, name } of relationships.get(iri) ?? []) {
    const c = draft.addConcept(concept);
    const r = c.relationships.find((q) => sameName(q.name, name));
    const stated = r?.includes ?? [];
    const kept = listed.filter((l) => l.startsWith('~') || stated.some((n) => sameName(l, n)));
    if (r) c.relationships[c.relationships.indexOf(r)] = { ...r, includes: [...kept, ...stated.filter((n) => !kept.some((l) => sameName(l, n)))] };
  }
}
