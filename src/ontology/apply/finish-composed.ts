/** Checks SYMMETRIC and INCLUDES of relationships at the end of a script (docs/design/paths-and-cardinality.md#symmetric-and-containing-relationships). */
import { badRequest, quoted } from '../../errors.ts';
import type { Concept, Graph, Relationship } from '../graph.ts';
import type { RelationshipDef } from '../model.ts';
import { relationshipsBelow } from '../parts.ts';
import { unknown } from './checks.ts';
import type { Places } from './context.ts';

/**
 * Checks one declaration.
 * @param twin the declaration of the same relationship by its target
 * @param offset the position of the relationship
 * @throws SvcError 400 `bad_symmetry`, `bad_includes`, `unknown_relationship`, `no_key`
 */
export function checkComposed(c: Concept, r: RelationshipDef, target: Concept, twin: RelationshipDef | null, offset: number | undefined, places: Places): void {
  if (!r.symmetric && r.includes === undefined) return;
  if (r.symmetric) checkSymmetric(c, r, target, twin, offset);
  for (const name of r.includes ?? []) checkIncluded(c, r, name, target, places.get('concept', c.name, 'relationship', r.name, 'include', name) ?? offset);
  const keyless = [c, target].find((end) => end.key === null);
  if (!keyless) return;
  throw badRequest(
    'no_key',
    `${relationshipOf(c, r)} needs a PRIMARY KEY of ${quoted(keyless.name)}, since SYMMETRIC and INCLUDES count each pair of rows once`,
    {
      offset,
    },
  );
}

const relationshipOf = (c: Concept, r: RelationshipDef): string => `the relationship ${quoted(r.name)} of ${quoted(c.name)}`;

function checkSymmetric(c: Concept, r: RelationshipDef, target: Concept, twin: RelationshipDef | null, offset: number | undefined): void {
  if (target !== c) {
    throw badRequest('bad_symmetry', `${relationshipOf(c, r)} cannot be SYMMETRIC, because it leads to ${quoted(target.name)}`, {
      offset,
      hint: 'only a relationship of a concept with itself can be symmetric',
    });
  }
  const inverse = r.inverse ?? twin?.name;
  if (inverse === undefined) return;
  throw badRequest('bad_symmetry', `${relationshipOf(c, r)} is SYMMETRIC and cannot have the inverse ${quoted(inverse)}`, {
    offset,
    hint: 'a symmetric relationship is its own inverse: remove INVERSEOF',
  });
}

function checkIncluded(c: Concept, r: RelationshipDef, name: string, target: Concept, offset: number | undefined): void {
  const found = relationshipsBelow(c, name);
  if (found.length === 0) {
    const known = [c, ...c.descendants].flatMap((d) => d.relationships.map((o) => o.name));
    throw unknown('relationship', name, offset, new Set(known), ` of ${quoted(c.name)} or a concept below it, included by ${quoted(r.name)}`);
  }
  if (found.some((o) => o.target.isA(target))) return;
  const ends = [...new Set(found.map((o) => quoted(o.target.name)))].join(' or ');
  throw badRequest('bad_includes', `${relationshipOf(c, r)} cannot include ${quoted(name)}, which leads to ${ends}, not to ${quoted(target.name)}`, {
    offset,
    hint: `an included relationship leads to ${quoted(target.name)} or to a concept below it`,
  });
}

type FindCycle = (nodes: Iterable<Relationship>, next: (node: Relationship) => readonly Relationship[]) => Relationship[] | undefined;

/** Checks that no relationship includes itself, directly or through others. @throws SvcError 400 `circular_includes` */
export function checkIncludesCycles(graph: Graph, findCycle: FindCycle, places: Places): void {
  const declared = (r: Relationship): Relationship => (r.isInverse ? r.reverse : r);
  const composed = graph.concepts
    .filter((c) => c.def?.relationships.some((r) => r.includes !== undefined))
    .flatMap((c) => c.relationships.filter((r) => r.included.length > 0).map(declared));
  const cycle = findCycle(new Set(composed), (r) => r.included.map(declared));
  if (!cycle) return;
  const names = cycle.map((r) => r.name);
  const isOwnInverse = cycle.length === 1 && cycle[0]?.included.includes(cycle[0].reverse);
  throw badRequest('circular_includes', `circular relationships: ${[...names, names[0] ?? ''].map(quoted).join(' includes ')}`, {
    offset: cycle.map((r) => places.near('concept', r.declaredBy.name, 'relationship', r.def.name)).find((o) => o !== undefined),
    ...(isOwnInverse ? { hint: 'SYMMETRIC makes the pairs of a relationship count in both directions' } : {}),
  });
}
