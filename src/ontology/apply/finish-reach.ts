/**
 * Checks that concepts have what their calculated properties, measures and conditions read: properties, and paths that begin at the concept. A fault that the model had
 * before the script is accepted, so that a model with faults can be changed.
 */
import { badRequest, didYouMean, nearest, quoted, type SvcError } from '../../errors.ts';
import { compile } from '../compile.ts';
import type { Concept, Graph } from '../graph.ts';
import type { LogicDef, Model } from '../model.ts';
import { sameName } from '../names.ts';
import { type HasName, isPath, lookup, type PathFault, pathFault, propertyFault } from '../paths.ts';
import type { ApplyContext, Reference } from './context.ts';
import { type Expression, type Expressions, textsOf } from './expressions.ts';
import { isPlain, placeOf } from './finish-concepts.ts';
import { type Lost, lostNames } from './lost.ts';

/** What a concept reads: an expression that it lists, or another one that this one reads. */
interface Use {
  readonly concept: Concept;
  /** What the concept lists. */
  readonly listed: Expression;
  /** What contains the name. */
  readonly read: Expression;
}

/** @throws SvcError 400 `unknown_property`, `unknown_relationship`, `unknown_concept`, `unknown_measure`, `bad_path` */
export function checkReach(before: Model, graph: Graph, expressions: Expressions, context: ApplyContext): void {
  new ReachCheck(before, graph, expressions, context).run();
}

class ReachCheck {
  readonly #graph: Graph;
  readonly #expressions: Expressions;
  readonly #context: ApplyContext;
  readonly #before: Model;
  readonly #oldConcepts: ReadonlySet<object>;
  readonly #lost: Lost;
  #old: Graph | undefined;

  constructor(before: Model, graph: Graph, expressions: Expressions, context: ApplyContext) {
    this.#before = before;
    this.#graph = graph;
    this.#expressions = expressions;
    this.#context = context;
    this.#oldConcepts = new Set(before.concepts);
    this.#lost = lostNames(before, graph, () => this.#oldGraph, context.places);
  }

