/** Checks concepts at the end of a script (docs/design/statements-and-versions.md#checks-at-the-end-of-a-script). */
import { badRequest, quoted, type SvcError } from '../../errors.ts';
import { keyText } from '../compiled-concept.ts';
import type { Concept, Graph } from '../graph.ts';
import type { Pair, Pairs } from '../links.ts';
import type { RelationshipDef } from '../model.ts';
import { fold, sameName } from '../names.ts';
import { onwardOf } from '../parts.ts';
import { unknown } from './checks.ts';
import { keyOf, type Places } from './context.ts';
import { checkComposed, checkIncludesCycles } from './finish-composed.ts';
import { folded, lists } from './lists.ts';

const conceptNames = (graph: Graph): string[] => ['thing', ...graph.concepts.map((c) => c.name)];
const propertyNames = (concept: Concept): string[] => concept.properties.map((p) => p.def.name);

/** Checks that every parent exists and that inheritance has no cycle. Runs first, because all other checks follow it. @throws SvcError 400 `unknown_concept`, `circular_inheritance` */
export function checkInheritance(graph: Graph, places: Places): void {
  for (const c of graph.model.concepts) {
    for (const parent of c.parents) {
      if (graph.concept(parent)) continue;
      throw unknown('concept', parent, places.near('concept', c.name, 'parent', parent), conceptNames(graph), `, named as a parent of ${quoted(c.name)}`);
    }
  }
  const cycle = findCycle(graph.concepts, (c) => c.parents);
  if (!cycle) return;
  const names = cycle.map((c) => c.name);
  throw badRequest('circular_inheritance', `circular inheritance: ${[...names, names[0] ?? ''].map(quoted).join(' inherits ')}`, {
    offset: firstPlace(names.map((n) => places.get('concept', n))),
  });
}

/** The first known one of several positions. */
export const firstPlace = (offsets: readonly (number | undefined)[]): number | undefined => offsets.find((o) => o !== undefined);

/** Finds the nodes of a cycle, in order, or returns undefined. Not recursive, because paths may have thousands of steps. */
export function findCycle<T>(nodes: Iterable<T>, next: (node: T) => readonly T[]): T[] | undefined {
  const done = new Set<T>();
  for (const start of nodes) {
    if (done.has(start)) continue;
    const path: { node: T; rest: T[] }[] = [{ node: start, rest: [...next(start)] }];
    const open = new Set<T>([start]);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const to = top.rest.pop();
      if (to === undefined) {
        done.add(top.node);
        open.delete(top.node);
        path.pop();
      } else if (open.has(to)) {
        return path.slice(path.findIndex((p) => p.node === to)).map((p) => p.node);
      } else if (!done.has(to)) {
        open.add(to);
        path.push({ node: to, rest: [...next(to)] });
      }
    }
  }
  return undefined;
}

/** Checks keys, labels, measures, relationships and conditions of all concepts, ancestors first. */
export function checkConcepts(graph: Graph, pairs: Pairs, places: Places): void {
  for (const c of graph.concepts.toSorted((a, b) => a.level - b.level)) {
    checkKey(c, places);
    checkNames(c, 'label', places);
    checkMeasures(c, graph, places);
    for (const r of c.def?.relationships ?? []) checkRelationship(c, r, graph, pairs, places);
    checkLogic(c, graph, places);
  }
  checkInverses(graph, pairs, places);
  checkIncludesCycles(graph, findCycle, places);
  checkLogicCycles(graph, places);
}

/** The position of a concept in this script, or of the nearest ancestor that the script changed. */
export function placeOf(c: Concept, places: Places, ...path: string[]): number | undefined {
  return places.near('concept', c.name, ...path) ?? firstPlace(c.ancestors.map((a) => places.get('concept', a.name)));
}

const noProperty = (name: string, c: Concept, offset: number | undefined, what: string): SvcError =>
  unknown('property', name, offset, propertyNames(c), ` of concept ${quoted(c.name)}${what}`);

const has = (c: Concept, name: string): boolean => lists(c.properties, name);

/** True if a concept has a property; of `thing`, if any concept has it. */
const hasOrBelow = (c: Concept, name: string): boolean => has(c, name) || (c.def === null && lists(c.derivedProperties, name));

function checkNames(c: Concept, what: 'key' | 'label', places: Places): void {
  const names = (what === 'key' ? c.def?.primaryKey : c.def?.label) ?? [];
  for (const name of names)
    if (!has(c, name)) throw noProperty(name, c, placeOf(c, places, what, name), what === 'key' ? ' in its PRIMARY KEY' : ' in its LABEL');
}

