/**
 * The draft of a caller who does not see the whole ontology. The script is first applied to the visible part, so that errors are reported as if the
 * hidden parts did not exist. Conflicts with hidden parts are reported without their names.
 */
import { badRequest, SvcError } from '../../errors.ts';
import type { ModelStatement, RollbackOntology } from '../../language/statements.ts';
import { type ApplyContext, applyStatement, finish, Places } from '../../ontology/apply.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { Model } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { isPath, namesInPath } from '../../ontology/paths.ts';
import type { Warning } from '../../ontology/validate.ts';

const LISTS = ['concepts', 'properties', 'measures', 'mappings', 'views'] as const;

export class SeenDraft {
  readonly #base: Model;
  #model: Model;
  readonly #context: ApplyContext;
  /** Folded names in the model that the caller does not see. */
  readonly #hidden: ReadonlySet<string>;
  /** Folded names of concepts with hidden parts. */
  readonly #partly: ReadonlySet<string>;

  constructor(seen: Graph, context: ApplyContext) {
    this.#base = seen.model;
    this.#model = seen.model;
    this.#context = { ...context, places: new Places(Math.random()) };
    const names = (model: Model): string[] => [
      ...LISTS.flatMap((list) => model[list].map((o) => fold(o.name))),
      ...model.concepts.flatMap((c) => c.relationships.flatMap((r) => [r.name, ...(r.inverse === null ? [] : [r.inverse])].map(fold))),
    ];
    const known = new Set(names(seen.model));
    this.#hidden = new Set(names(seen.whole.model).filter((name) => !known.has(name)));
    const declared = new Map(seen.whole.model.concepts.map((c) => [c.name, JSON.stringify(c)]));
    this.#partly = new Set(seen.model.concepts.filter((c) => declared.get(c.name) !== JSON.stringify(c)).map((c) => fold(c.name)));
  }

  /** The visible model with the changes so far. */
  get model(): Model {
    return this.#model;
  }

  /** True if a concept has parts that the caller does not see; replacing the concept would remove them. */
  isPartly(concept: string): boolean {
    return this.#partly.has(fold(concept));
  }

  /** Applies a statement to the visible model. @throws SvcError 400 as `applyStatement` */
  apply(statement: Exclude<ModelStatement, RollbackOntology>): void {
    this.#model = applyStatement(this.#model, statement, this.#context);
  }

  /**
   * Checks the visible model and returns its graph and warnings; undefined if the visible part was already invalid before the script, because it
   * reads hidden parts. @param again as in `finish` @throws SvcError 400 as `finish`
   */
  finish(again: boolean): { readonly graph: Graph; readonly warnings: readonly Warning[] } | undefined {
    try {
      return finish(this.#base, this.#model, this.#context, again);
    } catch (error) {
      if (this.#wasValid()) throw error;
      return undefined;
    }
  }

  #wasValid(): boolean {
    try {
      finish(this.#base, this.#base, { ...this.#context, places: new Places(Math.random()) });
      return true;
    } catch (error) {
      if (error instanceof SvcError) return false;
      throw error;
    }
  }

  /**
   * Runs an operation on the whole model and removes hidden names from its errors.
   * @param texts the statements of the script. An unknown name that they contain is reported even if a hidden object has the same name.
   */
  hideErrors<T>(make: () => T, texts: readonly string[] = []): T {
    try {
      return make();
    } catch (error) {
      throw this.#withoutHidden(error, texts);
    }
  }

  #withoutHidden(error: unknown, texts: readonly string[]): unknown {
    if (!(error instanceof SvcError) || error.status !== 400) return error;
    const quoted = [...`${error.message} ${error.hint ?? ''}`.matchAll(/`([^`]+)`/g)].map((m) => fold(m[1] ?? ''));
    // a stored text may have paths that name something hidden; those of the script are checked in the visible part
    if (
      quoted
        .filter(isPath)
        .flatMap(namesInPath)
        .some((name) => this.#hidden.has(name))
    )
      return collision(error.code, error.offset);
    const words = quoted.flatMap(namesInPath);
    const hidden = words.filter((word) => this.#hidden.has(word));
    const written = new Set(error.code.startsWith('unknown_') && hidden.length > 0 ? texts.flatMap((text) => fold(text).split(/[^\p{L}\p{N}_]+/u)) : []);
    return hidden.every((word) => written.has(word)) ? error : collision(error.code, error.offset);
  }
}

/**
 * Runs a check of policies. For a caller who does not see the whole ontology (`seen`), the error does not say which policy fails or why, because the name and the
 * SQL of a policy may name hidden parts.
 * @throws SvcError as `check`
 */
export function hidePolicies(seen: SeenDraft | undefined, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (seen === undefined || !(error instanceof SvcError) || error.code !== 'in_use') throw error;
    throw badRequest('in_use', 'a policy would become invalid', { offset: error.offset, hint: 'Ask a user who may create the policies of the ontology' });
  }
}

/** 400: the statement conflicts with hidden parts of the ontology. */
export const collision = (code: string, offset: number | undefined): SvcError =>
  badRequest(code, 'the statement conflicts with a part of the ontology that you may not see', { offset, hint: 'Ask a user who may see the whole ontology' });
