/** CREATE and DROP DATASOURCE, and the statements that attach datasources to ontologies. */
import { can, canSee } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import type { DatasourceRow } from '../../catalog/snapshot.ts';
import { isDatasourceSecret } from '../../config.ts';
import { MOST_REPLICAS, maxLag, replicaNames } from '../../engine/replicas/options.ts';
import { badRequest, forbidden, quoted, type SvcError } from '../../errors.ts';
import type { AlterOntologyDatasource, CreateDatasource, DropDatasource } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { datasourceInStatement, lacks } from '../caller/lookup.ts';
import { functionsOn } from './allowed-functions.ts';
import { type Changing, checkName, type Done, done, exists, optionsOf } from './changing.ts';
import { Draft } from './draft.ts';
import type { Kinds } from './kinds.ts';
import { writerSecret } from './refresh-cache.ts';

const isWriter = (name: string): boolean => name.endsWith(writerSecret(''));
const ofWriter = (offset: number): SvcError =>
  badRequest('bad_secret', 'a variable that ends with _WRITER is the connection of a role that writes; queries must not run as this role', { offset });

async function createDatasource(ctx: Changing, statement: CreateDatasource): Promise<Done> {
  const { name, type, secret } = statement;
  if (!ctx.principal.isAdmin) throw forbidden('forbidden', 'Only administrators may use CREATE DATASOURCE', { offset: statement.source.offset });
  const old = ctx.caller.snapshot.datasources.find((d) => d.key === fold(name.text));
  checkName(name, 'datasource', old !== undefined);
  if (!/^postgres(ql)?$/i.test(type.text))
    throw badRequest('unknown_type', `unknown type of datasource ${quoted(type.text)}; the only type is \`postgres\``, { offset: type.offset });
  if (isWriter(secret.text)) throw ofWriter(secret.offset);
  if (!isDatasourceSecret(secret.text)) {
    throw badRequest('bad_secret', 'SECRET must name a variable that begins with DATASOURCE_', {
      offset: secret.offset,
      hint: 'The name may contain only capital letters, digits and _',
    });
  }
  if (old !== undefined && statement.ifNotExists) return done([], { datasource: old.name, type: old.type, secret: old.secret });
  if (old !== undefined && !statement.replace) throw exists('datasource', name);
  if (ctx.session.request.runtime.config.datasourceSecrets[secret.text] === undefined) {
    throw badRequest('secret_not_set', `the variable ${secret.text} is not set`, {
      offset: secret.offset,
      hint: 'Ask the operator to set it',
    });
  }
  const options = optionsOf(statement.options);
  const missing = checkReplicas(ctx, statement, options);
  const row = { name: old?.name ?? name.text, type: 'postgres', secret: secret.text, options };
  const list = ctx.caller.snapshot.datasources as DatasourceRow[];
  const seen = { name: row.name, type: row.type, secret: row.secret, replicas: options.replicas, maxLag: options.max_lag };
  if (old === undefined) list.push({ ...seen, id: '', key: fold(name.text) });
  else {
    list[list.indexOf(old)] = { ...old, ...seen };
    await requireAllowed(ctx, old.key, secret.offset);
  }
  const calls = old === undefined ? catalog.createDatasource(row) : catalog.replaceDatasource(old.id, row);
  const warning = missing.length === 0 ? {} : { warning: `not set, so these replicas are not used: ${missing.join(', ')}` };
  return done(calls, { datasource: row.name, type: row.type, secret: row.secret, ...warning });
}

/** Checks the options about replicas. @returns the variables of replicas that are not set @throws SvcError 400 `bad_secret`, `bad_value` */
function checkReplicas(ctx: Changing, { secret, options }: CreateDatasource, values: Readonly<Record<string, string>>): readonly string[] {
  const offsetOf = (option: string): number => options.find(({ key }) => fold(key.text) === option)?.key.offset ?? 0;
  const offset = offsetOf('replicas');
  const names = replicaNames(values.replicas);
  if (names.some(isWriter)) throw ofWriter(offset);
  const wrong = names.find((name) => !isDatasourceSecret(name));
  if (wrong !== undefined) {
    throw badRequest('bad_secret', `replicas must list variables that begin with DATASOURCE_, not ${quoted(wrong)}`, {
      offset,
      hint: "For example replicas = 'DATASOURCE_D_R1, DATASOURCE_D_R2'",
    });
  }
  const twice = names.find((name, i) => name === secret.text || names.indexOf(name) !== i);
  if (twice !== undefined) throw badRequest('bad_value', `${twice} is named twice`, { offset, hint: 'SECRET and each replica are different variables' });
  if (names.length > MOST_REPLICAS) throw badRequest('bad_value', `a datasource has at most ${MOST_REPLICAS} replicas`, { offset });
  if (maxLag(values.max_lag) === undefined)
    throw badRequest('bad_value', 'max_lag must be a time from 1 s to 1 h', { offset: offsetOf('max_lag'), hint: "For example '10 s' or '2 min'" });
  return names.filter((name) => ctx.session.request.runtime.config.datasourceSecrets[name] === undefined);
}

