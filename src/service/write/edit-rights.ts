/**
 * The rights to change a model (docs/design/rights-and-visibility.md#editing): EDIT on the concept or view that a statement changes, otherwise on the ontology.
 */
import { can, canAll, type Holder } from '../../auth/grants.ts';
import { visited } from '../../budget.ts';
import type { ModelStatement, Name } from '../../language/statements.ts';
import { find } from '../../ontology/apply/lists.ts';
import type { Model, PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { lacks } from '../caller/lookup.ts';

type List = 'concepts' | 'views' | 'properties' | 'measures' | 'mappings';

/** The object that a statement creates, changes or drops; undefined: the ontology itself. */
function objectOf(statement: ModelStatement): { readonly list: List; readonly name: Name; readonly makes: boolean } | undefined {
  switch (statement.kind) {
    case 'create_concept':
      return { list: 'concepts', name: statement.name, makes: true };
    case 'create_view':
      return { list: 'views', name: statement.name, makes: true };
    case 'create_property':
      return { list: 'properties', name: statement.name, makes: true };
    case 'create_measure':
      return { list: 'measures', name: statement.name, makes: true };
    case 'create_mapping':
      return { list: 'mappings', name: statement.name, makes: true };
    case 'alter_tag':
    case 'drop': {
      const lists = { concept: 'concepts', view: 'views', cube: 'views', property: 'properties', measure: 'measures', mapping: 'mappings' } as const;
      return { list: lists[statement.object], name: statement.name, makes: false };
    }
    case 'alter_ontology':
    case 'rollback':
      return undefined;
  }
}

/** True if the object of a statement is in `seen`, or is the ontology itself. */
export function isSeen(statement: ModelStatement, seen: Model): boolean {
  const object = objectOf(statement);
  const list: readonly { readonly name: string }[] | undefined = object && seen[object.list];
  return list === undefined || find(list, object?.name.text ?? '') !== undefined;
}

/** Folded names of what concepts list. */
interface Listed {
  readonly properties: ReadonlySet<string>;
  readonly measures: ReadonlySet<string>;
}

const listed = new WeakMap<Model['concepts'], Listed>();

/** The names that the concepts of a model list, found once for its list of concepts. */
function listedBy({ concepts }: Model): Listed {
  let found = listed.get(concepts);
  if (found === undefined) {
    const [properties, measures] = [new Set<string>(), new Set<string>()];
    for (const c of concepts) {
      visited(1 + c.properties.length + c.multi.length + c.measures.length);
      for (const name of [...c.properties, ...c.multi]) properties.add(fold(name));
      for (const name of c.measures) measures.add(fold(name));
    }
    found = { properties, measures };
    listed.set(concepts, found);
  }
  return found;
}

/**
 * True if a statement creates an object that already exists but is hidden from its writer; OR REPLACE would replace it. A property or measure that no concept
 * has does not count.
 */
export function makesHidden(statement: ModelStatement, seen: Model, whole: Model): boolean {
  const object = objectOf(statement);
  if (object === undefined || !object.makes || isSeen(statement, seen) || !isSeen(statement, whole)) return false;
  const { list, name } = object;
  if (list !== 'properties' && list !== 'measures') return true;
  const { properties, measures } = listedBy(whole);
  return properties.has(fold(name.text)) || measures.has(fold(name.text));
}

/**
 * The first property that a statement lists, that the caller does not see, and that has a description, tags or an expression. A concept that listed it would
 * show them to its writer.
 */
export function listsHidden(statement: ModelStatement, seen: Model, whole: Model): Name | undefined {
  if (statement.kind !== 'create_concept') return undefined;
  const isDescribed = ({ description, tags, expression }: PropertyDef): boolean => description !== null || expression !== null || Object.keys(tags).length > 0;
  const isHidden = ({ text }: Name): boolean => {
    const known = find(whole.properties, text);
    if (known === undefined || !isDescribed(known) || find(seen.properties, text) !== undefined) return false;
    return listedBy(whole).properties.has(fold(text));
  };
  return statement.elements.flatMap((e) => (e.kind === 'property' || e.kind === 'multivalue' ? [e.name] : [])).find(isHidden);
}

/** Returns the concept or view that a statement changes, if it is in `seen`: its declared name, and its kind as in resources. */
export function changedPart(statement: ModelStatement, seen: Model): { readonly kind: 'concept' | 'view'; readonly name: string } | undefined {
  const object = objectOf(statement);
  if (object === undefined || (object.list !== 'concepts' && object.list !== 'views')) return undefined;
  const list: readonly { readonly name: string }[] = seen[object.list];
  const found = find(list, object.name.text);
  return found && { kind: object.list === 'concepts' ? 'concept' : 'view', name: found.name };
}

/**
 * Checks that the holder may apply a statement. Objects that it does not see are not checked here; applying the statement reports
 * them as unknown.
 * @param seen the part of the model that the holder sees
 * @throws SvcError 403
 */
export function requireEdit(holder: Holder, statement: ModelStatement, seen: Model, ontology: string): void {
  if (canAll(holder, 'edit', ['ontology', ontology])) return;
  const { offset } = statement.source;
  const object = objectOf(statement);
  if (object !== undefined && !object.makes && !isSeen(statement, seen)) return;
  const part = changedPart(statement, seen);
  if (part !== undefined) {
    if (can(holder, 'edit', ['ontology', ontology, part.kind, part.name])) return;
    throw lacks('EDIT', `ontology.${ontology}.${part.kind}.${part.name}`, offset);
  }
  if (!can(holder, 'edit', ['ontology', ontology])) throw lacks('EDIT', `ontology.${ontology}`, offset);
  // a rollback would also change hidden parts
  if (statement.kind === 'rollback') throw lacks('EDIT', `ALL ontology.${ontology}`, offset);
}