function checkKey(c: Concept, places: Places): void {
  checkNames(c, 'key', places);
  const own = c.def?.primaryKey ?? [];
  const inherited = new Map<Concept, string>();
  for (const parent of c.parents) if (parent.key) inherited.set(parent.key.holder, keyText(parent.key.properties.map((p) => p.name)));
  const computed = own.length === 0 ? new Set() : folded(c.properties.filter((p) => p.def.expression !== null).map((p) => p.def.name));
  const calculated = own.find((name) => computed.has(fold(name)));
  if (calculated !== undefined) {
    throw badRequest('bad_key', `the key of ${quoted(c.name)} contains the calculated property ${quoted(calculated)}`, {
      offset: placeOf(c, places, 'key', calculated),
      hint: 'the mappings must provide the values of a key',
    });
  }
  const holders = [...inherited.keys()];
  if (holders.length > 1) {
    throw badRequest(
      'key_redeclared',
      `the concept ${quoted(c.name)} inherits the keys of ${holders.map((h) => quoted(h.name)).join(' and ')}; a concept can have only one key`,
      { offset: placeOf(c, places) },
    );
  }
  const [holder] = holders;
  if (holder && own.length > 0 && inherited.get(holder) !== keyText(own)) {
    throw badRequest('key_redeclared', `the concept ${quoted(c.name)} inherits the key of ${quoted(holder.name)} and cannot declare another one`, {
      offset: placeOf(c, places, 'key'),
    });
  }
}

function checkMeasures(c: Concept, graph: Graph, places: Places): void {
  for (const name of c.def?.measures ?? []) {
    const measure = graph.measure(name);
    if (!measure) {
      throw unknown(
        'measure',
        name,
        placeOf(c, places, 'measure', name),
        graph.model.measures.map((m) => m.name),
        `, listed by concept ${quoted(c.name)}`,
      );
    }
    const type = places.measureTypes.get(keyOf([c.name, name]));
    if (type !== undefined && type !== measure.type) {
      throw badRequest('type_mismatch', `the measure ${quoted(measure.name)} is of type ${measure.type} in this ontology, not ${type}`, {
        offset: places.near('concept', c.name, 'measure', name, 'type'),
      });
    }
  }
}

function checkRelationship(c: Concept, r: RelationshipDef, graph: Graph, pairs: Pairs, places: Places): void {
  const path = ['relationship', r.name];
  const of = `, target of the relationship ${quoted(r.name)} of ${quoted(c.name)}`;
  const target = graph.concept(r.target);
  if (!target) throw unknown('concept', r.target, placeOf(c, places, ...path, 'target'), conceptNames(graph), of);
  if (target === graph.thing && r.kind === 'mtm')
    throw badRequest('bad_relationship', `${quoted('thing')} has no properties that a link could reference`, {
      offset: placeOf(c, places, ...path, 'target'),
      hint: 'A foreign key may refer to a property of concepts: FOREIGN KEY (p) REFERENCES thing (p2)',
    });
  for (const name of r.source)
    if (!has(c, name)) throw noProperty(name, c, placeOf(c, places, ...path, 'source', name), `, used by its relationship ${quoted(r.name)}`);
  for (const name of r.references) {
    const offset = places.get('concept', c.name, ...path, 'reference', name) ?? places.near('concept', target.name) ?? placeOf(c, places, ...path);
    if (!hasOrBelow(target, name)) throw noProperty(name, target, offset, `, referenced by the relationship ${quoted(r.name)} of ${quoted(c.name)}`);
  }
  checkComposed(c, r, target, pairs.of.get(r)?.twin ?? null, placeOf(c, places, ...path), places);
  if (r.transitive !== null) checkWalk(c, r, target, placeOf(c, places, ...path));
}

/** Checks that a walk can go on from rows that it reaches: some of them must be rows of the concept that declares the relationship. */
function checkWalk(c: Concept, r: RelationshipDef, target: Concept, offset: number | undefined): void {
  const what = `the relationship ${quoted(r.name)} of ${quoted(c.name)} cannot be transitive`;
  const isKin = (c.isA(target) || target.isA(c)) && (target.def !== null || r.references.every((name) => has(c, name)));
  const own = c.relationship(r.name).find((found) => found.def === r);
  const goesOn = own === undefined ? undefined : onwardOf(own);
  if (!isKin && goesOn === undefined) {
    throw badRequest('bad_transitivity', `${what}: rows of ${quoted(target.name)} have no ${quoted(r.name)}, so a walk would end after one step`, {
      offset,
      hint: `The target of a transitive relationship is ${quoted(c.name)}, an ancestor of it, or a concept below it, or has a relationship ${quoted(r.name)} with itself. Without TRANSITIVE, a path names each step.`,
    });
  }
  if (goesOn !== undefined) {
    const keyless = [c, target].find((end) => end.key === null);
    if (keyless === undefined) return;
    throw badRequest('no_key', `${what}: a walk that goes on by ${quoted(r.name)} of ${quoted(target.name)} needs a PRIMARY KEY of ${quoted(keyless.name)}`, {
      offset,
    });
  }
  if (c.isA(target) || c.key !== null) return;
  throw badRequest('no_key', `${what}: a walk down to ${quoted(target.name)} needs a PRIMARY KEY of ${quoted(c.name)}`, { offset });
}

