/** Statements about ontologies, datasources, agents, users, tokens and grants (docs/design/statements-and-versions.md#classes-of-statements). */
import { badRequest } from '../../errors.ts';
import type {
  AlterOntology,
  AlterOntologyDatasource,
  CreateAgent,
  CreateDatasource,
  CreateOntology,
  CreateToken,
  CreateUser,
  Name,
  RevokeToken,
  RollbackOntology,
  TagList,
} from '../statements.ts';
import type { CacheCube, CacheMapping, CacheView, UncacheCube, UncacheMapping, UncacheView } from '../statements-of-jobs.ts';
import { clauses, name, names, pairs, text } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/** `n [IF NOT EXISTS] [DESCRIPTION [=] 't']`. With an empty text the ontology has no description, as with ALTER ONTOLOGY. */
export function createOntology(c: Cursor, replace: boolean): CreateOntology {
  const ontology = name(c, 'the name of the ontology');
  const lenient = !replace && c.accept('IF');
  if (lenient) c.expect('NOT', 'EXISTS');
  const description = c.accept('DESCRIPTION') ? text(c, 'the description in single quotes').text || null : null;
  c.end();
  return { kind: 'create_ontology', source: c.source, replace, name: ontology, description, ...(lenient ? { ifNotExists: true } : {}) };
}

/** `n SET key = 't'`, `n ADD DATASOURCE [IF NOT EXISTS] d`, `n REMOVE DATASOURCE [IF EXISTS] d`, `n ACTIVATE DATASOURCE d` */
export function alterOntology(c: Cursor): AlterOntology | AlterOntologyDatasource {
  const ontology = name(c, 'the name of the ontology');
  if (c.accept('SET')) {
    const key = c.identifier('`DESCRIPTION` or the name of a setting');
    const { text: value } = text(c, 'its value in single quotes');
    c.end();
    return { kind: 'alter_ontology', source: c.source, name: ontology, key: { ...key, text: key.text.toLowerCase() }, value };
  }
  const action = c.accept('ADD') ? 'add' : c.accept('REMOVE') ? 'remove' : c.accept('ACTIVATE') ? 'activate' : undefined;
  if (action === undefined) throw c.unexpected();
  c.expect('DATASOURCE');
  const words = action === 'add' ? ['IF', 'NOT', 'EXISTS'] : action === 'remove' ? ['IF', 'EXISTS'] : [];
  const lenient = words.length > 0 && words.every((word, i) => c.sees(word, i));
  if (lenient) c.expect(...words);
  const datasource = name(c, 'the name of the datasource');
  c.end();
  return { kind: 'alter_ontology_datasource', source: c.source, name: ontology, action, lenient, datasource };
}

/** `n TO VERSION 'uuid'` */
export function rollback(c: Cursor): RollbackOntology {
  const ontology = name(c, 'the name of the ontology');
  c.expect('TO', 'VERSION');
  const version = c.string('the id of a version in single quotes');
  c.end();
  return { kind: 'rollback', source: c.source, name: ontology, version };
}

/** `d TYPE postgres SECRET 'DATASOURCE_...' [OPTIONS (k = 'v', ...)]` */
export function createDatasource(c: Cursor, replace: boolean): CreateDatasource {
  const datasource = name(c, 'the name of the datasource');
  c.expect('TYPE');
  const type = c.identifier('the type of the datasource');
  c.expect('SECRET');
  const secret = c.string('the name of a secret in single quotes');
  const options = c.accept('OPTIONS') ? pairs(c, 'the name of an option') : [];
  c.end();
  return { kind: 'create_datasource', source: c.source, replace, name: datasource, type, secret, options };
}

/** `MAPPING m [USING d] [OPTIONS (k = 'v', ...)]`, `CUBE|VIEW v [OPTIONS (k = 'v', ...)]`. @throws SvcError 400 `not_supported` for what cannot be cached */
export function cache(c: Cursor): CacheMapping | CacheCube | CacheView {
  const kind = cubeOrView(c);
  const cached = kind === undefined ? mapping(c) : name(c, `the name of the ${kind}`);
  if (kind !== undefined && c.sees('USING')) throw badRequest('not_supported', `a ${kind} can only be cached in its own datasource`, { offset: c.offset() });
  const datasource = c.accept('USING') ? name(c, 'the name of the datasource') : null;
  const options = c.accept('OPTIONS') ? pairs(c, 'the name of an option') : null;
  c.end();
  const { source } = c;
  if (kind === 'cube') return { kind: 'cache_cube', source, name: cached, options };
  return kind === 'view' ? { kind: 'cache_view', source, name: cached, options } : { kind: 'cache_mapping', source, name: cached, datasource, options };
}

/** `MAPPING m`, `CUBE|VIEW v` */
export function uncache(c: Cursor): UncacheMapping | UncacheCube | UncacheView {
  const kind = cubeOrView(c);
  const cached = kind === undefined ? mapping(c) : name(c, `the name of the ${kind}`);
  c.end();
  const of = { source: c.source, name: cached };
  if (kind === 'cube') return { kind: 'uncache_cube', ...of };
  return { kind: kind === 'view' ? 'uncache_view' : 'uncache_mapping', ...of };
}

const cubeOrView = (c: Cursor): 'cube' | 'view' | undefined => (c.accept('CUBE') ? 'cube' : c.accept('VIEW') ? 'view' : undefined);

function mapping(c: Cursor): Name {
  if (c.sees('CONCEPT')) throw badRequest('not_supported', 'only mappings, cubes and views can be cached, not CONCEPT', { offset: c.offset() });
  c.expect('MAPPING');
  return name(c, 'the name of the mapping');
}

/** `a ONTOLOGY (n, ...) [DESCRIPTION [=] 't'] [OPTIONS (k = 'v', ...)]` */
export function createAgent(c: Cursor, replace: boolean): CreateAgent {
  const agent = name(c, 'the name of the agent');
  c.expect('ONTOLOGY');
  const ontologies = names(c, 'the name of an ontology');
  let description: string | null = null;
  let options: TagList = [];
  clauses(c, {
    DESCRIPTION: () => {
      description = text(c, 'the description in single quotes').text;
    },
    OPTIONS: () => {
      options = pairs(c, 'the name of an option');
    },
  });
  c.end();
  return { kind: 'create_agent', source: c.source, replace, name: agent, ontologies, description, options };
}

/** `u [PASSWORD 'x'] [OPTIONS (email = '..', tenant = '..')]` */
export function createUser(c: Cursor, replace: boolean): CreateUser {
  const user = name(c, 'the name of the user');
  let password: string | null = null;
  let options: TagList = [];
  clauses(c, {
    PASSWORD: () => {
      password = text(c, 'the password in single quotes').text;
    },
    OPTIONS: () => {
      options = pairs(c, 'the name of an option');
    },
  });
  c.end();
  return { kind: 'create_user', source: c.source, replace, name: user, password, options };
}

/** `FOR u [LABEL 'text'] [EXPIRES 'ts']` */
export function createToken(c: Cursor): CreateToken {
  c.expect('FOR');
  const user = name(c, 'the name of a user');
  const label = c.accept('LABEL') ? text(c, 'a text in single quotes') : null;
  const expires = c.accept('EXPIRES') ? text(c, 'a time in single quotes') : null;
  c.end();
  return { kind: 'create_token', source: c.source, user, label, expires };
}

/** `'token_id'` */
export function revokeToken(c: Cursor): RevokeToken {
  const id = c.string('the id of a token in single quotes');
  c.end();
  return { kind: 'revoke_token', source: c.source, id };
}
