/** Plans and applies model files (docs/design/model-as-files.md). */
import type { Caller } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, conflict, positionsIn } from '../../errors.ts';
import { quoteBack } from '../../language/quote.ts';
import type { DropObject } from '../../language/statements.ts';
import { EMPTY_MODEL, type Model, madeByOf } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { currentCaller, findOntology, lacks, loadGraph, requireOntology } from '../caller/lookup.ts';
import { seesAll } from '../caller/sight.ts';
import { definitionsOf } from '../describe/show-create.ts';
import type { Runtime, Script, ServiceRequest } from '../runtime.ts';
import { applyContext } from '../write/apply-context.ts';
import { modelOf, requireOldSources } from '../write/writers.ts';
import { type CatalogChanges, catalogChanges } from './catalog-changes.ts';
import type { ModelFile } from './file-error.ts';
import { Files, keyOf, kindOf, nameOf } from './file-statements.ts';
import { type Change, changesBetween, objectsOf, propertiesOf } from './model-changes.ts';
import { type Notice, noticesOf } from './model-notices.ts';
import { type Target, targetOf } from './model-target.ts';
import { requireChanges } from './permitted.ts';
import { type Applied, applyStatements } from './write-run.ts';

/** What to apply, and how. */
export interface ModelFiles {
  readonly files: readonly ModelFile[];
  /** Who applies: objects that only an earlier apply of the source has made may be pruned. Null: all objects of the ontology. */
  readonly source: string | null;
  /** Drop what the files do not contain. */
  readonly prune: boolean;
  /** The version that the ontology must have; null: any. */
  readonly expect: string | null;
  /** A plan of the rollback to this version; the files have no effect. */
  readonly version?: string;
}

/** The changes that files make. */
export interface ModelChanges {
  /** The version that the changes were computed from; null if the ontology does not exist. */
  readonly base: string | null;
  /** The new version; null if nothing changes, and for a plan. */
  readonly version: string | null;
  readonly changes: readonly Change[];
  /** Objects of the ontology that no file contains, and that stay. */
  readonly unlisted: readonly { readonly kind: string; readonly name: string }[];
  readonly warnings: readonly unknown[];
}

/**
 * Says what `applyModel` would change, and checks it in the same way. Nothing is saved.
 * @throws SvcError 404 `unknown_ontology` if it does not exist and the caller may not create it; 403 without EDIT ON ALL of it; 409 `version_conflict` if it
 * has another version than expected; 400 for an error in a file (`FileError`)
 */
export const planModel = (request: ServiceRequest, ontology: string, files: ModelFiles): Promise<ModelChanges> => run(request, ontology, files, true);

/** Makes an ontology as the files say, in one version; creates it if it does not exist. @throws SvcError 403 `read_only`; as `planModel` */
export async function applyModel(request: ServiceRequest, ontology: string, files: ModelFiles): Promise<ModelChanges> {
  requireChanges(request);
  if (files.version !== undefined) throw badRequest('bad_value', '`version` is only for plans', { hint: 'ROLLBACK ONTOLOGY ... TO VERSION makes the change' });
  return run(request, ontology, files, false);
}

async function run(request: ServiceRequest, name: string, wish: ModelFiles, isDry: boolean): Promise<ModelChanges> {
  const caller = await (await currentCaller(request)).refresh();
  const row = findOntology(caller, name);
  if (row === undefined && !can(caller.principal, 'edit', ['ontology'])) requireOntology(caller, name);
  if (row !== undefined) requireWholeEdit(caller, row.name);
  if (wish.expect !== null && wish.expect.toLowerCase() !== row?.version) {
    throw conflict('version_conflict', 'The ontology has another version than expected', {
      hint: 'Plan again, and apply with the version that the plan was made for',
    });
  }
  const files = new Files(wish.files);
  const { runtime } = request;
  const base = row === undefined ? EMPTY_MODEL : (await loadGraph(runtime, row)).model;
  if (wish.version !== undefined) return rollbackPlan(runtime, caller, row ?? requireOntology(caller, name), base, wish.version);
  const at: OntologyPlace = row ?? { name, datasources: ['main'], active: 'main' };
  const context = applyContext(runtime, caller, at);
  try {
    const target = request.spending.models.run(() => targetOf(base, files, { ...wish, context, exists: row !== undefined }), 0);
    return await finished({ request, caller, row, at, name, base, files, wish, isDry }, target);
  } catch (error) {
    throw files.locate(error);
  }
}

/** What a rollback to a version would change. @throws SvcError 400 `unknown_version`; 403 as the rollback, if only that version reads a datasource */
async function rollbackPlan(runtime: Runtime, { principal }: Caller, row: OntologyRow, base: Model, version: string): Promise<ModelChanges> {
  const model = await modelOf(runtime, row, version, 0);
  requireOldSources(principal, base, model, row.datasources, 0);
  const objects = (of: Model) => objectsOf(of, row.name, runtime.config.product, new Set());
  return { base: row.version, version: null, changes: changesBetween(objects(base), objects(model)), unlisted: [], warnings: [] };
}

type OntologyPlace = Pick<OntologyRow, 'name' | 'datasources' | 'active'>;

