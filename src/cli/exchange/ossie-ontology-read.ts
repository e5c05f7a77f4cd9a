/** What the relationships of an ontology document say in expressions and verbalizations. */
import { fold } from '../../ontology/names.ts';
import type { Component, OntologyRelationship } from './ossie-types.ts';

/** The names of a dotted call, `a.b(c)`; undefined for any other expression. */
function callOf(text: string): { readonly names: readonly string[]; readonly argument: string } | undefined {
  const found = /^\s*([\w".]+)\s*\(\s*([\w"]+)\s*\)\s*$/.exec(text);
  if (found === null) return undefined;
  const plain = (name: string): string => fold(name.replaceAll('"', ''));
  return { names: (found[1] ?? '').split('.').map(plain), argument: plain(found[2] ?? '') };
}

/**
 * The relationship whose transitive closure another relationship is. A closure is derived by the relationship itself, and by one step of it after the closure.
 * @returns the name of the base relationship, or undefined if the relationship is not a closure
 */
export function closureOf(c: Component, r: OntologyRelationship): string | undefined {
  const calls = (r.derived_by ?? []).map(callOf);
  if (calls.length !== 2 || calls.includes(undefined)) return undefined;
  const steps = calls.map((call) => call?.names ?? []).sort((a, b) => a.length - b.length);
  const [single = [], double = []] = steps;
  const base = single[1];
  const isClosure =
    single.length === 2 &&
    double.length === 3 &&
    single[0] === fold(c.concept) &&
    double[0] === fold(c.concept) &&
    double[1] === fold(r.name) &&
    double[2] === base;
  return isClosure ? c.relationships?.find((other) => fold(other.name) === base && other !== r)?.name : undefined;
}

/** The name of the other direction: the words between the roles of a verbalization that starts with the second role; null if no verbalization starts with it. */
export function inverseIn(r: OntologyRelationship, concept: string, target: string): string | null {
  const role = r.roles?.[0]?.name;
  const far = role === undefined ? [target] : [`${target}:${role}`, ...(target === concept ? [] : [target])];
  for (const text of r.verbalizes) {
    const found = /^\{([^{}]+)\}([^{}]+)\{([^{}]+)\}\s*$/.exec(text);
    if (found === null || !far.includes(found[1] ?? '') || found[3] !== concept) continue;
    const words = (found[2] ?? '')
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '_')
      .replace(/^_|_$/g, '');
    if (words !== '' && words !== fold(r.name)) return words;
  }
  return null;
}
