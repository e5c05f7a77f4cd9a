/** CREATE USER. */

import { hashPassword } from '../../auth/passwords.ts';
import * as catalog from '../../catalog/changes.ts';
import { badRequest } from '../../errors.ts';
import type { CreateUser } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { unknownInStatement } from '../lookup.ts';
import { type Changing, checkName, type Done, done, exists, optionsOf } from './context.ts';

export async function createUser(ctx: Changing, statement: CreateUser): Promise<Done> {
  const { name, password, options } = statement;
  ctx.mayCreate('user', statement.source.offset);
  checkName(name, 'user');
  const given = optionsOf(options);
  for (const { key } of options) if (!['email', 'tenant'].includes(fold(key.text))) throw unknownInStatement('option', key, ['email', 'tenant']);
  const option = (wanted: string): string | null => Object.entries(given).find(([key, value]) => fold(key) === wanted && value.trim() !== '')?.[1] ?? null;
  if (password === '') throw badRequest('bad_password', 'A password has at least one character', { offset: statement.source.offset });
  const known = ctx.users.get(fold(name.text)) ?? (await catalog.findUser(ctx.db, name.text));
  if (known !== undefined) throw exists('user', name);
  const user = { id: crypto.randomUUID(), name: name.text };
  ctx.users.set(fold(name.text), user);
  const hash = password === null ? null : await hashPassword(password);
  const calls = catalog.createUser({ ...user, email: option('email'), tenant: option('tenant'), password: hash });
  return done([...calls, ...ctx.own(['user', user.name])], { user: user.name });
}
