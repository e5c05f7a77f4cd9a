/**
 * A script of somebody who does not see all of the ontology that it changes: it is applied to what is seen as well, first, so that its
 * faults are told as if the hidden parts had never been made. What then still collides with them is told without their names.
 */
import { badRequest, SvcError } from '../errors.ts';
import type { ModelStatement, RollbackOntology } from '../language/statements.ts';
import { type ApplyContext, applyStatement, finish, Places } from '../ontology/apply.ts';
import type { Graph } from '../ontology/graph.ts';
import type { Model } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import type { Warning } from '../ontology/validate.ts';

const LISTS = ['concepts', 'properties', 'measures', 'mappings', 'views'] as const;

export class SeenDraft {
  readonly #base: Model;
  #model: Model;
  readonly #context: ApplyContext;
  /** Folded names of the whole model that are in none of its lists as the caller sees it. */
  readonly #hidden: ReadonlySet<string>;
  /** Concepts of which some parts are hidden, folded. */
  readonly #partly: ReadonlySet<string>;

  constructor(seen: Graph, context: ApplyContext) {
    this.#base = seen.model;
    this.#model = seen.model;
    this.#context = { ...context, places: new Places() };
    const names = (model: Model): string[] => [
      ...LISTS.flatMap((list) => model[list].map((o) => fold(o.name))),
      ...model.concepts.flatMap((c) => c.relationships.flatMap((r) => [r.name, ...(r.inverse === null ? [] : [r.inverse])].map(fold))),
    ];
    const known = new Set(names(seen.model));
    this.#hidden = new Set(names(seen.whole.model).filter((name) => !known.has(name)));
    const declared = new Map(seen.whole.model.concepts.map((c) => [c.name, JSON.stringify(c)]));
    this.#partly = new Set(seen.model.concepts.filter((c) => declared.get(c.name) !== JSON.stringify(c)).map((c) => fold(c.name)));
  }

  /** The model as the caller sees it by now. */
  get model(): Model {
    return this.#model;
  }

  /** Whether a concept has parts that the caller does not see: who writes it anew would take them away unknowingly. */
  isPartly(concept: string): boolean {
    return this.#partly.has(fold(concept));
  }

  /** @throws SvcError 400 as `applyStatement` */
  apply(statement: Exclude<ModelStatement, RollbackOntology>): void {
    this.#model = applyStatement(this.#model, statement, this.#context);
  }

  /**
   * The graph of what is seen, checked, and its warnings; undefined: what is seen does not stand alone (it reads what is hidden), so
   * that it says nothing of the script. @throws SvcError 400 as `finish`
   */
  finish(): { readonly graph: Graph; readonly warnings: readonly Warning[] } | undefined {
    try {
      return finish(this.#base, this.#model, this.#context);
    } catch (error) {
      if (this.#standsAlone()) throw error;
      return undefined;
    }
  }

  #standsAlone(): boolean {
    try {
      finish(this.#base, this.#base, { ...this.#context, places: new Places() });
      return true;
    } catch (error) {
      if (error instanceof SvcError) return false;
      throw error;
    }
  }

  /**
   * Runs what may fail on the whole; its error without what is hidden.
   * @param texts the statements of the script: a name of theirs that is unknown is named, whatever hidden thing has that name
   */
  shielded<T>(make: () => T, texts: readonly string[] = []): T {
    try {
      return make();
    } catch (error) {
      throw this.#told(error, texts);
    }
  }

  #told(error: unknown, texts: readonly string[]): unknown {
    if (!(error instanceof SvcError) || error.status !== 400) return error;
    const words = [...`${error.message} ${error.hint ?? ''}`.matchAll(/`([^`]+)`/g)].map((m) => fold(m[1] ?? ''));
    const hidden = words.filter((word) => this.#hidden.has(word));
    const written = new Set(error.code.startsWith('unknown_') && hidden.length > 0 ? texts.flatMap((text) => fold(text).split(/[^\p{L}\p{N}_]+/u)) : []);
    return hidden.every((word) => written.has(word)) ? error : collision(error.code, error.offset);
  }
}

/**
 * Runs a check of policies. A caller who does not see all of the ontology (`seen`) is not told which policy fails or why: the name and the SQL of a policy may name
 * hidden parts.
 * @throws SvcError as `check`
 */
export function withoutPolicies(seen: SeenDraft | undefined, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (seen === undefined || !(error instanceof SvcError) || error.code !== 'in_use') throw error;
    throw badRequest('in_use', 'a policy would not hold any more', { offset: error.offset, hint: 'Ask who may make the policies of the ontology' });
  }
}

/** 400: what a statement says does not go together with what its writer does not see. */
export const collision = (code: string, offset: number | undefined): SvcError =>
  badRequest(code, 'the statement collides with a part of the ontology that you may not see', { offset, hint: 'Ask who may see all of the ontology' });
