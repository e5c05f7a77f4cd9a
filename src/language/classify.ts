/**
 * Parses the text of one statement into its syntax tree (docs/design/statements-and-versions.md#classes-of-statements). Queries are only recognised here:
 * PostgreSQL's own grammar parses them.
 */
import { badRequest, didYouMean, nearest, SvcError } from '../errors.ts';
import { lex } from './lexer.ts';
import { name, QUERIES } from './modelling/clauses.ts';
import { createConcept } from './modelling/concept.ts';
import { Cursor, oneOf } from './modelling/cursor.ts';
import { createExample, dropExample } from './modelling/example.ts';
import { alterJob, createJob, dropJob, runJob } from './modelling/job.ts';
import { createMapping } from './modelling/mapping.ts';
import { createMeasure, createProperty, createView } from './modelling/objects.ts';
import { createPolicy } from './modelling/policy.ts';
import { describe, explain, show } from './modelling/read.ts';
import { alterUser, createRole, grant, grantAuth, grantRole, refreshPermissions, revoke, revokeAuth, revokeRole } from './modelling/rights.ts';
import {
  alterOntology,
  cache,
  createAgent,
  createDatasource,
  createOntology,
  createToken,
  createUser,
  revokeToken,
  rollback,
  uncache,
} from './modelling/service.ts';
import { alterTag } from './modelling/tag.ts';
import type { DropObject, Source, Statement } from './statements.ts';

type Reader = (c: Cursor) => Statement;
type Table = Readonly<Record<string, Reader>>;

const CREATE: Table = creating(false);
const REPLACE: Table = creating(true);

/** The objects of CREATE and of CREATE OR REPLACE. */
function creating(replace: boolean): Table {
  const readers: Table = {
    ONTOLOGY: (c) => ontologyOrView(c, replace),
    PROPERTY: (c) => createProperty(c, replace),
    MEASURE: (c) => createMeasure(c, replace),
    CONCEPT: (c) => createConcept(c, replace),
    MAPPING: (c) => createMapping(c, replace),
    VIEW: (c) => createView(c, replace, false),
    CUBE: (c) => createView(c, replace, true),
    DATASOURCE: (c) => createDatasource(c, replace),
    AGENT: (c) => createAgent(c, replace),
    EXAMPLE: (c) => createExample(c, replace),
    USER: (c) => createUser(c, replace),
    ROLE: (c) => createRole(c, replace),
    POLICY: (c) => createPolicy(c, replace),
    JOB: (c) => createJob(c, replace),
  };
  if (replace) return readers;
  return { ...Object.fromEntries(Object.entries(readers).map(([keyword, read]) => [keyword, unlessExists(read)])), TOKEN: createToken };
}

const ALTER: Table = {
  ONTOLOGY: alterOntology,
  CONCEPT: (c) => alterTag(c, 'concept'),
  PROPERTY: (c) => alterTag(c, 'property'),
  VIEW: (c) => alterTag(c, 'view'),
  USER: alterUser,
  JOB: alterJob,
};

const DROP: Table = {
  ONTOLOGY: (c) => ({ kind: 'drop_ontology', source: c.source, name: last(c, 'the name of the ontology') }),
  CONCEPT: (c) => drop(c, 'concept'),
  PROPERTY: (c) => drop(c, 'property'),
  MEASURE: (c) => drop(c, 'measure'),
  MAPPING: (c) => drop(c, 'mapping'),
  VIEW: (c) => drop(c, 'view'),
  CUBE: (c) => drop(c, 'cube'),
  DATASOURCE: (c) => ({ kind: 'drop_datasource', source: c.source, name: last(c, 'the name of the datasource') }),
  AGENT: (c) => ({ kind: 'drop_agent', source: c.source, name: last(c, 'the name of the agent') }),
  EXAMPLE: dropExample,
  USER: (c) => ({ kind: 'drop_user', source: c.source, name: last(c, 'the name of the user') }),
  ROLE: (c) => ({ kind: 'drop_role', source: c.source, name: last(c, 'the name of the role') }),
  POLICY: (c) => ({ kind: 'drop_policy', source: c.source, name: last(c, 'the name of the policy') }),
  JOB: dropJob,
};

const GRANT: Table = {
  EDIT: (c) => grant(c, 'edit'),
  QUERY: (c) => grant(c, 'query'),
  ACCESS: (c) => grant(c, 'access'),
  AUTH: grantAuth,
  ROLE: grantRole,
};

const REVOKE: Table = {
  TOKEN: revokeToken,
  EDIT: (c) => revoke(c, 'edit'),
  QUERY: (c) => revoke(c, 'query'),
  ACCESS: (c) => revoke(c, 'access'),
  AUTH: revokeAuth,
  ROLE: revokeRole,
};

