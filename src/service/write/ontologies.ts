/** CREATE ONTOLOGY and DROP ONTOLOGY. */
import { can, canSee } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { CreateOntology, DropOntology } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { lacks } from '../caller/lookup.ts';
import { requirePolicyRight } from '../caller/policies.ts';
import { type Changing, checkName, type Done, done, exists } from './changing.ts';
import { Draft } from './draft.ts';
import type { Kinds } from './kinds.ts';

async function createOntology(ctx: Changing, statement: CreateOntology): Promise<Done> {
  const { name } = statement;
  if (findSeen(ctx, statement) === undefined) ctx.mayCreate('ontology', statement.source.offset);
  const old = ctx.caller.snapshot.ontologies.find((o) => o.key === fold(name.text));
  checkName(name, 'ontology', old !== undefined);
  if (fold(name.text) === 'system_db')
    throw badRequest('reserved_name', `${quoted(name.text)} means that there is no ontology, so it cannot be the name of one`, { offset: name.offset });
  if (old !== undefined) return existing(ctx, statement, old);
  const draft = Draft.create(ctx.session.request, ctx.caller, name.text, statement.description, statement.source.text);
  (ctx.caller.snapshot.ontologies as OntologyRow[]).push(draft.row);
  const calls = [...ctx.own(['ontology', name.text])];
  if (!ctx.session.enterOntology(draft)) calls.unshift(...((await draft.write())?.calls ?? []));
  return { calls, rows: () => [{ ontology: name.text, version: draft.version }] };
}

/** The ontology that CREATE OR REPLACE or CREATE IF NOT EXISTS names, if the caller sees it. */
function findSeen(ctx: Changing, { name, replace, ifNotExists }: CreateOntology): OntologyRow | undefined {
  if (!replace && !ifNotExists) return undefined;
  return ctx.caller.snapshot.ontologies.find((o) => o.key === fold(name.text) && canSee(ctx.principal, ['ontology', o.name]));
}

/** CREATE of an ontology that exists: the script continues in it. OR REPLACE sets its description. @throws SvcError 400 `exists`; 403 without EDIT */
async function existing(ctx: Changing, statement: CreateOntology, row: OntologyRow): Promise<Done> {
  const { name, description, source } = statement;
  if (findSeen(ctx, statement) === undefined) throw exists('ontology', name);
  const current = ctx.session.draft?.row.key === row.key ? ctx.session.draft : undefined;
  const draft = current ?? (await Draft.open(ctx.session.request, ctx.caller, row));
  if (statement.replace && draft.description !== description)
    await draft.apply({ kind: 'alter_ontology', source, name, key: { text: 'description', offset: name.offset }, value: description ?? '' });
  const calls = ctx.session.enterOntology(draft) ? [] : ((await draft.write())?.calls ?? []);
  return { calls, rows: () => [{ ontology: row.name, version: draft.version }] };
}

/** @throws SvcError 403 without EDIT, or if the ontology has policies that the caller may not drop */
async function dropOntology(ctx: Changing, { name, source }: DropOntology): Promise<Done> {
  const row = ctx.ontology(name);
  if (!can(ctx.principal, 'edit', ['ontology', row.name])) throw lacks('EDIT', `ontology.${row.name}`, source.offset);
  // its policies are dropped, too
  if (row.policies.length > 0) requirePolicyRight(ctx.principal, row.name, source.offset);
  const { ontologies } = ctx.caller.snapshot;
  (ontologies as OntologyRow[]).splice(ontologies.indexOf(row), 1);
  ctx.session.leaveOntology(row);
  return done(catalog.dropOntology(row.id, row.name), { ontology: row.name, dropped: true });
}

export const ONTOLOGIES: Kinds<'create_ontology' | 'drop_ontology'> = {
  create_ontology: { apply: createOntology },
  drop_ontology: { apply: dropOntology },
};
