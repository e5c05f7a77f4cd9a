/** What the statements of the whole service work with while a script is applied: who asks, what exists by now, what was made. */

import { ADMIN_ID, type Caller, type Principal } from '../../auth/authenticate.ts';
import { can, canSee, type Resource } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import type { Call, CatalogDb } from '../../catalog/db.ts';
import type { ExampleRow } from '../../catalog/examples.ts';
import { stillNoAdmin } from '../../catalog/promotion.ts';
import { adminStanding } from '../../catalog/rights.ts';
import type { GrantRow, OntologyRow, Privilege } from '../../catalog/snapshot.ts';
import { badRequest, forbidden, type SvcError } from '../../errors.ts';
import type { Name, TagList } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import type { Draft } from '../draft.ts';
import { lacks, ontologyInStatement, quoted, unknownInStatement } from '../lookup.ts';
import { mayMakePolicies } from '../policies.ts';
import type { ServiceRequest } from '../runtime.ts';
import type { Script } from '../script.ts';

/** The script in which the statements stand. */
export interface Session {
  readonly request: ServiceRequest;
  readonly script: Script;
  /** Who asks, by what the catalog says now and what the script has made so far. */
  readonly caller: Caller;
  readonly draft: Draft | undefined;
  /** The script made an ontology. True: it goes on in it. */
  entered(draft: Draft): boolean;
  /** The script dropped an ontology. */
  left(row: OntologyRow): void;
}

/** What a statement writes, and the rows that tell of it once it is written. */
export interface Done {
  readonly calls: readonly Call[];
  readonly rows: () => readonly unknown[];
  /** What it writes besides, judged by the model as the script leaves it: the model is not to be settled for the statement's sake. */
  readonly settle?: () => Promise<readonly Call[]>;
}

export const done = (calls: readonly Call[], row: Readonly<Record<string, unknown>>): Done => ({ calls, rows: () => [row] });

/** 400 for the name of something that is there. */
export const exists = (kind: string, name: Name): SvcError =>
  badRequest('exists', `the ${kind} ${quoted(name.text)} exists already`, {
    offset: name.offset,
    hint: 'Use another name; names that differ in case only are the same',
  });

const grantKey = (grantee: catalog.Found, privilege: Privilege, resource: Resource, all: boolean): string =>
  JSON.stringify([grantee.id, privilege, resource.map(fold), all]);

/** One for each script. */
export class Changing {
  readonly session: Session;
  /** Users made by the script, by the compared form of their names. */
  readonly users = new Map<string, catalog.Found>();
  /** The same of roles. */
  readonly roles = new Map<string, catalog.Found>();
  /** Users and roles dropped by the script. */
  readonly dropped = new Set<string>();
  /** Users that the script has put into the role `admin` (true) or taken out of it, by id. */
  readonly admins = new Map<string, boolean>();
  /** Examples as the script has left them, by the id of their ontology; one that is not here has not been changed. */
  readonly examples = new Map<string, readonly ExampleRow[]>();

  readonly #given = new Set<string>();

  constructor(session: Session) {
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

  /** An ontology named by a statement. @throws SvcError 400 `unknown_ontology` */
  ontology(name: Name): OntologyRow {
    return ontologyInStatement(this.caller, name);
  }

  /** @throws SvcError 403 without EDIT on the kind of thing */
  mayCreate(kind: string, offset: number): void {
    if (!can(this.principal, 'edit', [kind])) throw lacks('EDIT', kind, offset);
  }

  /** The creator of something, by EDIT on its kind, has EDIT ON ALL of it, with grant option (docs/design/rights-and-visibility.md#ownership). */
  own(resource: Resource): readonly Call[] {
    const { isAdmin, userId } = this.principal;
    if (isAdmin) return [];
    this.#remember(resource);
    return catalog.grant({ grantee: { kind: 'user', id: userId }, privilege: 'edit', resource, all: true, grantOption: true });
  }

  /** The rest of the script sees what the caller got by it. */
  #remember(resource: Resource): void {
    const row: GrantRow = { privilege: 'edit', resource, key: resource.map(fold), all: true, grantOption: true };
    (this.principal.grants as GrantRow[]).push(row);
  }

  /** A user that the caller may see. @throws SvcError 400 `unknown_user` */
  async user(name: Name): Promise<catalog.Found> {
    const found = this.users.get(fold(name.text)) ?? (await catalog.findUser(this.db, name.text));
    if (found === undefined || this.dropped.has(found.id) || !canSee(this.principal, ['user', found.name])) throw unknownInStatement('user', name, []);
    return found;
  }

