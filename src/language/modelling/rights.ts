/** Statements about users, roles and grants (docs/design/rights-and-visibility.md#privileges-and-resources), each after its first keywords. */
import type { AlterUser, CreateRole, Grant, GrantRole, Name, RefreshPermissions, Revoke, RevokeRole } from '../statements.ts';
import { name, text } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/** `u SET PASSWORD|EMAIL|ACTIVE = 'x'` */
export function alterUser(c: Cursor): AlterUser {
  const user = name(c, 'the name of the user');
  c.expect('SET');
  const setting = c.accept('PASSWORD') ? 'password' : c.accept('EMAIL') ? 'email' : c.accept('ACTIVE') ? 'active' : undefined;
  if (setting === undefined) throw c.unexpected();
  const value = text(c, 'its value in single quotes');
  c.end();
  return { kind: 'alter_user', source: c.source, name: user, setting, value };
}

/** `r` */
export function createRole(c: Cursor, replace: boolean): CreateRole {
  const role = name(c, 'the name of the role');
  c.end();
  return { kind: 'create_role', source: c.source, replace, name: role };
}

/** Reads `[ALL] resource` after ON. */
function resource(c: Cursor): { readonly all: boolean; readonly resource: readonly Name[] } {
  const all = c.sees('ALL') && c.seesName(1);
  if (all) c.advance();
  const parts: Name[] = [name(c, '`ALL` or a resource')];
  while (c.acceptMark('.')) parts.push(name(c, 'the next part of the resource'));
  return { all, resource: parts };
}

function grantee(c: Cursor): Grant['grantee'] {
  const kind = c.accept('USER') ? 'user' : c.accept('ROLE') ? 'role' : undefined;
  if (kind === undefined) throw c.unexpected();
  return { kind, name: name(c, `the name of a ${kind}`) };
}

/** `{EDIT|QUERY|ACCESS} ON [ALL] resource TO {USER|ROLE} x [WITH GRANT OPTION]` */
export function grant(c: Cursor, privilege: Exclude<Grant['privilege'], 'auth'>): Grant {
  c.expect('ON');
  const on = resource(c);
  c.expect('TO');
  const to = grantee(c);
  const grantOption = c.accept('WITH');
  if (grantOption) c.expect('GRANT', 'OPTION');
  c.end();
  return { kind: 'grant', source: c.source, privilege, ...on, grantee: to, grantOption };
}

/** `{EDIT|QUERY|ACCESS} ON [ALL] resource FROM {USER|ROLE} x` */
export function revoke(c: Cursor, privilege: Exclude<Grant['privilege'], 'auth'>): Revoke {
  c.expect('ON');
  const on = resource(c);
  c.expect('FROM');
  const from = grantee(c);
  c.end();
  return { kind: 'revoke', source: c.source, privilege, ...on, grantee: from };
}

/** `ON user.<other> {TO|FROM} USER x` */
function impersonation(c: Cursor, word: 'TO' | 'FROM') {
  c.expect('ON');
  const kind = c.peek();
  const offset = c.offset();
  c.expect('USER');
  const parts: Name[] = [{ text: kind?.value ?? 'user', offset }];
  c.expectMark('.');
  parts.push(name(c, 'the name of a user'));
  c.expect(word, 'USER');
  const grantee = { kind: 'user', name: name(c, 'the name of a user') } as const;
  c.end();
  return { source: c.source, privilege: 'auth', all: false, resource: parts, grantee } as const;
}

/** `ON user.<other> TO USER x` */
export const grantAuth = (c: Cursor): Grant => ({ kind: 'grant', ...impersonation(c, 'TO'), grantOption: false });

/** `ON user.<other> FROM USER x` */
export const revokeAuth = (c: Cursor): Revoke => ({ kind: 'revoke', ...impersonation(c, 'FROM') });

/** `r TO USER u` */
export function grantRole(c: Cursor): GrantRole {
  return { kind: 'grant_role', ...membership(c, 'TO') };
}

/** `r FROM USER u` */
export function revokeRole(c: Cursor): RevokeRole {
  return { kind: 'revoke_role', ...membership(c, 'FROM') };
}

function membership(c: Cursor, word: 'TO' | 'FROM') {
  const role = name(c, 'the name of a role');
  c.expect(word, 'USER');
  const user = name(c, 'the name of a user');
  c.end();
  return { source: c.source, role, user };
}

/** `PERMISSIONS` */
export function refreshPermissions(c: Cursor): RefreshPermissions {
  c.end();
  return { kind: 'refresh_permissions', source: c.source };
}
