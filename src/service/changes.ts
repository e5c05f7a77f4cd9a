/** Statements of the whole service (decisions 6 and 7): ontologies, datasources, agents, users, tokens, grants. */
import type { Caller } from '../auth/authenticate.ts';
import { can, canGrant, canSee, type Resource } from '../auth/grants.ts';
import { hashPassword } from '../auth/passwords.ts';
import { createToken as newToken, sha256 } from '../auth/tokens.ts';
import * as catalog from '../catalog/changes.ts';
import type { Call } from '../catalog/db.ts';
import type { AgentRow, GrantRow, OntologyRow } from '../catalog/snapshot.ts';
import { isDatasourceSecret } from '../config.ts';
import { badRequest, forbidden } from '../errors.ts';
import type {
  AlterOntologyDatasource,
  CreateAgent,
  CreateDatasource,
  CreateOntology,
  CreateToken,
  CreateUser,
  DropAgent,
  DropDatasource,
  DropOntology,
  Grant,
  Name,
  ServiceStatement,
  TagList,
} from '../language/statements.ts';
import { fold } from '../ontology/names.ts';
import { agentOptions } from './agent-options.ts';
import { Draft } from './draft.ts';
import { datasourceInStatement, lacks, loadGraph, ontologyInStatement, quoted, unknownInStatement } from './lookup.ts';
import type { ServiceRequest } from './runtime.ts';
import type { Script } from './script.ts';
import { resourceText } from './system-access.ts';

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

const done = (calls: readonly Call[], row: Readonly<Record<string, unknown>>): Done => ({ calls, rows: () => [row] });

const exists = (kind: string, name: Name) =>
  badRequest('exists', `the ${kind} ${quoted(name.text)} exists already`, {
    offset: name.offset,
    hint: 'Use another name; names that differ in case only are the same',
  });

export class Changes {
  readonly #session: Session;
  /** Users made by the script, by the compared form of their names. */
  readonly #users = new Map<string, catalog.Found>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws SvcError 400 as the statement deserves, 403 without the right */
  apply(statement: ServiceStatement): Promise<Done> {
    switch (statement.kind) {
      case 'create_ontology':
        return this.#createOntology(statement);
      case 'drop_ontology':
        return this.#dropOntology(statement);
      case 'create_datasource':
        return this.#createDatasource(statement);
      case 'drop_datasource':
        return this.#dropDatasource(statement);
      case 'alter_ontology_datasource':
        return this.#alterDatasource(statement);
      case 'create_agent':
        return this.#createAgent(statement);
      case 'drop_agent':
        return this.#dropAgent(statement);
      case 'create_user':
        return this.#createUser(statement);
      case 'create_token':
        return this.#createToken(statement);
      case 'grant':
        return this.#grant(statement);
    }
  }