  /** The model before the script. */
  get #oldGraph(): Graph {
    this.#old ??= compile(this.#before, this.#context.ontology);
    return this.#old;
  }

  run(): void {
    for (const concept of this.#graph.concepts) {
      const { def } = concept;
      if (!def) continue;
      const has = lookup();
      for (const listed of this.#listedBy(concept)) {
        const read = this.#readBy(listed);
        if (!this.#isTouched(concept) && !read.some((e) => this.#expressions.isNew(e) || this.#lost.mayConcern(textsOf(e)))) continue;
        for (const e of read) for (const ref of this.#expressions.namesIn(e)) this.#check({ concept, listed, read: e }, ref, has);
      }
      if (def.logic && this.#oldConcepts.has(def) && this.#lost.mayConcern([def.logic.condition])) this.#checkCondition(concept, def.logic);
    }
  }

  /** The calculated properties and measures that a concept declares. */
  #listedBy({ def }: Concept): Expression[] {
    const properties = (def?.properties ?? []).flatMap((name) => this.#graph.property(name) ?? []).filter((p) => p.expression !== null);
    const measures = (def?.measures ?? []).flatMap((name) => this.#graph.measure(name) ?? []);
    return [...properties.map((p): Expression => ({ kind: 'property', def: p })), ...measures.map((m): Expression => ({ kind: 'measure', def: m }))];
  }

  /** An expression and, for a measure, the measures that it reads. A concept lists the calculated properties that others read. */
  #readBy(listed: Expression): readonly Expression[] {
    if (listed.kind === 'property') return [listed];
    const found = new Map<object, Expression>([[listed.def, listed]]);
    for (const e of found.values()) {
      for (const { name } of this.#expressions.namesIn(e)) {
        const def = this.#graph.measure(name);
        if (def && !found.has(def)) found.set(def, { kind: 'measure', def });
      }
    }
    return [...found.values()];
  }

  #isTouched(concept: Concept): boolean {
    return [concept, ...concept.ancestors].some((a) => a.def && !this.#oldConcepts.has(a.def));
  }

  #check(use: Use, ref: Reference, has: HasName): void {
    const fault = faultOf(use.concept, use.read, ref, this.#graph, has);
    if (fault === undefined || this.#wasFaulty(use, ref)) return;
    const { concept, listed, read } = use;
    const { places } = this.#context;
    const what = listed.kind === 'property' ? 'calculated property' : 'measure';
    const through = read.def === listed.def ? '' : ` through ${quoted(read.def.name)}`;
    const written = this.#expressions.isWritten(read) ? ref.offset : undefined;
    const offset =
      (isPath(ref.name) ? written : undefined) ??
      places.near('concept', concept.name, listed.kind, listed.def.name) ??
      written ??
      places.get(listed.kind, listed.def.name) ??
      placeOf(concept, places) ??
      this.#lost.placeOf(textsOf(read));
    const of =
      fault.at === concept ? `used by its ${what} ${quoted(listed.def.name)}` : `used by the ${what} ${quoted(listed.def.name)} of ${quoted(concept.name)}`;
    throw faultError(fault, ref.name, `${of}${through}`, offset);
  }

  /** Whether the concept had the same expression before the script, and lacked the same name. */
  #wasFaulty({ concept, listed, read }: Use, ref: Reference): boolean {
    if (this.#expressions.isNew(read) || this.#expressions.isNew(listed)) return false;
    const old = this.#oldGraph.concept(concept.name);
    const lists = (listed.kind === 'property' ? old?.def?.properties : old?.def?.measures) ?? [];
    return old !== undefined && lists.some((name) => sameName(name, listed.def.name)) && faultOf(old, read, ref, this.#oldGraph) !== undefined;
  }

  /** Checks the condition of a logic concept of an earlier script. The planner checks those of this script. */
  #checkCondition(concept: Concept, logic: LogicDef): void {
    const fault = (graph: Graph, ref: Reference): PathFault | undefined => {
      const source = graph.concept(logic.concept);
      if (!source || (ref.qualifier !== null && !sameName(ref.qualifier, source.name))) return undefined;
      if (isPath(ref.name)) return pathFault(source, ref.name);
      return isPlain(ref.name) ? propertyFault(source, ref.name, logic.schema !== 'svc') : undefined;
    };
    for (const ref of this.#context.referencesOf({ text: logic.condition, offset: 0 }, 'expression')) {
      const now = ref.nested ? undefined : fault(this.#graph, ref);
      if (now === undefined || fault(this.#oldGraph, ref) !== undefined) continue;
      throw faultError(now, ref.name, `used by the condition of ${quoted(concept.name)}`, this.#lost.placeOf([logic.condition]));
    }
  }
}

/** What a concept lacks of a name in one of its expressions. Measures see properties of descendants too. Qualified names are properties in measures, and refused in properties. */
function faultOf(concept: Concept, e: Expression, ref: Reference, graph: Graph, has?: HasName): PathFault | undefined {
  if (ref.qualifier !== null && e.kind === 'property') return undefined;
  if (isPath(ref.name)) return pathFault(concept, ref.name);
  if (!isPlain(ref.name) || (e.kind === 'measure' && graph.measure(ref.name) && !graph.property(ref.name))) return undefined;
  return propertyFault(concept, ref.name, e.kind === 'measure', has);
}

/** The error for a name that does not exist. `used`: what reads it. */
function faultError({ kind, name, at, known }: PathFault, written: string, used: string, offset: number | undefined): SvcError {
  const path = isPath(written) ? ` in the path ${quoted(written)}` : '';
  if (kind === 'target')
    return badRequest('bad_path', `the relationship ${quoted(name)} of concept ${quoted(at.name)} does not lead to ${quoted(known[0] ?? '')}${path}, ${used}`, {
      offset,
    });
  const of = kind === 'concept' ? '' : ` of concept ${quoted(at.name)}`;
  return badRequest(`unknown_${kind}`, `unknown ${kind} ${quoted(name)}${of}${path}, ${used}${didYouMean(nearest(name, known))}`, { offset });
}