const STATEMENTS: Table = {
  CREATE: create,
  ALTER: (c) => dispatch(c, ALTER, 'ALTER'),
  DROP: (c) => dispatch(c, DROP, 'DROP'),
  ROLLBACK: (c) => dispatch(c, { ONTOLOGY: rollback }, 'ROLLBACK'),
  GRANT: (c) => dispatch(c, GRANT, 'GRANT'),
  REVOKE: (c) => dispatch(c, REVOKE, 'REVOKE'),
  REFRESH: (c) => dispatch(c, { PERMISSIONS: refreshPermissions }, 'REFRESH'),
  CACHE: cache,
  UNCACHE: uncache,
  RUN: runJob,
  SHOW: show,
  DESC: describe,
  DESCRIBE: describe,
  EXPLAIN: explain,
};

/** The first words of statements, and what CREATE creates, for editors. */
export const FIRST_WORDS: { readonly statements: readonly string[]; readonly objects: readonly string[] } = {
  statements: [...QUERIES, ...Object.keys(STATEMENTS)],
  objects: Object.keys(CREATE),
};

/**
 * Parses one statement. All offsets in the tree count from the start of the request's text (`source.offset` + position in the
 * statement). @throws SvcError 400 `unknown_statement`, `syntax_error` (names what was expected), `bad_name`, `bad_depth`
 */
export function parseStatement(source: Source): Statement {
  if (isQuery(source)) return { kind: 'select', source };
  return dispatch(new Cursor(source), STATEMENTS, '');
}

/** Whether the statement is a query. Looks only at the first token; PostgreSQL's grammar checks the rest. */
function isQuery(source: Source): boolean {
  try {
    const next = lex(source.text);
    for (let token = next(); token !== null; token = next()) {
      if (token.kind === 'space' || token.kind === 'comment') continue;
      return token.value === '(' || (token.kind === 'word' && QUERIES.includes(token.value.toUpperCase()));
    }
    return false;
  } catch (e) {
    throw e instanceof SvcError ? e.shifted(source.offset) : e;
  }
}

/** Continues with the reader of the current keyword. `before`: the keywords already read, for errors. */
function dispatch(c: Cursor, table: Table, before: string): Statement {
  const token = c.peek();
  const keyword = token?.kind === 'word' ? token.value.toUpperCase() : undefined;
  const read = keyword !== undefined && Object.hasOwn(table, keyword) ? table[keyword] : undefined;
  if (read === undefined) throw unknown(c, table, before);
  c.advance();
  return read(c);
}

function unknown(c: Cursor, table: Table, before: string): SvcError {
  const token = c.peek();
  const known = before === '' ? [...QUERIES, ...Object.keys(table)] : Object.keys(table);
  const written = token === undefined ? '' : c.source.text.slice(token.start, token.end).slice(0, 40);
  const near = token?.kind === 'word' ? nearest(token.value, known) : undefined;
  const statement = [before, written].filter((part) => part !== '').join(' ');
  return badRequest('unknown_statement', `unknown statement \`${statement}\`${didYouMean(near && [before, near].join(' ').trim())}`, {
    offset: c.offset(),
    hint:
      before === ''
        ? 'Statements are queries (SELECT, WITH, VALUES), SHOW, DESC, EXPLAIN, CREATE, ALTER, DROP, ROLLBACK ONTOLOGY, GRANT and REVOKE.'
        : `After ${before}, expected ${oneOf(known)}.${token === undefined ? ' If the script was cut off, its rest is missing.' : ''}`,
  });
}

function create(c: Cursor): Statement {
  if (!c.accept('OR')) return dispatch(c, CREATE, 'CREATE');
  c.expect('REPLACE');
  return dispatch(c, REPLACE, 'CREATE OR REPLACE');
}

/** Reads `[IF NOT EXISTS]` before an object. The object may itself be named `if`. */
function unlessExists(read: Reader): Reader {
  return (c) => {
    if (!(c.sees('IF') && c.sees('NOT', 1) && c.sees('EXISTS', 2))) return read(c);
    c.expect('IF', 'NOT', 'EXISTS');
    return { ...read(c), ifNotExists: true };
  };
}

/** CREATE ONTOLOGY n, or CREATE ONTOLOGY VIEW|CUBE v. An ontology may itself be named `view`. */
function ontologyOrView(c: Cursor, replace: boolean): Statement {
  const isView = (c.sees('VIEW') || c.sees('CUBE')) && c.seesName(1) && !(c.sees('DESCRIPTION', 1) && (c.seesMark('=', 2) || c.peek(2)?.kind === 'string'));
  if (!isView) return createOntology(c, replace);
  const cube = c.accept('CUBE');
  if (!cube) c.expect('VIEW');
  const view: Reader = (at) => createView(at, replace, cube);
  return replace ? view(c) : unlessExists(view)(c);
}

function drop(c: Cursor, object: DropObject['object']): DropObject {
  return { kind: 'drop', source: c.source, object, name: last(c, `the name of the ${object}`) };
}

/** Reads a name at the end of the statement. */
function last(c: Cursor, what: string): DropObject['name'] {
  const found = name(c, what);
  c.end();
  return found;
}
