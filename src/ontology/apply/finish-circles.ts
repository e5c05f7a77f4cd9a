/** Finds older texts that a script may have made circular: they read labels, keys or pairs of relationships that it changes. */
import { visited } from '../../budget.ts';
import type { ConceptDef, Model, RelationshipDef } from '../model.ts';
import { fold } from '../names.ts';
import { keyOf, type SqlPiece } from './context.ts';

/** How many characters are searched in the time of a step. */
const CHARACTERS_OF_A_STEP = 300;

/** A text of a model. */
interface Text {
  readonly kind: 'property' | 'logic';
  readonly name: string;
  readonly sql: string;
}

/**
 * The calculated properties and conditions of logic concepts that the script did not write but that read something it changed: a key, a label, or a relationship on a
 * path, also through INCLUDES. The planner must check that they do not depend on themselves.
 * @param offset the place of their errors
 */
export function mayBeCircular(before: Model, after: Model, written: readonly SqlPiece[], offset: number): SqlPiece[] {
  const own = new Set(written.map((p) => keyOf([p.kind, p.name])));
  const older = textsOf(after).filter((text) => /\[|\bentity_(?:id|label)\b/i.test(text.sql) && !own.has(keyOf([text.kind, text.name])));
  if (older.length === 0) return [];
  const concepts = new Map(before.concepts.map((c) => [fold(c.name), c]));
  const changed = after.concepts.map((c) => [concepts.get(fold(c.name)), c] as const).filter(([old, c]) => old !== c);
  const isShownOtherwise = changed.some(([old, c]) => old !== undefined && (!sameNames(old.label, c.label) || !sameNames(old.primaryKey, c.primaryKey)));
  const paths = including(
    after,
    changed.flatMap(([old, c]) => changedRelationships(old, c)),
  ).map((name) => `${name}[`);
  const isAffected = ({ sql }: Text): boolean => {
    if (isShownOtherwise && /\bentity_(?:id|label)\b/i.test(sql)) return true;
    const text = fold(sql);
    visited(1 + Math.ceil((paths.length * text.length) / CHARACTERS_OF_A_STEP));
    return paths.some((p) => text.includes(p));
  };
  return older.filter(isAffected).map(({ kind, name }) => ({ kind, name, offset }));
}

const textsOf = ({ properties, concepts }: Model): readonly Text[] => [
  ...properties.flatMap((p): Text[] => (p.expression === null ? [] : [{ kind: 'property', name: p.name, sql: p.expression }])),
  ...concepts.flatMap((c): Text[] => (c.logic === null ? [] : [{ kind: 'logic', name: c.name, sql: c.logic.condition }])),
];

const sameNames = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((name, i) => fold(name) === fold(b[i] ?? ''));

/** The relationships of a concept that are not as before. */
function changedRelationships(old: ConceptDef | undefined, { relationships }: ConceptDef): readonly RelationshipDef[] {
  const meaning = (r: RelationshipDef): string => fold(JSON.stringify({ ...r, description: null }));
  const known = new Set((old?.relationships ?? []).map(meaning));
  return relationships.filter((r) => !known.has(meaning(r)));
}

/** The folded names of relationships and of those that include them, in both directions. */
function including({ concepts }: Model, changed: readonly RelationshipDef[]): readonly string[] {
  const found = new Set(changed);
  const names = new Set<string>();
  const composed = concepts.flatMap((c) => c.relationships.filter((r) => r.includes !== undefined));
  for (const r of found) {
    for (const name of [r.name, r.inverse ?? `~${r.name}`]) names.add(fold(name));
    for (const other of composed) if (other.includes?.some((name) => names.has(fold(name)))) found.add(other);
  }
  return [...names];
}
