/** CREATE, ALTER and DROP USER. */
import { creatorsOf } from '../../auth/authenticate.ts';
import { can, canSee } from '../../auth/grants.ts';
import { hashPassword } from '../../auth/passwords.ts';
import { cacheOf } from '../../cache.ts';
import * as catalog from '../../catalog/changes.ts';
import type { Call } from '../../catalog/db.ts';
import * as rights from '../../catalog/rights.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { readModel } from '../../catalog/versions.ts';
import { badRequest, forbidden, quoted } from '../../errors.ts';
import type { AlterUser, CreateUser, DropUser, Name } from '../../language/statements.ts';
import type { Model } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { lacks, unknownInStatement } from '../caller/lookup.ts';
import type { Runtime } from '../runtime.ts';
import { type Changing, checkName, type Done, done, exists, optionsOf } from './changing.ts';
import type { Kinds } from './kinds.ts';

type Text = string | null;

/** Options of CREATE USER, with their maximum number of characters. Nothing depends on the first and last name; lists show them. */
const CHARACTERS = { email: 320, tenant: 128, first_name: 200, last_name: 200 } as const;
const USER_OPTIONS: readonly string[] = Object.keys(CHARACTERS);

async function createUser(ctx: Changing, statement: CreateUser): Promise<Done> {
  const { name, password, options } = statement;
  checkName(name, 'user');
  const given = optionsOf(options);
  for (const { key, value } of options) {
    if (!USER_OPTIONS.includes(fold(key.text))) throw unknownInStatement('option', key, USER_OPTIONS);
    checkLength(fold(key.text) as keyof typeof CHARACTERS, value, key.offset);
  }
  const option = (wanted: string): string | null => Object.entries(given).find(([key, value]) => fold(key) === wanted && value.trim() !== '')?.[1] ?? null;
  if (password === '') throw noPassword(statement.source.offset);
  const known = ctx.users.get(fold(name.text)) ?? (await catalog.findUser(ctx.db, name.text));
  if (known !== undefined && !ctx.dropped.has(known.id) && canSee(ctx.principal, ['user', known.name])) {
    if (statement.ifNotExists) return done([], { user: known.name });
    if (statement.replace) return replaceUser(ctx, statement, option);
  }
  ctx.mayCreate('user', statement.source.offset);
  if (known !== undefined && !ctx.dropped.has(known.id)) throw exists('user', name);
  const user = { id: crypto.randomUUID(), name: name.text };
  const email = option('email');
  await requireOwnEmail(ctx, email === null ? [name.text] : [name.text, email], user.id, name.offset);
  ctx.users.set(fold(name.text), user);
  const hash = password === null ? null : await hashPassword(password);
  const names = { firstName: option('first_name'), lastName: option('last_name') };
  const calls = catalog.createUser({ ...user, ...names, email, tenant: option('tenant'), password: hash, by: creatorsOf(ctx.principal) });
  return done([...calls, ...ctx.own(['user', user.name])], { user: user.name });
}

/**
 * CREATE OR REPLACE of an existing user: sets the password and the options that the statement gives. Tokens, roles and rights stay.
 * @param option returns the value of an option; null if it is not given
 * @throws SvcError 403 without EDIT on the user, or for another tenant if the caller is not an administrator
 */
async function replaceUser(ctx: Changing, { name, password, source }: CreateUser, option: (name: string) => string | null): Promise<Done> {
  const [email, tenant, firstName, lastName] = ['email', 'tenant', 'first_name', 'last_name'].map(option) as [Text, Text, Text, Text];
  const { user, guard } = await userToChange(ctx, name, source.offset);
  const by = creatorsOf(ctx.principal);
  if (email !== null) await requireOwnEmail(ctx, [email], user.id, name.offset);
  const isNewTenant = tenant !== null && (ctx.made(user) || (await rights.tenantOf(ctx.db, user.id)) !== tenant);
  // the tenant decides whose JSON Web Tokens authenticate the user, and a promotion keeps it
  if (isNewTenant && !ctx.principal.isAdmin && !ctx.made(user))
    throw forbidden('forbidden', 'Only administrators may change the tenant of a user', { offset: source.offset });
  return done(
    [
      ...guard,
      ...(password === null ? [] : rights.setPassword(user.id, await hashPassword(password), by)),
      ...(email === null ? [] : rights.setEmail(user.id, email, by)),
      ...(isNewTenant ? rights.setTenant(user.id, tenant) : []),
      ...(firstName === null && lastName === null ? [] : rights.setNames(user.id, firstName, lastName)),
    ],
    { user: user.name },
  );
}

/**
 * Checks that no other user has the same e-mail, or has it as its name. JSON Web Tokens and login providers identify users by e-mail, so the user could no longer
 * log in, or could log in as the other one. Administrators are not checked, because they see all users.
 * @throws SvcError 400 `exists`
 */
async function requireOwnEmail(ctx: Changing, texts: readonly string[], id: string, offset: number): Promise<void> {
  if (ctx.principal.isAdmin || !(await rights.isEmailOfAnother(ctx.db, texts, id))) return;
  throw badRequest('exists', 'another user has that e-mail', { offset, hint: 'Ask an administrator' });
}

