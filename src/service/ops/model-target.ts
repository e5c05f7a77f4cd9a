/** The model that files describe, and the statements that lead to it. */
import { printProperty } from '../../language/print.ts';
import { quoteBack } from '../../language/quote.ts';
import type { AlterOntology, CreateOntology, CreateProperty, ModelStatement, RollbackOntology, Statement } from '../../language/statements.ts';
import { type ApplyContext, applyStatement, finish } from '../../ontology/apply.ts';
import type { Graph } from '../../ontology/graph.ts';
import { type Model, madeByOf, type PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { type FileStatement, type Files, keyOf, kindOf, nameOf, type ObjectStatement } from './file-statements.ts';
import { listedProperties, propertiesOf, without, withoutPropertiesOf } from './model-changes.ts';

/** What decides the model besides the files. */
export interface TargetOptions {
  readonly source: string | null;
  readonly prune: boolean;
  /** False if the files create the ontology. */
  readonly exists: boolean;
  readonly context: ApplyContext;
}

/** The model that files describe. */
export interface Target {
  readonly graph: Graph;
  /** Names of properties that belonged to concepts which no longer list them. */
  readonly orphans: readonly string[];
  /** The statements that lead to it. @param changed keys of the objects that change @param isNew true: they also create the ontology */
  statements(changed: ReadonlySet<string>, isNew: boolean): Statement[];
}

const isObject = (s: FileStatement): s is ObjectStatement => s.kind !== 'create_ontology' && s.kind !== 'alter_ontology' && !isOfCatalog(s);
const isOfCatalog = (s: FileStatement): boolean => s.kind === 'create_example' || s.kind === 'create_policy';

/**
 * Computes the model: what the files define, and what they do not name and do not prune.
 * @throws SvcError 400 with the offset in the files' text
 */
export function targetOf(base: Model, files: Files, options: TargetOptions): Target {
  const context = { ...options.context, before: base };
  const known = keysOf(base);
  const keyed = files.statements.filter(isObject).map((s) => [keyOf(kindOf(s), nameOf(s)), s] as const);
  const explicit = new Set(keyed.map(([key]) => key));
  const applied = keyed.filter(([key, s]) => !(s.ifNotExists && known.has(key)));
  const defined = new Set(applied.map(([key]) => key));
  const made = options.source === null ? undefined : new Set(madeByOf(base, options.source));
  const isPruned = (key: string): boolean => options.prune && !explicit.has(key) && (made === undefined || made.has(key));
  const kept = without(base, (key) => defined.has(key) || (isPruned(key) && !key.startsWith('property ')));
  const staying = new Set(kept.concepts);
  const replaced = base.concepts.filter((c) => !staying.has(c));
  const start = withSettings(withoutPropertiesOf(kept, replaced, kept.concepts), files, options.exists, context);
  const model = applied.reduce((m, [, s]) => applyStatement(m, { ...s, replace: true }, context), start);
  const listed = listedProperties(model.concepts);
  const pruned = without(model, (key) => key.startsWith('property ') && isPruned(key) && !listed.has(key.slice('property '.length)));
  const { graph } = finish(base, pruned, context);
  const offset = files.text.length;
  const [before, after] = [propertiesOf(base), propertiesOf(graph.model)];
  return {
    graph,
    orphans: base.properties.filter((p) => !after.has(fold(p.name))).map((p) => p.name),
    statements: (changed, isNew) => [
      ...(isNew ? [creation(context.ontology, graph.model, offset)] : []),
      ...settings(files, base, graph.model, context, isNew),
      ...graph.model.properties.flatMap((p) => retyped(p, before.get(fold(p.name)), explicit, offset)),
      ...applied.flatMap(([key, s]): ModelStatement[] => (changed.has(key) ? [{ ...s, replace: true }] : [])),
    ],
  };
}

/** The keys of the objects of a model. */
function keysOf(model: Model): ReadonlySet<string> {
  const keys = (kind: string, list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => keyOf(kind, name));
  const { properties, measures, concepts, mappings, views } = model;
  return new Set([
    ...keys('property', properties),
    ...keys('measure', measures),
    ...keys('concept', concepts),
    ...keys('mapping', mappings),
    ...keys('view', views),
  ]);
}

type Setting = Exclude<ModelStatement, RollbackOntology> & AlterOntology;

const isSetting = (s: FileStatement): s is AlterOntology => s.kind === 'alter_ontology' && s.key.text !== 'allowed_functions';

/** A model with the description and the settings that the files give. */
function withSettings(model: Model, files: Files, exists: boolean, context: ApplyContext): Model {
  const created = files.statements.find((s) => s.kind === 'create_ontology' && !(s.ifNotExists && exists)) as CreateOntology | undefined;
  const described = created === undefined ? model : { ...model, description: created.description };
  return files.statements.filter(isSetting).reduce((m: Model, s) => applyStatement(m, s, context), described);
}

const creation = (ontology: string, { description }: Model, offset: number): CreateOntology => ({
  kind: 'create_ontology',
  replace: false,
  source: { text: `CREATE ONTOLOGY ${quoteBack(ontology)}`, offset },
  name: { text: ontology, offset },
  description,
});

/** The statements for changed settings. Files may have been written for an ontology with another name. */
function settings(files: Files, base: Model, target: Model, { ontology }: ApplyContext, isNew: boolean): Setting[] {
  const at = files.text.length;
  const name = { text: ontology, offset: at };
  const changed = files.statements
    .filter(isSetting)
    .filter((s) => s.key.text !== 'description' && (isNew || base.config[s.key.text] !== target.config[s.key.text]));
  const described: Setting = {
    kind: 'alter_ontology',
    source: { text: `ALTER ONTOLOGY ${quoteBack(ontology)} SET DESCRIPTION`, offset: at },
    name,
    key: { text: 'description', offset: at },
    value: target.description ?? '',
  };
  return [
    ...(isNew || base.description === target.description ? [] : [described]),
    ...changed.map((s) => ({ ...s, name: { ...name, offset: s.name.offset } })),
  ];
}

/** The statement for a property whose type changes because the lists of concepts give another one. */
function retyped(p: PropertyDef, old: PropertyDef | undefined, explicit: ReadonlySet<string>, offset: number): CreateProperty[] {
  if (old === undefined || explicit.has(keyOf('property', p.name)) || (old.type === p.type && old.multi === p.multi)) return [];
  return [
    {
      kind: 'create_property',
      replace: true,
      source: { text: printProperty(p), offset },
      name: { text: p.name, offset },
      multi: p.multi,
      type: { text: p.type, offset },
      description: p.description,
      tags: Object.entries(p.tags).map(([key, value]) => ({ key: { text: key, offset }, value })),
      expression: p.expression === null ? null : { text: p.expression, offset },
    },
  ];
}