/** Checks that targets do not use INVERSEOF names otherwise, except as their own names for the same link. */
function checkInverses(graph: Graph, pairs: Pairs, places: Places): void {
  const declared = new Map<string, ReadonlySet<string>>();
  /** The first relationship of each owner, target and inverse name. */
  const first = new Map<string, Pair>();
  const declaredBy = (target: string): ReadonlySet<string> => {
    const known = declared.get(fold(target)) ?? folded((graph.concept(target)?.def?.relationships ?? []).map((r) => r.name));
    declared.set(fold(target), known);
    return known;
  };
  for (const pair of pairs.all) {
    const key = keyOf([pair.owner.name, pair.def.target, pair.inverseName]);
    if (pair.def.inverse !== null && !pair.twin)
      checkInverse(pair, { isDeclared: declaredBy(pair.def.target).has(fold(pair.def.inverse)), other: first.get(key) }, places);
    if (!first.has(key)) first.set(key, pair);
  }
}

function checkInverse(pair: Pair, { isDeclared, other }: { readonly isDeclared: boolean; readonly other: Pair | undefined }, places: Places): void {
  const offset =
    places.near('concept', pair.owner.name, 'relationship', pair.def.name, 'inverse') ??
    places.near('concept', pair.def.target, 'relationship', pair.def.inverse ?? '');
  const clash = (what: string, hint: string): never => {
    throw badRequest('exists', `${quoted(pair.def.inverse ?? '')}, the inverse of ${quoted(pair.def.name)} of ${quoted(pair.owner.name)}, is ${what}`, {
      offset,
      hint,
    });
  };
  if (isDeclared) {
    clash(
      `another relationship of ${quoted(pair.def.target)}`,
      `if both sides declare the link, both must have the same kind and mirrored properties, and the other side INVERSEOF ${quoted(pair.def.name)}`,
    );
  }
  if (other) clash(`also the inverse of ${quoted(other.def.name)}`, 'two relationships between the same two concepts need two inverse names');
}

function checkLogic(c: Concept, graph: Graph, places: Places): void {
  const logic = c.def?.logic;
  if (!logic) return;
  const offset = placeOf(c, places, 'logic');
  const source = graph.concept(logic.concept);
  if (!source) throw unknown('concept', logic.concept, offset, conceptNames(graph), `, the source of ${quoted(c.name)}`);
  const kin = c.ancestors.includes(source) || (!source.isA(c) && c.parents.some((p) => source.isA(p)));
  if (!kin) {
    throw badRequest('logic_source', `the concept ${quoted(c.name)} cannot be based on ${quoted(source.name)}`, {
      offset,
      hint: 'the source of a logic concept must be one of its ancestors, or a descendant of one of its parents',
    });
  }
  for (const ref of places.references.get(keyOf(['concept', c.name])) ?? []) {
    if (ref.nested || !isPlain(ref.name) || (ref.qualifier !== null && !sameName(ref.qualifier, source.name))) continue;
    const wide = logic.schema === 'svc' ? [] : source.derivedProperties;
    const multi = logic.schema === 'dsvc' ? source.multi : [];
    if ([source.properties, wide, multi].some((list) => lists(list, ref.name))) continue;
    throw unknown('property', ref.name, ref.offset, propertyNames(source), ` of concept ${quoted(source.name)}`);
  }
}

/** Whether a name can only be a property, not a path, measure, `_type_of_` or entity column. */
export const isPlain = (name: string): boolean => !/\[|^~|^measure\.|^_type_of_|^entity_(id|type|label)$/i.test(name);

function checkLogicCycles(graph: Graph, places: Places): void {
  const sources = ({ rows }: Concept): readonly Concept[] => (rows.kind === 'logic' ? [rows.source] : []);
  // an unmapped concept has rows of the logic concepts above it
  const withThoseAbove = (c: Concept): readonly Concept[] =>
    c.rows.kind === 'mappings' && c.rows.sources.length === 0 ? c.ancestors.filter((a) => a.def?.logic) : sources(c);
  let cycle = findCycle(graph.concepts, sources);
  const circular = graph.concepts.find((c) => c.hasCircularRows);
  if (circular) cycle ??= findCycle(graph.concepts, withThoseAbove) ?? [circular];
  if (!cycle) return;
  const names = cycle.map((c) => c.name);
  throw badRequest('circular_logic', `circular definition: ${[...names, names[0] ?? ''].map(quoted).join(' is defined on ')}`, {
    offset: firstPlace(names.map((n) => places.near('concept', n, 'logic'))),
  });
}
