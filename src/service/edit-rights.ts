/**
 * Who may change what of a model (docs/design/rights-and-visibility.md#editing): EDIT on the concept or view that a statement changes, else on the ontology.
 */
import { can, canAll, type Holder } from '../auth/grants.ts';
import type { ModelStatement, Name } from '../language/statements.ts';
import type { Model } from '../ontology/model.ts';
import { sameName } from '../ontology/names.ts';
import { lacks } from './lookup.ts';

type List = 'concepts' | 'views' | 'properties' | 'measures' | 'mappings';

/** What a statement makes, changes or drops; undefined: it is about the ontology itself. */
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

/** Whether what a statement changes is in `seen`; so is the ontology itself. */
export function isSeen(statement: ModelStatement, seen: Model): boolean {
  const object = objectOf(statement);
  const list: readonly { readonly name: string }[] | undefined = object && seen[object.list];
  return list === undefined || list.some((o) => sameName(o.name, object?.name.text ?? ''));
}

/**
 * Whether a statement makes what is there already, unseen: OR REPLACE would take away what its writer does not know of. A property or measure that
 * no concept has is nobody's.
 */
export function makesHidden(statement: ModelStatement, seen: Model, whole: Model): boolean {
  const object = objectOf(statement);
  if (object === undefined || !object.makes || isSeen(statement, seen) || !isSeen(statement, whole)) return false;
  const { list, name } = object;
  if (list !== 'properties' && list !== 'measures') return true;
  return whole.concepts.some((c) => [...c.properties, ...c.multi, ...c.measures].some((own) => sameName(own, name.text)));
}

/** The concept or view that a statement changes, where `seen` has it: what it is called there, and as a part of a resource. */
export function changedPart(statement: ModelStatement, seen: Model): { readonly kind: 'concept' | 'view'; readonly name: string } | undefined {
  const object = objectOf(statement);
  if (object === undefined || (object.list !== 'concepts' && object.list !== 'views')) return undefined;
  const list: readonly { readonly name: string }[] = seen[object.list];
  const found = list.find((o) => sameName(o.name, object.name.text));
  return found && { kind: object.list === 'concepts' ? 'concept' : 'view', name: found.name };
}

/**
 * Whether the holder may apply a statement to the model, of which it sees `seen`. What it names and does not see is left to the
 * statement's own refusal: it is unknown.
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
  // what an older version had of what is hidden would come back or go
  if (statement.kind === 'rollback') throw lacks('EDIT', `ALL ontology.${ontology}`, offset);
}
