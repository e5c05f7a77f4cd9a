/** The context of statements of the service while a script is applied: the caller, and what the script has created, dropped and granted. */

import { ADMIN_ID, type Caller, type Principal } from '../../auth/authenticate.ts';
import { can, canSee, type Resource } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import type { Call, CatalogDb } from '../../catalog/db.ts';
import type { ExampleRow } from '../../catalog/examples.ts';
import { requireNotAdmin } from '../../catalog/promotion.ts';
import { adminState } from '../../catalog/rights.ts';
import type { GrantRow, OntologyRow, Privilege } from '../../catalog/snapshot.ts';
import { badRequest, forbidden, quoted, type SvcError } from '../../errors.ts';
import type { Name, TagList } from '../../language/statements.ts';
import { fold, INVISIBLE, looksLikeAnother } from '../../ontology/names.ts';
import { lacks, ontologyInStatement, unknownInStatement } from '../caller/lookup.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import type { Session } from '../session.ts';
import type { Draft } from './draft.ts';
import { requireRoomForOwn } from './rights-room.ts';

/** The context of a script that writes. */
export interface WritingSession extends Session {
  readonly draft: Draft | undefined;
  /** Called when the script has created an ontology. @returns true if the script continues in it */
  enterOntology(draft: Draft): boolean;
  /** Called when the script has dropped an ontology. */
  leaveOntology(row: OntologyRow): void;
}

/** The result of applying a statement: the calls to commit, and the rows to return after the commit. */
export interface Done {
  readonly calls: readonly Call[];
  readonly rows: () => readonly unknown[];
  /** Returns further calls, which must be checked against the final model. It runs before the commit, so that the statement itself does not force a check of the model. */
  readonly settle?: () => Promise<readonly Call[]>;
  /** Runs after the commit of the calls, and before the next statement. What it throws ends the script. */
  readonly perform?: () => Promise<void>;
}

/** A result with one row. */
export const done = (calls: readonly Call[], row: Readonly<Record<string, unknown>>): Done => ({ calls, rows: () => [row] });

/** 400: an object with that name already exists. */
export const exists = (kind: string, name: Name): SvcError =>
  badRequest('exists', `the ${kind} ${quoted(name.text)} already exists`, {
    offset: name.offset,
    hint: 'Use CREATE OR REPLACE, or another name; case is ignored in names',
  });

/** The examples of an ontology by key of the question, and the characters of their texts. */
export interface Examples {
  readonly rows: Map<string, ExampleRow>;
  characters: number;
}

const grantKey = (grantee: catalog.Found, privilege: Privilege, resource: Resource, all: boolean): string =>
  JSON.stringify([grantee.id, privilege, resource.map(fold), all]);

/** The context; create one for each script. */
export class Changing {
  readonly session: WritingSession;
  /** Users that the script has created, by folded name. */
  readonly users = new Map<string, catalog.Found>();
  /** Roles that the script has created, by folded name. */
  readonly roles = new Map<string, catalog.Found>();
  /** Ids of users and roles that the script has dropped. */
  readonly dropped = new Set<string>();
  /** Users that the script has added to the role `admin` (true) or removed from it (false), by id. */
  readonly admins = new Map<string, boolean>();
  /** Users that the script has set active (true) or inactive (false), by id. */
  readonly active = new Map<string, boolean>();
  /** Examples after the changes of the script, by id of the ontology. Ontologies whose examples were not read have no entry. */
  readonly examples = new Map<string, Examples>();

  readonly #given = new Set<string>();

  constructor(session: WritingSession) {
    this.session = session;
  }

  get caller(): Caller {
    return this.session.caller;
  }
  get principal(): Principal {
    return this.caller.principal;
  }
  get db(): CatalogDb {
    return this.session.request.runtime.db;
  }

  /** Finds an ontology that a statement names. @throws SvcError 400 `unknown_ontology` */
  ontology(name: Name): OntologyRow {
    return ontologyInStatement(this.caller, name);
  }

  /** @throws SvcError 403 without EDIT on the kind of object; 400 `too_many_grants`, because the creator gets one */
  mayCreate(kind: string, offset: number): void {
    if (!can(this.principal, 'edit', [kind])) throw lacks('EDIT', kind, offset);
    requireRoomForOwn(this.principal, offset);
  }

  /** Grants the creator of an object EDIT ON ALL of it with grant option (docs/design/rights-and-visibility.md#ownership). */
  own(resource: Resource): readonly Call[] {
    const { isAdmin, userId } = this.principal;
    if (isAdmin) return [];
    this.#remember(resource);
    return catalog.grant({ grantee: { kind: 'user', id: userId }, privilege: 'edit', resource, all: true, grantOption: true });
  }