  get #caller(): Caller {
    return this.#session.caller;
  }
  get #principal() {
    return this.#caller.principal;
  }
  get #db() {
    return this.#session.request.runtime.db;
  }

  /** An ontology named by a statement. @throws SvcError 400 `unknown_ontology` */
  ontology(name: Name): OntologyRow {
    return ontologyInStatement(this.#caller, name);
  }

  /** @throws SvcError 403 without EDIT on the kind of thing */
  #mayCreate(kind: string, offset: number): void {
    if (!can(this.#principal, 'edit', [kind])) throw lacks('EDIT', kind, offset);
  }

  /** Who makes something by EDIT on its kind has EDIT ON ALL of it, with grant option (decisions 7). */
  #own(resource: Resource): readonly Call[] {
    const { isAdmin, userId } = this.#principal;
    if (isAdmin) return [];
    this.#remember(resource);
    return catalog.grant({ grantee: { kind: 'user', id: userId }, privilege: 'edit', resource, all: true, grantOption: true });
  }

  /** The rest of the script sees what the caller got by it. */
  #remember(resource: Resource): void {
    const row: GrantRow = { privilege: 'edit', resource, key: resource.map(fold), all: true, grantOption: true };
    (this.#principal.grants as GrantRow[]).push(row);
  }

  async #createOntology(statement: CreateOntology): Promise<Done> {
    const { name } = statement;
    this.#mayCreate('ontology', statement.source.offset);
    checkName(name, 'ontology');
    if (fold(name.text) === 'system_db')
      throw badRequest('reserved_name', `${quoted(name.text)} stands for no ontology and cannot be the name of one`, { offset: name.offset });
    if (this.#caller.snapshot.ontologies.some((o) => o.key === fold(name.text))) throw exists('ontology', name);
    const draft = Draft.create(this.#session.request.runtime, this.#caller, name.text, statement.description, statement.source.text);
    (this.#caller.snapshot.ontologies as OntologyRow[]).push(draft.row);
    const calls = [...this.#own(['ontology', name.text])];
    if (!this.#session.entered(draft)) calls.unshift(...((await draft.write())?.calls ?? []));
    return { calls, rows: () => [{ ontology: name.text, version: draft.version }] };
  }

  async #dropOntology({ name, source }: DropOntology): Promise<Done> {
    const row = this.ontology(name);
    if (!can(this.#principal, 'edit', ['ontology', row.name])) throw lacks('EDIT', `ontology.${row.name}`, source.offset);
    const { ontologies } = this.#caller.snapshot;
    (ontologies as OntologyRow[]).splice(ontologies.indexOf(row), 1);
    this.#session.left(row);
    return done(catalog.dropOntology(row.id, row.name), { ontology: row.name, dropped: true });
  }

  async #createDatasource(statement: CreateDatasource): Promise<Done> {
    const { name, type, secret } = statement;
    if (!this.#principal.isAdmin) throw forbidden('forbidden', 'CREATE DATASOURCE is for administrators', { offset: statement.source.offset });
    checkName(name, 'datasource');
    if (!/^postgres(ql)?$/i.test(type.text))
      throw badRequest('unknown_type', `unknown type of datasource ${quoted(type.text)}; there is \`postgres\``, { offset: type.offset });
    if (!isDatasourceSecret(secret.text)) {
      throw badRequest('bad_secret', 'SECRET names a variable that begins with DATASOURCE_', { offset: secret.offset, hint: 'Capitals, digits and _ only' });
    }
    if (this.#session.request.runtime.config.datasourceSecrets[secret.text] === undefined) {
      throw badRequest('secret_not_set', `the variable ${secret.text} is not set`, {
        offset: secret.offset,
        hint: 'The operator of the service has to set it',
      });
    }
    const old = this.#caller.snapshot.datasources.find((d) => d.key === fold(name.text));
    if (old !== undefined && !statement.replace) throw exists('datasource', name);
    const row = { name: old?.name ?? name.text, type: 'postgres', secret: secret.text, options: optionsOf(statement.options) };
    const list = this.#caller.snapshot.datasources as { id: string; name: string; key: string; type: string; secret: string }[];
    if (old === undefined) list.push({ ...row, id: '', key: fold(name.text) });
    const calls = old === undefined ? catalog.createDatasource(row) : catalog.replaceDatasource(old.id, row);
    return done(calls, { datasource: row.name, type: row.type, secret: row.secret });
  }

  async #dropDatasource({ name, source }: DropDatasource): Promise<Done> {
    const row = datasourceInStatement(this.#caller, name);
    if (!can(this.#principal, 'edit', ['datasource', row.name])) throw lacks('EDIT', `datasource.${row.name}`, source.offset);
    const users = this.#caller.snapshot.ontologies.filter((o) => o.datasources.includes(row.key));
    if (users.length > 0) {
      const seen = users.filter((o) => canSee(this.#principal, ['ontology', o.name])).map((o) => quoted(o.name));
      throw badRequest('in_use', `the datasource ${quoted(row.name)} is attached to ${seen.length > 0 ? seen.join(', ') : 'an ontology'}`, {
        offset: name.offset,
        hint: 'ALTER ONTOLOGY n REMOVE DATASOURCE d first',
      });
    }
    const { datasources } = this.#caller.snapshot;
    (datasources as unknown[]).splice(datasources.indexOf(row), 1);
    return done(catalog.dropDatasource(row.name), { datasource: row.name, dropped: true });
  }

  async #alterDatasource(statement: AlterOntologyDatasource): Promise<Done> {
    const { name, action } = statement;
    const row = this.ontology(name);
    if (!can(this.#principal, 'edit', ['ontology', row.name])) throw lacks('EDIT', `ontology.${row.name}`, statement.source.offset);
    const datasource = datasourceInStatement(this.#caller, statement.datasource);
    if (!can(this.#principal, 'edit', ['datasource', datasource.name])) throw lacks('EDIT', `datasource.${datasource.name}`, statement.datasource.offset);
    const attached = row.datasources.includes(datasource.key);
    const fail = (code: string, message: string) => badRequest(code, message, { offset: statement.datasource.offset });
    if (action === 'add' && attached) throw fail('exists', `the datasource ${quoted(datasource.name)} is attached to ${quoted(row.name)} already`);
    if (action !== 'add' && !attached) throw fail('unknown_datasource', `the datasource ${quoted(datasource.name)} is not attached to ${quoted(row.name)}`);
    const draft = this.#session.draft?.row.key === row.key ? this.#session.draft : undefined;
    let { datasources, active } = row;
    if (action === 'add') {
      datasources = [...datasources, datasource.key];
      active ??= datasource.key;
    } else if (action === 'activate') active = datasource.key;
    else {
      if (row.active === datasource.key && datasources.length > 1)
        throw fail('in_use', `the datasource ${quoted(datasource.name)} is the active one; activate another one first`);
      const users = (draft ?? (await Draft.open(this.#session.request.runtime, this.#caller, row))).users(datasource.name);
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
    return done(calls, { ontology: row.name, datasource: datasource.name, action });
  }

  async #createAgent(statement: CreateAgent): Promise<Done> {
    const { name } = statement;
    const old = this.#caller.snapshot.agents.find((a) => a.key === fold(name.text));
    if (old === undefined || !statement.replace || !this.#seesAgent(old)) this.#mayCreate('agent', statement.source.offset);
    else if (!can(this.#principal, 'edit', ['agent', old.name])) throw lacks('EDIT', `agent.${old.name}`, statement.source.offset);
    checkName(name, 'agent');
    if (old !== undefined && !(statement.replace && can(this.#principal, 'edit', ['agent', old.name]))) throw exists('agent', name);
    const ontologies = statement.ontologies.map((o) => this.ontology(o));
    const options = agentOptions(statement.options, optionsOf(statement.options));
    const agent = { name: old?.name ?? name.text, description: statement.description, options, ontologyKeys: ontologies.map((o) => o.key) };
    const row = { name: agent.name, key: fold(agent.name), description: agent.description, options, ontologies: agent.ontologyKeys };
    const agents = this.#caller.snapshot.agents as unknown[];
    if (old === undefined) agents.push(row);
    else Object.assign(old, row);
    return done([...catalog.saveAgent(agent, old !== undefined), ...(old === undefined ? this.#own(['agent', agent.name]) : [])], {
      agent: agent.name,
      ontologies: ontologies.map((o) => o.name),
    });
  }

  /** An agent is seen by who sees one of its ontologies. */
  #seesAgent(agent: AgentRow): boolean {
    const { ontologies } = this.#caller.snapshot;
    return (
      canSee(this.#principal, ['agent', agent.name]) ||
      agent.ontologies.some((key) => canSee(this.#principal, ['ontology', ontologies.find((o) => o.key === key)?.name ?? '']))
    );
  }

  async #dropAgent({ name, source }: DropAgent): Promise<Done> {
    const { agents } = this.#caller.snapshot;
    const visible = agents.filter((a) => this.#seesAgent(a));
    const row = visible.find((a) => a.key === fold(name.text));
    if (row === undefined) {
      throw unknownInStatement(
        'agent',
        name,
        visible.map((a) => a.name),
      );
    }
    if (!can(this.#principal, 'edit', ['agent', row.name])) throw lacks('EDIT', `agent.${row.name}`, source.offset);
    (agents as unknown[]).splice(agents.indexOf(row), 1);
    return done(catalog.dropAgent(row.name), { agent: row.name, dropped: true });
  }

  async #createUser(statement: CreateUser): Promise<Done> {
    const { name, password, options } = statement;
    this.#mayCreate('user', statement.source.offset);
    checkName(name, 'user');
    const given = optionsOf(options);
    for (const { key } of options) if (!['email', 'tenant'].includes(fold(key.text))) throw unknownInStatement('option', key, ['email', 'tenant']);
    const option = (wanted: string): string | null => Object.entries(given).find(([key, value]) => fold(key) === wanted && value.trim() !== '')?.[1] ?? null;
    if (password === '') throw badRequest('bad_password', 'A password has at least one character', { offset: statement.source.offset });
    const known = this.#users.get(fold(name.text)) ?? (await catalog.findUser(this.#db, name.text));
    if (known !== undefined) throw exists('user', name);
    const user = { id: crypto.randomUUID(), name: name.text };
    this.#users.set(fold(name.text), user);
    const hash = password === null ? null : await hashPassword(password);
    const calls = catalog.createUser({ ...user, email: option('email'), tenant: option('tenant'), password: hash });
    return done([...calls, ...this.#own(['user', user.name])], { user: user.name });
  }

  /** A user that the caller may see. @throws SvcError 400 `unknown_user` */
  async #user(name: Name): Promise<catalog.Found> {
    const found = this.#users.get(fold(name.text)) ?? (await catalog.findUser(this.#db, name.text));
    if (found === undefined || !canSee(this.#principal, ['user', found.name])) throw unknownInStatement('user', name, []);
    return found;
  }

  async #role(name: Name): Promise<catalog.Found> {
    const found = await catalog.findRole(this.#db, name.text);
    if (found === undefined || !canSee(this.#principal, ['role', found.name])) throw unknownInStatement('role', name, []);
    return found;
  }

  async #createToken({ user: name, expires, source }: CreateToken): Promise<Done> {
    const user = await this.#user(name);
    if (!can(this.#principal, 'edit', ['user', user.name])) throw lacks('EDIT', `user.${user.name}`, source.offset);
    const { runtime } = this.#session.request;
    let at = runtime.now() + runtime.config.apiTokenTtlDays * 86_400_000;
    if (expires !== null) {
      const time = await catalog.parseTime(this.#db, expires.text);
      if (time === undefined)
        throw badRequest('bad_time', 'EXPIRES needs a point in time', { offset: expires.offset, hint: "e.g. EXPIRES '2031-02-03T04:05:06Z'" });
      if (time <= runtime.now()) throw badRequest('bad_time', 'EXPIRES lies in the past', { offset: expires.offset });
      at = time;
    }
    const token = newToken();
    const id = crypto.randomUUID();
    const end = new Date(at).toISOString();
    return done(catalog.createToken({ id, userId: user.id, hash: await sha256(token), label: null, expires: end }), {
      token_id: id,
      user: user.name,
      token,
      expires: end,
    });
  }

  async #grant(statement: Grant): Promise<Done> {
    const { privilege, all, grantOption } = statement;
    const resource = await this.#resource(statement.resource);
    const text = resourceText(resource);
    if (!canGrant(this.#principal, privilege, resource, all)) {
      throw forbidden('forbidden', `This needs ${privilege.toUpperCase()} ON ${all ? 'ALL ' : ''}${text} with grant option`, {
        offset: statement.source.offset,
      });
    }
    const grantee = statement.grantee.kind === 'user' ? await this.#user(statement.grantee.name) : await this.#role(statement.grantee.name);
    return done(catalog.grant({ grantee: { kind: statement.grantee.kind, id: grantee.id }, privilege, resource, all, grantOption }), {
      privilege: privilege.toUpperCase(),
      resource: text,
      is_all: all,
      grantee_type: statement.grantee.kind,
      grantee: grantee.name,
      grant_option: grantOption,
    });
  }

  /** The parts of a resource in the spelling of what they name. @throws SvcError 400 `unknown_*` */
  async #resource(parts: readonly Name[]): Promise<Resource> {
    const [kind, name, inner, object, more] = parts as [Name, ...(Name | undefined)[]];
    const fail = (at: Name, hint: string) =>
      badRequest('bad_resource', `${quoted(parts.map((p) => p.text).join('.'))} is no resource`, { offset: at.offset, hint });
    const word = fold(kind.text);
    const kinds = ['ontology', 'datasource', 'user', 'role', 'agent'];
    if (!kinds.includes(word)) throw fail(kind, `A resource begins with ${kinds.join(', ')}`);
    if (more !== undefined || (inner !== undefined && (word !== 'ontology' || object === undefined))) {
      throw fail(more ?? inner ?? kind, 'A resource is ontology[.n[.concept.c | .view.v]], datasource[.d], user[.u], role[.r] or agent[.a]');
    }
    if (name === undefined) return [word];
    if (word === 'datasource') return [word, datasourceInStatement(this.#caller, name).name];
    if (word === 'user') return [word, (await this.#user(name)).name];
    if (word === 'role') return [word, (await this.#role(name)).name];
    if (word === 'agent') {
      const agent = this.#caller.snapshot.agents.find((a) => a.key === fold(name.text) && canSee(this.#principal, ['agent', a.name]));
      if (agent === undefined) throw unknownInStatement('agent', name, []);
      return [word, agent.name];
    }
    const ontology = this.ontology(name);
    if (inner === undefined || object === undefined) return [word, ontology.name];
    const what = fold(inner.text);
    if (what !== 'concept' && what !== 'view') throw fail(inner, 'Behind the ontology stands concept or view');
    const { draft, request } = this.#session;
    const graph = draft?.row.key === ontology.key ? await draft.graph() : await loadGraph(request.runtime, ontology);
    const list: readonly { readonly name: string }[] = what === 'concept' ? graph.concepts : graph.model.views;
    const visible = list.filter((o) => canSee(this.#principal, ['ontology', ontology.name, what, o.name]));
    const found = visible.find((o) => fold(o.name) === fold(object.text));
    if (found === undefined) {
      throw unknownInStatement(
        what,
        object,
        visible.map((o) => o.name),
      );
    }
    return [word, ontology.name, what, found.name];
  }
}

/** @throws SvcError 400 `bad_name` (decisions 6) */
function checkName(name: Name, kind: string): void {
  const length = [...name.text].length;
  if (length >= 1 && length <= 128 && !/[[\]\u0000-\u001f\u007f-\u009f]/.test(name.text) && !/^(~|measure\.|_type_of_)/i.test(name.text)) return;
  throw badRequest('bad_name', `${quoted(name.text)} cannot be the name of ${kind === 'ontology' || kind === 'agent' ? 'an' : 'a'} ${kind}`, {
    offset: name.offset,
    hint: 'A name has 1 to 128 characters, no square brackets and no control characters, and begins with none of ~, measure. and _type_of_',
  });
}

/** @throws SvcError 400 `exists` where an option is given twice */
function optionsOf(list: TagList): Readonly<Record<string, string>> {
  const options = new Map<string, string>();
  for (const { key, value } of list) {
    if (options.has(fold(key.text))) throw badRequest('exists', `the option ${quoted(key.text)} is given twice`, { offset: key.offset });
    options.set(fold(key.text), value);
  }
  return Object.fromEntries(options);
}
