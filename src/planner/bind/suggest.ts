/** Hints for names that a concept does not have: paths that are written in another form, measures, and relationships of other concepts. */
import { visited } from '../../budget.ts';
import { pathHint } from '../../language/hints.ts';
import type { Concept } from '../../ontology/graph.ts';
import { sameName } from '../../ontology/names.ts';
import { columnNames, ENTITY, propertyOf } from '../plan/concept-columns.ts';

/** The longest way to another concept that a hint shows, in hops. */
const MAX_HOPS = 3;
/** The number of concepts that the search for a way visits. */
const MAX_CONCEPTS = 300;

/**
 * A hint for an unknown name.
 * @param concept the concept as the caller sees it
 * @param isMisspelt true if a known name is similar
 * @param where where paths and measures can be read, if not here, such as `from dsvc.order`; empty: here
 */
export function hintFor(concept: Concept, name: string, where: string, isMisspelt = false): string | undefined {
  const bare = name.replace(/^measure\./i, '');
  const measure = concept.measures.find((m) => sameName(m.def.name, bare));
  if (measure) return `It is a measure. Write SUM("measure.${measure.def.name}")${where}. The aggregate only marks the measure.`;
  const path = pathMeant(concept, name) ?? pathMeant(concept, `~${name}`);
  if (path !== undefined) return pathHint(path, where);
  const bracketed = /^~?\w+\(\w+\)\.\w/.test(name) && concept.relationship(/^~?\w+/.exec(name)?.[0] ?? '').length > 0;
  if (bracketed) return pathHint(name.replace(/\(([^()]*)\)/g, '[$1]'), where);
  const far = isMisspelt ? undefined : wayTo(concept, (target) => propertyOf(target, name.toLowerCase(), false));
  return far && `It is a property of \`${far.target.name}\`. ${pathHint(`${far.path}${far.found.name}`, where)}`;
}

/** A hint for a name that may be a text in double quotes; undefined if it looks like a path. */
export const textHint = (name: string): string | undefined =>
  /[[\].'"]/.test(name) || name.length > 60 ? undefined : `Double quotes are for names. Write a text in single quotes: '${name}'.`;

/** The path that relationships without brackets mean: `owns`, `owns.plate`, `owns.has_job.hours`. */
function pathMeant(concept: Concept, name: string): string | undefined {
  const parts = name.split('.');
  let at = concept;
  let path = '';
  for (const [i, part] of parts.entries()) {
    const target = at.relationship(part)[0]?.target;
    const isLast = i === parts.length - 1;
    if (target === undefined) return isLast && path !== '' ? `${path}${propertyIn(at, part)}` : undefined;
    path += `${part}[${target.name}].`;
    at = target;
  }
  return `${path}${propertyIn(at, '')}`;
}

/** The property of that name, or else the first property. */
function propertyIn(concept: Concept, name: string): string {
  const names = columnNames(concept, true);
  return propertyOf(concept, name.toLowerCase(), true)?.name ?? names.find((n) => !ENTITY.has(n)) ?? 'entity_id';
}

/**
 * A hint for a relationship that another concept has, with the way there.
 * @param before the part of the path before the relationship
 * @param rest the path from the relationship on
 */
export function hintForRelationship(from: Concept, name: string, before: string, rest: string): string | undefined {
  const far = wayTo(from, (target) => target.relationship(name)[0]);
  return far && `It is a relationship of \`${far.target.name}\`. Write "${before}${far.path}${rest}".`;
}

/** The nearest concept where `find` finds something, and the path there. */
function wayTo<T>(from: Concept, find: (target: Concept) => T | undefined): { readonly target: Concept; readonly path: string; readonly found: T } | undefined {
  const seen = new Set<Concept>([from]);
  let ways: readonly { readonly at: Concept; readonly path: string }[] = [{ at: from, path: '' }];
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const next: { readonly at: Concept; readonly path: string }[] = [];
    for (const { at, path } of ways)
      for (const { name: step, target } of at.relationships) {
        visited();
        if (seen.has(target) || !target.readable || seen.size > MAX_CONCEPTS) continue;
        seen.add(target);
        const way = `${path}${step}[${target.name}].`;
        const found = find(target);
        if (found !== undefined) return { target, path: way, found };
        next.push({ at: target, path: way });
      }
    ways = next;
  }
  return undefined;
}
