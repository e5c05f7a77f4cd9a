/** The calculated properties and measures of a model, and the names that they read. */
import { SvcError } from '../../errors.ts';
import type { MeasureDef, Model, PropertyDef } from '../model.ts';
import { byName, fold } from '../names.ts';
import { type ApplyContext, keyOf, type Reference } from './context.ts';

export type Expression = { readonly kind: 'property'; readonly def: PropertyDef } | { readonly kind: 'measure'; readonly def: MeasureDef };

/** The texts of an expression: of a measure also its condition. */
export const textsOf = (e: Expression): readonly string[] => [e.def.expression ?? '', e.kind === 'measure' ? (e.def.filter ?? '') : ''];

/** The names in the expressions of a model. Each expression is parsed once, when its names are needed. */
export class Expressions {
  readonly #context: ApplyContext;
  readonly #before: { readonly property: ReadonlyMap<string, PropertyDef>; readonly measure: ReadonlyMap<string, MeasureDef> };
  readonly #old: ReadonlySet<object>;
  readonly #known = new Map<object, readonly Reference[]>();

  constructor(before: Model, context: ApplyContext) {
    this.#context = context;
    this.#before = { property: byName(before.properties), measure: byName(before.measures) };
    this.#old = new Set<object>([...before.properties, ...before.measures]);
  }

  /** Whether the model before the script does not have the expression. */
  isNew(e: Expression): boolean {
    if (this.#old.has(e.def)) return false;
    const known = this.#before[e.kind].get(fold(e.def.name));
    return known === undefined || known.expression !== e.def.expression || (e.kind === 'measure' && 'filter' in known && known.filter !== e.def.filter);
  }

  /** Whether the script wrote the text, so that its names have positions in the script. */
  isWritten(e: Expression): boolean {
    return !this.#old.has(e.def) && this.#context.places.references.has(keyOf([e.kind, e.def.name]));
  }

  /** The names in an expression, outside of sub-queries, which the planner refuses. */
  namesIn(e: Expression): readonly Reference[] {
    let names = this.#known.get(e.def);
    if (!names) {
      const written = this.isWritten(e) ? this.#context.places.references.get(keyOf([e.kind, e.def.name])) : undefined;
      names = (written ?? textsOf(e).flatMap((text) => this.#stored(text))).filter((r) => !r.nested);
      this.#known.set(e.def, names);
    }
    return names;
  }

  /** The names in a stored text. Empty for a text of an earlier release that can no longer be read. */
  #stored(text: string): readonly Reference[] {
    if (text === '') return [];
    try {
      return this.#context.referencesOf({ text, offset: 0 }, 'expression');
    } catch (e) {
      if (e instanceof SvcError && e.status === 400 && e.code !== 'too_complex') return [];
      throw e;
    }
  }
}
