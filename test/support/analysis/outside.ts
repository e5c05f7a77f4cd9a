/** Objects in PostgreSQL's analysis of a statement that are on none of the verifier's lists. */
import { FUNCTIONS } from '../../../src/planner/verify/functions.ts';
import type { Declared } from '../../../src/planner/verify/index.ts';
import { operatorNames } from '../../../src/planner/verify/operators.ts';
import { isCollation, TYPES } from '../../../src/planner/verify/types.ts';
import type { Analysis, Resolved } from './database.ts';

/** Functions that PostgreSQL itself adds to a statement, and where. */
const IMPLICIT_FUNCTIONS: Readonly<Record<string, { readonly fields: RegExp; readonly reason: string }>> = {
  in_range: { fields: /^(start|end)InRangeFunc$/, reason: 'compares rows with the ends of a frame by RANGE' },
};

/** Types that no statement names, and where they occur. */
const IMPLICIT_TYPES: Readonly<Record<string, { readonly fields: RegExp; readonly reason: string }>> = {
  record: { fields: /./, reason: 'rows without a type of their own: whole rows, ROW(...), functions with result columns, SEARCH and CYCLE' },
  unknown: { fields: /^(consttype|resulttype|vartype|aggargtypes)$/, reason: 'a constant without a type, for an argument that takes any, or in a row' },
  regtype: { fields: /^funcresulttype$/, reason: 'what pg_typeof gives, directly under a cast to text' },
};

/** The nodes of a stored SELECT in the verifier's syntax. Before you add a node, check how it calls functions. */
const NODES: ReadonlySet<string> = new Set(
  `QUERY RANGETBLENTRY RTEPERMISSIONINFO ALIAS FROMEXPR JOINEXPR RANGETBLREF RANGETBLFUNCTION TARGETENTRY SORTGROUPCLAUSE GROUPINGSET WINDOWCLAUSE
   COMMONTABLEEXPR CTESEARCHCLAUSE CTECYCLECLAUSE SETOPERATIONSTMT
   VAR CONST PARAM FUNCEXPR NAMEDARGEXPR OPEXPR DISTINCTEXPR NULLIFEXPR SCALARARRAYOPEXPR ROWCOMPAREEXPR BOOLEXPR NULLTEST BOOLEANTEST SUBLINK
   CASEEXPR CASEWHEN CASETESTEXPR COALESCEEXPR MINMAXEXPR ARRAYEXPR ROWEXPR FIELDSELECT SUBSCRIPTINGREF COLLATEEXPR RELABELTYPE COERCEVIAIO
   ARRAYCOERCEEXPR SQLVALUEFUNCTION AGGREF WINDOWFUNC GROUPINGFUNC
   JSONCONSTRUCTOREXPR JSONRETURNING JSONFORMAT JSONVALUEEXPR JSONISPREDICATE JSONEXPR JSONBEHAVIOR`.split(/\s+/),
);

/** All of them, as `kind schema.name (fields)`; empty for a statement that PostgreSQL reads like the verifier. */
export function outside({ resolved, nodes, unknown }: Analysis, declared: Declared): string[] {
  // an operator on the list calls its own function
  const called = new Set(resolved.filter((r) => r.kind === 'operator' && isListed(r, declared)).map((r) => r.base));
  const isOperators = (r: Resolved): boolean => r.kind === 'function' && r.schema === 'pg_catalog' && called.has(r.name) && every(r, /^opfuncid$/);
  return [
    ...resolved.filter((r) => !isListed(r, declared) && !isOperators(r)).map((r) => `${r.kind} ${r.schema}.${r.signature} (${[...r.fields].join(', ')})`),
    ...[...nodes].filter((n) => !NODES.has(n)).map((n) => `node ${n}`),
    ...[...unknown].map((f) => `field ${f}`),
  ];
}

const every = ({ fields }: Resolved, pattern: RegExp): boolean => [...fields].every((f) => pattern.test(f));

function isListed(r: Resolved, { tables, functions }: Declared): boolean {
  const own = r.schema === 'pg_catalog';
  const isTable = (name: string): boolean => tables.some((t) => t.schema === r.schema && t.name === name);
  switch (r.kind) {
    case 'function': {
      if (!own) return functions.has(`${r.schema}.${r.name}`);
      const implicit = IMPLICIT_FUNCTIONS[r.name];
      return FUNCTIONS.has(r.name) || (implicit !== undefined && every(r, implicit.fields));
    }
    case 'operator':
      return own && operatorNames().has(r.name);
    case 'type': {
      const name = r.base || r.name;
      // the row of a table
      if (r.sort === 'c') return isTable(name);
      const implicit = IMPLICIT_TYPES[name];
      return own && (TYPES.has(name) || (implicit !== undefined && every(r, implicit.fields)));
    }
    case 'relation':
      return isTable(r.name);
    case 'collation':
      return own && isCollation(r.name);
  }
}