  /** Adds the grant to the caller, for the rest of the script. */
  #remember(resource: Resource): void {
    const row: GrantRow = { privilege: 'edit', resource, key: resource.map(fold), all: true, grantOption: true };
    (this.principal.grants as GrantRow[]).push(row);
  }

  /** Finds a user that the caller may see. @throws SvcError 400 `unknown_user` */
  async user(name: Name): Promise<catalog.Found> {
    const found = this.users.get(fold(name.text)) ?? (await catalog.findUser(this.db, name.text));
    if (found === undefined || this.dropped.has(found.id) || !canSee(this.principal, ['user', found.name])) throw unknownInStatement('user', name, []);
    return found;
  }

  /** Finds a role that the caller may see. @throws SvcError 400 `unknown_role` */
  async role(name: Name): Promise<catalog.Found> {
    const found = this.roles.get(fold(name.text)) ?? (await catalog.findRole(this.db, name.text));
    if (found === undefined || this.dropped.has(found.id) || !canSee(this.principal, ['role', found.name])) throw unknownInStatement('role', name, []);
    return found;
  }

  /** Records a grant of the script. */
  recordGrant(grantee: catalog.Found, privilege: Privilege, resource: Resource, all: boolean): void {
    this.#given.add(grantKey(grantee, privilege, resource, all));
  }

  /** True if the script has made this grant. */
  granted(grantee: catalog.Found, privilege: Privilege, resource: Resource, all: boolean): boolean {
    return this.#given.has(grantKey(grantee, privilege, resource, all));
  }

  /** True if the script has created one of them, so that the catalog does not have it yet. */
  made(...found: readonly catalog.Found[]): boolean {
    return found.some((f) => this.users.get(fold(f.name))?.id === f.id || this.roles.get(fold(f.name))?.id === f.id);
  }

  /**
   * Checks that the caller may change a user: only administrators may change administrators, regardless of other grants.
   * @returns calls to commit before the change. They abort the batch if the user has become an administrator.
   * @throws SvcError 403
   */
  async requireMayChange(user: catalog.Found, offset: number): Promise<readonly Call[]> {
    if (this.principal.isAdmin || this.made(user)) return [];
    if ((await adminState(this.db, user.id)).admin) throw forbidden('forbidden', 'Only administrators may change administrators', { offset });
    return requireNotAdmin(user.id);
  }

  /** True if a user is an administrator after the statements so far. @throws SvcError 503 */
  async isAdministrator(user: catalog.Found): Promise<boolean> {
    return this.admins.get(user.id) ?? (!this.made(user) && (await adminState(this.db, user.id)).admin);
  }

  /** True if a user is active after the statements so far. @throws SvcError 503 */
  async isActive(user: catalog.Found): Promise<boolean> {
    return this.active.get(user.id) ?? (this.made(user) || (await catalog.findUser(this.db, user.name))?.active === true);
  }

  /** Checks that a user can be dropped, deactivated or removed from the role `admin`. @throws SvcError 400 `last_admin`, `built_in` */
  async requireNotLastAdmin(user: catalog.Found, { offset }: Name): Promise<void> {
    if (user.id === ADMIN_ID) throw badRequest('built_in', `the user ${quoted(user.name)} is the built-in administrator`, { offset });
    if (this.made(user)) return;
    const { admin, others } = await adminState(this.db, user.id);
    if (admin && !others) throw badRequest('last_admin', `the user ${quoted(user.name)} is the last active administrator`, { offset });
  }

  /** @throws SvcError 400 `in_use` if a policy names the user or role */
  requireNotInPolicy(kind: 'user' | 'role', found: catalog.Found, { offset }: Name): void {
    for (const ontology of this.caller.snapshot.ontologies) {
      const policy = ontology.policies.find((p) => p.grantees.some((g) => g.kind === kind && g.id === found.id));
      if (policy === undefined) continue;
      const where = mayMakePolicies(this.principal, ontology.name) ? `the policy ${quoted(policy.name)} of the ontology ${quoted(ontology.name)}` : 'a policy';
      throw badRequest('in_use', `the ${kind} ${quoted(found.name)} is named by ${where}`, { offset, hint: 'Drop or replace the policy first' });
    }
  }
}

/** Blanks that a reader does not see, or sees as one space: at an end, several in a row, or others than a space. */
const UNSEEN_BLANK = /^ | $| {2}|[^\P{Zs} ]/u;

/** Kinds whose names decide whom a reader trusts: two names must not look the same because of invisible characters or blanks. */
const VISIBLE_KINDS: readonly string[] = ['user', 'role'];

/** Checks the name of an object. @param isKept true if an object of that name exists, which may have invisible characters @throws SvcError 400 `bad_name` (docs/design/statements-and-versions.md#names-of-things) */
export function checkName(name: Name, kind: string, isKept = false): void {
  if (VISIBLE_KINDS.includes(kind) && (INVISIBLE.test(name.text) || UNSEEN_BLANK.test(name.text)))
    throw badRequest('bad_name', `the name of a ${kind} must not have control or invisible characters, and only single spaces between words`, {
      offset: name.offset,
    });
  if (!isKept && looksLikeAnother(name.text))
    throw badRequest('bad_name', `the name of ${kind === 'ontology' || kind === 'agent' ? 'an' : 'a'} ${kind} must not have control or invisible characters`, {
      offset: name.offset,
    });
  const length = [...name.text].length;
  if (length >= 1 && length <= 128 && !/[[\]\u0000-\u001f\u007f-\u009f]/.test(name.text) && !/^(~|measure\.|_type_of_)/i.test(name.text)) return;
  throw badRequest('bad_name', `${quoted(name.text)} cannot be the name of ${kind === 'ontology' || kind === 'agent' ? 'an' : 'a'} ${kind}`, {
    offset: name.offset,
    hint: 'A name must have 1 to 128 characters, no square brackets and no control characters, and must not begin with ~, measure. or _type_of_',
  });
}

/** Converts a list of options to an object with folded names. @throws SvcError 400 `exists` if an option is given twice */
export function optionsOf(list: TagList): Readonly<Record<string, string>> {
  const options = new Map<string, string>();
  for (const { key, value } of list) {
    if (options.has(fold(key.text))) throw badRequest('exists', `the option ${quoted(key.text)} is given twice`, { offset: key.offset });
    options.set(fold(key.text), value);
  }
  return Object.fromEntries(options);
}