/** @throws SvcError 400 `bad_value` */
function checkLength(option: keyof typeof CHARACTERS, text: string, offset: number): void {
  const most = CHARACTERS[option];
  if (text.length > most) throw badRequest('bad_value', `the ${option} of a user has at most ${most} characters`, { offset });
}

const noPassword = (offset: number) => badRequest('bad_password', 'A password must have at least one character', { offset });

/** Finds a user that the caller may change, and the calls to commit before the change. @throws SvcError 400 `unknown_user`, 403 */
async function userToChange(ctx: Changing, name: Name, offset: number): Promise<{ readonly user: catalog.Found; readonly guard: readonly Call[] }> {
  const user = await ctx.user(name);
  if (!can(ctx.principal, 'edit', ['user', user.name])) throw lacks('EDIT', `user.${user.name}`, offset);
  return { user, guard: await ctx.requireMayChange(user, offset) };
}

async function alterUser(ctx: Changing, { name, setting, value, source }: AlterUser): Promise<Done> {
  const { user, guard } = await userToChange(ctx, name, source.offset);
  const by = creatorsOf(ctx.principal);
  const calls = async (): Promise<readonly Call[]> => {
    if (setting === 'email') {
      checkLength('email', value.text, value.offset);
      const email = value.text.trim() === '' ? null : value.text;
      if (email !== null) await requireOwnEmail(ctx, [email], user.id, value.offset);
      return rights.setEmail(user.id, email, by);
    }
    if (setting === 'active') {
      const active = activeOf(value);
      if (!active) await ctx.requireNotLastAdmin(user, name);
      ctx.active.set(user.id, active);
      return rights.setActive(user.id, active);
    }
    if (value.text === '') throw noPassword(value.offset);
    return rights.setPassword(user.id, await hashPassword(value.text), by);
  };
  return done([...guard, ...(await calls())], { user: user.name, changed: setting });
}

function activeOf({ text, offset }: AlterUser['value']): boolean {
  const word = fold(text.trim());
  if (word === 'true' || word === 'false') return word === 'true';
  throw badRequest('bad_value', "ACTIVE must be 'true' or 'false'", { offset });
}

async function dropUser(ctx: Changing, { name, source }: DropUser): Promise<Done> {
  const { user, guard } = await userToChange(ctx, name, source.offset);
  ctx.requireNotInPolicy('user', user, name);
  await ctx.requireNotLastAdmin(user, name);
  await requireNoDefinitions(ctx, user, name);
  ctx.dropped.add(user.id);
  return done([...guard, ...rights.dropUser(user.id, user.name)], { user: user.name, dropped: true });
}

/** A view or concept that a user has defined. */
type Defined = readonly ['view' | 'concept', string];

/** One definition of each definer, by version. All models together may be larger than the memory for models, and a script may drop many users. */
const definitions = cacheOf<ReadonlyMap<string, Defined>>('definers');

function definitionsIn({ views, concepts }: Model): ReadonlyMap<string, Defined> {
  const found = new Map<string, Defined>();
  for (const c of concepts) if (c.logic?.definer != null) found.set(c.logic.definer, ['concept', c.name]);
  for (const v of views) if (v.definer != null) found.set(v.definer, ['view', v.name]);
  return found;
}

/** @throws SvcError 503 */
async function definitionsOf(runtime: Runtime, { id, version }: OntologyRow): Promise<ReadonlyMap<string, Defined>> {
  const key = `${id}/${version}`;
  const known = definitions.get(key);
  if (known !== undefined) return known;
  const model = await readModel(runtime, id, version);
  // an ontology that was dropped concurrently has none
  const read = model === undefined ? new Map<string, Defined>() : definitionsIn(model);
  definitions.set(key, read, 200 + 300 * read.size);
  return read;
}

/** Checks that a user is not the definer of a view or condition, which would fail without it. @throws SvcError 400 `in_use` */
async function requireNoDefinitions(ctx: Changing, user: catalog.Found, { offset }: Name): Promise<void> {
  const { runtime } = ctx.session.request;
  const { draft } = ctx.session;
  for (const row of ctx.caller.snapshot.ontologies) {
    const defined = (draft?.row.key === row.key ? definitionsIn((await draft.graph()).model) : await definitionsOf(runtime, row)).get(user.id);
    if (defined === undefined) continue;
    const [kind, name] = defined;
    const seen = can(ctx.principal, 'access', ['ontology', row.name, kind, name]);
    const what = seen ? `the ${kind} ${quoted(name)} of the ontology ${quoted(row.name)}` : `a ${kind}`;
    throw badRequest('in_use', `the user ${quoted(user.name)} is the definer of ${what}, which reads with its rights`, {
      offset,
      hint: `Replace the ${kind} as another user, or ALTER USER u SET ACTIVE = 'false'`,
    });
  }
}

export const USERS: Kinds<'create_user' | 'alter_user' | 'drop_user'> = {
  create_user: { apply: createUser },
  alter_user: { apply: alterUser },
  drop_user: { apply: dropUser },
};
