/** What the statements of the whole service work with while a script is applied: who asks, what exists by now, what was made. */
import type { Caller, Principal } from '../../auth/authenticate.ts';
import { can, canSee, type Resource } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import type { Call, CatalogDb } from '../../catalog/db.ts';
import type { GrantRow, OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, type SvcError } from '../../errors.ts';
import type { Name, TagList } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import type { Draft } from '../draft.ts';
import { lacks, ontologyInStatement, quoted, unknownInStatement } from '../lookup.ts';
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
}

export const done = (calls: readonly Call[], row: Readonly<Record<string, unknown>>): Done => ({ calls, rows: () => [row] });

/** 400 for the name of something that is there. */
export const exists = (kind: string, name: Name): SvcError =>
  badRequest('exists', `the ${kind} ${quoted(name.text)} exists already`, {
    offset: name.offset,
    hint: 'Use another name; names that differ in case only are the same',
  });

/** One for each script. */
export class Changing {
  readonly session: Session;
  /** Users made by the script, by the compared form of their names. */
  readonly users = new Map<string, catalog.Found>();

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

  /** Who makes something by EDIT on its kind has EDIT ON ALL of it, with grant option (decisions 7). */
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
    if (found === undefined || !canSee(this.principal, ['user', found.name])) throw unknownInStatement('user', name, []);
    return found;
  }

  /** A role that the caller may see. @throws SvcError 400 `unknown_role` */
  async role(name: Name): Promise<catalog.Found> {
    const found = await catalog.findRole(this.db, name.text);
    if (found === undefined || !canSee(this.principal, ['role', found.name])) throw unknownInStatement('role', name, []);
    return found;
  }
}

/** @throws SvcError 400 `bad_name` (decisions 6) */
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
