/** CREATE ONTOLOGY and DROP ONTOLOGY. */
import { can } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest } from '../../errors.ts';
import type { CreateOntology, DropOntology } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { lacks, quoted } from '../caller/lookup.ts';
import { requirePolicyRight } from '../caller/policies.ts';
import { type Changing, checkName, type Done, done, exists } from './changing.ts';
import { Draft } from './draft.ts';
import type { Kinds } from './kinds.ts';

async function createOntology(ctx: Changing, statement: CreateOntology): Promise<Done> {
  const { name } = statement;
  ctx.mayCreate('ontology', statement.source.offset);
  checkName(name, 'ontology');
  if (fold(name.text) === 'system_db')
    throw badRequest('reserved_name', `${quoted(name.text)} means that there is no ontology, so it cannot be the name of one`, { offset: name.offset });
  if (ctx.caller.snapshot.ontologies.some((o) => o.key === fold(name.text))) throw exists('ontology', name);
  const draft = Draft.create(ctx.session.request, ctx.caller, name.text, statement.description, statement.source.text);
  (ctx.caller.snapshot.ontologies as OntologyRow[]).push(draft.row);
  const calls = [...ctx.own(['ontology', name.text])];
  if (!ctx.session.enterOntology(draft)) calls.unshift(...((await draft.write())?.calls ?? []));
  return { calls, rows: () => [{ ontology: name.text, version: draft.version }] };
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
  create_ontology: { reach: 'ontologies', apply: createOntology },
  drop_ontology: { reach: 'ontologies', apply: dropOntology },
};