/** The whole model is compared, so the caller must see and may edit all of it. */
function requireWholeEdit({ principal }: Caller, ontology: string): void {
  if (!can(principal, 'edit', ['ontology', ontology])) throw lacks('EDIT', `ontology.${ontology}`);
  if (!seesAll(principal, ontology)) throw lacks('EDIT', `ALL ontology.${ontology}`);
}

/** What is planned or applied, and by whom. */
interface Application {
  readonly request: ServiceRequest;
  readonly caller: Caller;
  /** Undefined: the ontology does not exist. */
  readonly row: OntologyRow | undefined;
  readonly at: OntologyPlace;
  /** The name of the ontology as the caller wrote it. */
  readonly name: string;
  readonly base: Model;
  readonly files: Files;
  readonly wish: ModelFiles;
  readonly isDry: boolean;
}

/** Compares the ontology with its target and applies the difference. */
async function finished(application: Application, target: Target): Promise<ModelChanges> {
  const { request, caller, row, name, base, files, wish, isDry } = application;
  const { changes, unlisted, statements } = await comparison(application, target);
  const before = row?.version ?? null;
  if (changes.length === 0) return { base: before, version: null, changes, unlisted, warnings: [] };
  const changed = new Set(changes.map((c) => keyOf(c.kind, c.name)));
  const script: Script = { ontology: name, sql: files.text, limit: null, datasource: null };
  const steps = {
    statements: [...target.statements(changed, row === undefined), ...statements],
    drops: dropsOf(changes, target.orphans, files.text.length),
    made: wish.source === null ? null : { source: wish.source, objects: madeBy(base, wish.source, changes) },
  };
  const { version, warnings } = await applyStatements({ request, script, caller, row }, steps, isDry);
  const notices =
    row === undefined
      ? []
      : await noticesOf(request, caller, row, target.graph).catch((error: unknown): readonly Notice[] => {
          if (isDry) throw error;
          // the change is made, so the answer must say so
          return [];
        });
  return { base: before, version: isDry ? null : version, changes, unlisted, warnings: [...notices, ...located(files, warnings)] };
}

interface Comparison extends Pick<ModelChanges, 'changes' | 'unlisted'> {
  /** Statements for changes of what is not part of the model, such as policies. */
  readonly statements: CatalogChanges['statements'];
}

/** The differences between the ontology and its target. */
async function comparison({ request, caller, row, at, base, files, wish }: Application, { graph }: Target): Promise<Comparison> {
  const { runtime } = request;
  const definitions = definitionsOf(runtime, caller, graph, row);
  const explicit = new Set(files.statements.map((s) => keyOf(kindOf(s), nameOf(s))));
  const before = row === undefined ? new Map() : objectsOf(base, at.name, runtime.config.product, explicit);
  const after = objectsOf(graph.model, at.name, runtime.config.product, explicit, definitions);
  const others = await catalogChanges({ ...request, caller }, row, files, { ...wish, madeBy: new Set(madeByOf(base, wish.source)) });
  // a change may give a property its first concept, or take its last one
  const properties = { drop: propertiesOf(graph.model), create: propertiesOf(base), change: new Map() };
  const isSettled = ({ action, kind, name }: Change): boolean => kind === 'property' && properties[action].has(fold(name));
  const changes = [...changesBetween(before, after).filter((c) => !isSettled(c)), ...others.changes];
  const unlisted = [
    ...[...after].filter(([key, o]) => o.kind !== 'ontology' && !explicit.has(key)).map(([, { kind, name }]) => ({ kind, name })),
    ...others.unlisted,
  ];
  return { changes, unlisted, statements: others.statements };
}

/** Statements that drop what the changes drop, and properties that belong to no concept any more. @param offset where errors about them are placed */
export function dropsOf(changes: readonly Change[], orphans: readonly string[], offset: number): DropObject[] {
  const drop = (object: DropObject['object'], name: string): DropObject => {
    const text = `DROP ${object.toUpperCase()} ${quoteBack(name)}`;
    return { kind: 'drop', source: { text, offset }, object, name: { text: name, offset } };
  };
  const dropped = changes.filter((c) => c.action === 'drop' && c.kind !== 'example' && c.kind !== 'policy' && c.kind !== 'property');
  return [...dropped.map(({ kind, name }) => drop(kind as DropObject['object'], name)), ...orphans.map((name) => drop('property', name))];
}

/** The objects that a source has made, after some changes. */
function madeBy(base: Model, source: string, changes: readonly Change[]): string[] {
  const made = new Set(madeByOf(base, source));
  for (const { action, kind, name } of changes) {
    if (action === 'drop') made.delete(keyOf(kind, name));
    else if (kind !== 'ontology') made.add(keyOf(kind, name));
  }
  return [...made].sort();
}

/** Warnings with the names of their files and the positions in them. */
function located(files: Files, warnings: Applied['warnings']): unknown[] {
  const positions = new Map<ModelFile, (offset: number) => number>();
  return warnings.map(({ code, message, offset }) => {
    const file = offset === undefined || offset >= files.text.length ? undefined : files.fileAt(offset);
    if (file === undefined || offset === undefined) return { code, message };
    const positionOf = positions.get(file) ?? positionsIn(file.text);
    positions.set(file, positionOf);
    return { code, message, file: file.name, position: positionOf(offset - file.base) };
  });
}
