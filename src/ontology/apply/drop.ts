/** DROP. It is refused for an object that others use; each DROP of a script is checked separately (docs/design/statements-and-versions.md#dropping). */
import { visited } from '../../budget.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { DropObject, SqlText } from '../../language/statements.ts';
import { isRaw, type Model } from '../model.ts';
import { fold, sameName } from '../names.ts';
import { listed, notThing, unknown } from './checks.ts';
import { type ApplyContext, keyOf, neutralSchema } from './context.ts';
import { find, remove } from './lists.ts';

/** Removes one object. @throws SvcError 400 `unknown_<kind>`, `in_use`, `reserved_name` */
export function drop(model: Model, s: DropObject, context: ApplyContext): Model {
  const { name } = s;
  const known = (values: readonly { readonly name: string }[]): string => {
    const found = find(values, name.text);
    if (!found) {
      throw unknown(
        s.object,
        name.text,
        name.offset,
        values.map((v) => v.name),
      );
    }
    return found.name;
  };
  const unused = (users: readonly string[]): void => {
    if (users.length === 0) return;
    throw badRequest('in_use', `the ${s.object} ${quoted(name.text)} is used by ${listed(users)}`, {
      offset: name.offset,
      hint: 'drop or replace the objects that use it first',
    });
  };
  switch (s.object) {
    case 'concept': {
      notThing(name, 'dropped');
      unused(usersOfConcept(model, known(model.concepts), context));
      context.places.references.delete(keyOf(['concept', name.text]));
      context.places.set(name.offset, 'concept', name.text);
      return { ...model, concepts: remove(model.concepts, name.text) };
    }
    case 'property': {
      unused(usersOfProperty(model, known(model.properties), context));
      context.places.references.delete(keyOf(['property', name.text]));
      return { ...model, properties: remove(model.properties, name.text) };
    }
    case 'measure': {
      unused(usersOfMeasure(model, known(model.measures), context));
      context.places.references.delete(keyOf(['measure', name.text]));
      return { ...model, measures: remove(model.measures, name.text) };
    }
    case 'mapping':
      known(model.mappings);
      return { ...model, mappings: remove(model.mappings, name.text) };
    default: {
      // DROP VIEW also drops a cube; DROP CUBE drops only cubes
      known(s.object === 'cube' ? model.views.filter((v) => v.cube) : model.views);
      unused(usersOfView(model, name.text, context));
      context.places.relations.delete(fold(name.text));
      context.places.references.delete(keyOf(['view', name.text]));
      return { ...model, views: remove(model.views, name.text) };
    }
  }
}

const stored = (text: string): SqlText => ({ text, offset: 0 });

/** How many characters are folded and searched in the time of a step. */
const CHARACTERS_OF_A_STEP = 20;

/** How many texts are seen to be null in the time of a step. */
const OBJECTS_OF_A_STEP = 5;