  /** A role that the caller may see. @throws SvcError 400 `unknown_role` */
  async role(name: Name): Promise<catalog.Found> {
    const found = this.roles.get(fold(name.text)) ?? (await catalog.findRole(this.db, name.text));
    if (found === undefined || this.dropped.has(found.id) || !canSee(this.principal, ['role', found.name])) throw unknownInStatement('role', name, []);
    return found;
  }

  /** Remembers a grant of the script. */
  gave(grantee: catalog.Found, privilege: Privilege, resource: Resource, all: boolean): void {
    this.#given.add(grantKey(grantee, privilege, resource, all));
  }

  /** Whether the script has granted that. */
  granted(grantee: catalog.Found, privilege: Privilege, resource: Resource, all: boolean): boolean {
    return this.#given.has(grantKey(grantee, privilege, resource, all));
  }

  /** Whether the script has made one of them, so that the catalog does not know it. */
  made(...found: readonly catalog.Found[]): boolean {
    return found.some((f) => this.users.get(fold(f.name))?.id === f.id || this.roles.get(fold(f.name))?.id === f.id);
  }

  /**
   * Only administrators change administrators, whatever EDIT others have.
   * @returns the calls that go before the change in its batch: they abort it if the user has become an administrator meanwhile
   * @throws SvcError 403
   */
  async requireOver(user: catalog.Found, offset: number): Promise<readonly Call[]> {
    if (this.principal.isAdmin || this.made(user)) return [];
    if ((await adminStanding(this.db, user.id)).admin) throw forbidden('forbidden', 'Administrators are changed by administrators', { offset });
    return stillNoAdmin(user.id);
  }

  /** Whether a user is an administrator after the statements applied so far. @throws SvcError 503 */
  async isAdministrator(user: catalog.Found): Promise<boolean> {
    return this.admins.get(user.id) ?? (!this.made(user) && (await adminStanding(this.db, user.id)).admin);
  }

  /** The service keeps an administrator, and the built-in one stays. @throws SvcError 400 `last_admin`, `built_in` */
  async leavesAdmin(user: catalog.Found, { offset }: Name): Promise<void> {
    if (user.id === ADMIN_ID) throw badRequest('built_in', `the user ${quoted(user.name)} is the built-in administrator`, { offset });
    if (this.made(user)) return;
    const { admin, others } = await adminStanding(this.db, user.id);
    if (admin && !others) throw badRequest('last_admin', `the user ${quoted(user.name)} is the last active administrator`, { offset });
  }

  /** @throws SvcError 400 `in_use` for a user or role that a policy names */
  unnamed(kind: 'user' | 'role', found: catalog.Found, { offset }: Name): void {
    for (const ontology of this.caller.snapshot.ontologies) {
      const policy = ontology.policies.find((p) => p.grantees.some((g) => g.kind === kind && g.id === found.id));
      if (policy === undefined) continue;
      const where = mayMakePolicies(this.principal, ontology.name) ? `the policy ${quoted(policy.name)} of the ontology ${quoted(ontology.name)}` : 'a policy';
      throw badRequest('in_use', `the ${kind} ${quoted(found.name)} is named by ${where}`, { offset, hint: 'Drop or replace the policy first' });
    }
  }
}

/** @throws SvcError 400 `bad_name` (docs/design/statements-and-versions.md#names-of-things) */
export function checkName(name: Name, kind: string): void {
  const length = [...name.text].length;
  if (length >= 1 && length <= 128 && !/[[\]\u0000-\u001f\u007f-\u009f]/.test(name.text) && !/^(~|measure\.|_type_of_)/i.test(name.text)) return;
  throw badRequest('bad_name', `${quoted(name.text)} cannot be the name of ${kind === 'ontology' || kind === 'agent' ? 'an' : 'a'} ${kind}`, {
    offset: name.offset,
    hint: 'A name has 1 to 128 characters, no square brackets and no control characters, and begins with none of ~, measure. and _type_of_',
  });
}

/** @throws SvcError 400 `exists` where an option is given twice */
export function optionsOf(list: TagList): Readonly<Record<string, string>> {
  const options = new Map<string, string>();
  for (const { key, value } of list) {
    if (options.has(fold(key.text))) throw badRequest('exists', `the option ${quoted(key.text)} is given twice`, { offset: key.offset });
    options.set(fold(key.text), value);
  }
  return Object.fromEntries(options);
}