/**
 * Checks the allowed functions of all ontologies with a datasource on its new database: they were checked on the old one.
 * @throws SvcError 400 `bad_value`; 502
 */
async function requireAllowed(ctx: Changing, datasource: string, offset: number): Promise<void> {
  const attached = ctx.caller.snapshot.ontologies.filter((o) => o.datasources.includes(datasource));
  const names = new Set(attached.flatMap((o) => [...allowedFunctionsOf(o)]));
  await functionsOn(ctx.session.request.runtime, ctx.caller, datasource, [...names], offset);
}

async function dropDatasource(ctx: Changing, { name, source }: DropDatasource): Promise<Done> {
  const row = datasourceInStatement(ctx.caller, name);
  if (!can(ctx.principal, 'edit', ['datasource', row.name])) throw lacks('EDIT', `datasource.${row.name}`, source.offset);
  const users = ctx.caller.snapshot.ontologies.filter((o) => o.datasources.includes(row.key));
  if (users.length > 0) {
    const seen = users.filter((o) => canSee(ctx.principal, ['ontology', o.name])).map((o) => quoted(o.name));
    throw badRequest('in_use', `the datasource ${quoted(row.name)} is attached to ${seen.length > 0 ? seen.join(', ') : 'an ontology'}`, {
      offset: name.offset,
      hint: 'ALTER ONTOLOGY n REMOVE DATASOURCE d first',
    });
  }
  const { datasources } = ctx.caller.snapshot;
  (datasources as unknown[]).splice(datasources.indexOf(row), 1);
  return done(catalog.dropDatasource(row.name), { datasource: row.name, dropped: true });
}

async function alterDatasource(ctx: Changing, statement: AlterOntologyDatasource): Promise<Done> {
  const { name, action } = statement;
  const row = ctx.ontology(name);
  if (!can(ctx.principal, 'edit', ['ontology', row.name])) throw lacks('EDIT', `ontology.${row.name}`, statement.source.offset);
  const datasource = datasourceInStatement(ctx.caller, statement.datasource);
  if (!can(ctx.principal, 'edit', ['datasource', datasource.name])) throw lacks('EDIT', `datasource.${datasource.name}`, statement.datasource.offset);
  const attached = row.datasources.includes(datasource.key);
  const answer = { ontology: row.name, datasource: datasource.name, action };
  if (statement.lenient && attached === (action === 'add')) return done([], answer);
  const fail = (code: string, message: string) => badRequest(code, message, { offset: statement.datasource.offset });
  if (action === 'add' && attached) throw fail('exists', `the datasource ${quoted(datasource.name)} is already attached to ${quoted(row.name)}`);
  if (action !== 'add' && !attached) throw fail('unknown_datasource', `the datasource ${quoted(datasource.name)} is not attached to ${quoted(row.name)}`);
  const draft = ctx.session.draft?.row.key === row.key ? ctx.session.draft : undefined;
  let { datasources, active } = row;
  if (action === 'add') {
    // allowed functions were checked only on the datasources that were attached at that time
    await functionsOn(ctx.session.request.runtime, ctx.caller, datasource.key, [...allowedFunctionsOf(row)], statement.datasource.offset);
    datasources = [...datasources, datasource.key];
    active ??= datasource.key;
  } else if (action === 'activate') active = datasource.key;
  else {
    if (row.active === datasource.key && datasources.length > 1)
      throw fail('in_use', `the datasource ${quoted(datasource.name)} is the active one; activate another one first`);
    const users = (draft ?? (await Draft.open(ctx.session.request, ctx.caller, row))).users(datasource.name);
    if (users.length > 0)
      throw fail(
        'in_use',
        `the datasource ${quoted(datasource.name)} is used by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ` and ${users.length - 5} more` : ''}`,
      );
    datasources = datasources.filter((d) => d !== datasource.key);
    if (active === datasource.key) active = null;
  }
  const calls = {
    add: () => catalog.attachDatasource(row.id, datasource.key, row.active === null),
    remove: () => catalog.detachDatasource(row.id, datasource.key),
    activate: () => catalog.activateDatasource(row.id, datasource.key),
  }[action]();
  Object.assign(row, { datasources, active });
  draft?.withDatasources(datasources, active);
  return done(calls, answer);
}

export const DATASOURCES: Kinds<'create_datasource' | 'drop_datasource' | 'alter_ontology_datasource'> = {
  create_datasource: { apply: createDatasource },
  drop_datasource: { apply: dropDatasource },
  alter_ontology_datasource: { apply: alterDatasource },
};
