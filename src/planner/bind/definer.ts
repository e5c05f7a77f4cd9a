/** Stored texts that are read with the rights of their definer (docs/design/rights-and-visibility.md#views-and-their-definers). */
import { forbidden, SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import type { Frame } from '../plan/position.ts';
import type { PlanState } from '../plan-state.ts';

/** Errors that are passed on to the caller: a masked value, and a view or concept in the text that cannot be read. */
const OWN = new Set(['masked', 'view_unreadable', 'concept_unreadable']);
/** Errors about names in a path of the text. */
const IN_PATHS = new Set(['bad_path', 'incomparable_types']);

/** Replaces an error about a name in the text by an error about the whole text, because the name may be hidden from the caller. */
export function withoutHiddenNames(kind: 'view' | 'concept', name: string): Frame {
  return <R>(make: () => R): R => {
    try {
      return make();
    } catch (error) {
      throw error instanceof SvcError && !OWN.has(error.code) && isOfNames(error) ? unreadable(kind, name, error) : error;
    }
  };
}

/** True for an error about a name in a text. */
export const isOfNames = ({ status, code }: SvcError): boolean => status === 403 || code.startsWith('unknown_') || IN_PATHS.has(code);

/** 403: a text cannot be read. */
export function unreadable(kind: 'view' | 'concept' | 'cube', name: string, cause: SvcError): SvcError {
  const message = `the ${kind} \`${name}\` cannot be read: its definer may not read everything that it names`;
  return forbidden(kind === 'concept' ? 'concept_unreadable' : 'view_unreadable', message, { hint: `Ask the maintainer of the ${kind}`, cause });
}

/**
 * Resolves names of a view's text with the current rights of its definer; in the condition of a policy, against the whole model
 * (docs/design/policies.md#where-policies-apply).
 * @throws SvcError 403 `view_unreadable`
 */
export function asDefiner<T>(state: PlanState, view: ViewDef, make: (graph: Graph) => T): T {
  const read = (): T => state.position.inView(() => make(state.asDefined(view) ?? state.graph));
  // a text that is being checked is the caller's own
  return state.context.definer === undefined || state.texts.offsets.has(view.name)
    ? read()
    : state.position.framed(withoutHiddenNames('view', view.name), read);
}