/** Whether a text may contain a name. Parsing is expensive, so only texts that contain the name's characters are parsed. Quotes in a name are doubled, and U&"..." may escape it. */
export function mentions(text: string, wanted: string): boolean {
  if (/["`]/.test(wanted)) return true;
  visited(text.length / CHARACTERS_OF_A_STEP);
  const searched = fold(text);
  return searched.includes('u&"') || searched.includes(wanted);
}

/** The concepts in an identifier such as `r1[c1].r2[c2*3].p` or `_type_of_c`, folded. */
function conceptsIn(identifier: string): string[] {
  const names = [...identifier.matchAll(/\[([^[\]]*)\]/g)].map((m) => fold((m[1] ?? '').replace(/\*\d*$/, '')));
  return fold(identifier).startsWith('_type_of_') ? [...names, fold(identifier).slice('_type_of_'.length)] : names;
}

function usersOfConcept(model: Model, name: string, context: ApplyContext): string[] {
  const wanted = fold(name);
  const is = (other: string | null | undefined): boolean => other != null && fold(other) === wanted;
  const walked = (text: string | null, kind: 'expression' | 'select'): boolean =>
    text !== null && mentions(text, wanted) && context.referencesOf(stored(text), kind).some((r) => conceptsIn(r.name).includes(wanted));
  const users: string[] = [];
  visited(model.mappings.length + (model.views.length + model.properties.length + model.measures.length) / OBJECTS_OF_A_STEP);
  const dropped = find(model.concepts, name);
  for (const c of model.concepts) {
    visited(1 + c.parents.length + c.relationships.length);
    if (c === dropped) continue;
    if (c.parents.some(is) || is(c.logic?.concept) || c.relationships.some((r) => is(r.target)) || walked(c.logic?.condition ?? null, 'expression'))
      users.push(`concept ${quoted(c.name)}`);
  }
  for (const m of model.mappings) if (is(m.concept) || is(m.link?.forward.concept) || is(m.link?.back.concept)) users.push(`mapping ${quoted(m.name)}`);
  for (const v of model.views) {
    // a view over raw tables refers to nothing of the ontology
    if (isRaw(v)) continue;
    const reads = (): boolean =>
      context.relationsOf(stored(v.sql)).some((r) => {
        if (fold(r.name) !== wanted) return false;
        if (r.schema === null) return true;
        return ['svc', 'esvc', 'dsvc'].includes(neutralSchema(r.schema, context.product) ?? '');
      });
    if (mentions(v.sql, wanted) && (reads() || walked(v.sql, 'select'))) users.push(`${v.cube ? 'cube' : 'view'} ${quoted(v.name)}`);
  }
  for (const p of model.properties) if (walked(p.expression, 'expression')) users.push(`property ${quoted(p.name)}`);
  for (const m of model.measures) if (walked(m.expression, 'expression') || walked(m.filter, 'expression')) users.push(`measure ${quoted(m.name)}`);
  return users;
}

function usersOfProperty(model: Model, name: string, context: ApplyContext): string[] {
  const wanted = fold(name);
  const is = (other: string): boolean => fold(other) === wanted;
  const users: string[] = [];
  visited(model.mappings.length);
  for (const c of model.concepts) {
    visited(1 + c.properties.length + c.multi.length + c.primaryKey.length + c.label.length + c.relationships.length);
    const joins = c.relationships.some((r) => r.source.some(is) || r.references.some(is));
    if (joins || [c.properties, c.multi, c.primaryKey, c.label].some((list) => list.some(is))) users.push(`concept ${quoted(c.name)}`);
  }
  for (const m of model.mappings) {
    if ((m.property !== null && is(m.property)) || m.link?.forward.references.some(is) || m.link?.back.references.some(is))
      users.push(`mapping ${quoted(m.name)}`);
  }
  return [...users, ...usersInExpressions(model, name, context)];
}

function usersOfMeasure(model: Model, name: string, context: ApplyContext): string[] {
  const wanted = fold(name);
  const lists = (measures: readonly string[]): boolean => {
    visited(1 + measures.length);
    return measures.some((m) => fold(m) === wanted);
  };
  const users = model.concepts.filter((c) => lists(c.measures)).map((c) => `concept ${quoted(c.name)}`);
  return [...users, ...usersInExpressions(model, name, context)];
}

/** Calculated properties and measures whose expression refers to `name`. */
function usersInExpressions(model: Model, name: string, context: ApplyContext): string[] {
  const wanted = fold(name);
  const uses = (text: string | null): boolean =>
    text !== null && mentions(text, wanted) && context.referencesOf(stored(text), 'expression').some((r) => fold(r.name) === wanted);
  const users: string[] = [];
  visited((model.properties.length + model.measures.length) / OBJECTS_OF_A_STEP);
  for (const p of model.properties) if (uses(p.expression) && !sameName(p.name, name)) users.push(`property ${quoted(p.name)}`);
  for (const m of model.measures) if ((uses(m.expression) || uses(m.filter)) && !sameName(m.name, name)) users.push(`measure ${quoted(m.name)}`);
  return users;
}

function usersOfView(model: Model, name: string, context: ApplyContext): string[] {
  const wanted = fold(name);
  const reads = (sql: string): boolean =>
    mentions(sql, wanted) &&
    context
      .relationsOf(stored(sql))
      .some((r) => fold(r.name) === wanted && (r.schema === null ? !find(model.concepts, name) : neutralSchema(r.schema, context.product) === 'vsvc'));
  visited(model.views.length);
  const dropped = find(model.views, name);
  return model.views.filter((v) => v !== dropped && !isRaw(v) && reads(v.sql)).map((v) => `${v.cube ? 'cube' : 'view'} ${quoted(v.name)}`);
}
