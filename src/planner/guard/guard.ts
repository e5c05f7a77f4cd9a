/**
 * The guard of PostgreSQL's syntax tree. It accepts a single SELECT of known nodes. The SELECT may call known functions and operators and cast to known types; it selects
 * no field that may be a call. The file nodes.ts lists the nodes, and resolves.ts has the rule for each name in them. The guard does not know the ontology: other parts of
 * the planner check relations and columns.
 */
import type { A_Indirection, RawStmt } from '@pgsql/types';
import { badRequest, didYouMean, nearest, type SvcError } from '../../errors.ts';
import { equivalentOf, OPERATORS_MEANT } from './dialects.ts';
import { afterSteps, FIELD_HINT, LATER, notAField } from './fields.ts';
import { ALLOWED_FUNCTIONS, isVolatileFunction, usesClock } from './functions.ts';
import { type Member, NODES, REFUSED } from './nodes.ts';
import { ALLOWED_OPERATORS, OPERATOR_WORDS } from './operators.ts';
import { CHECKED_MEMBERS, type CheckedMember } from './resolves.ts';
import { type Fields, firstLocation, isWord, locationOf, words } from './tree.ts';
import { ALLOWED_TYPES, CLOCK_VALUES, COLLATION_HINT, isAllowedCollation, isSystemSchema, SYSTEM_COLUMNS, TYPE_HINTS } from './types.ts';

/** Makes an error. `location`: a UTF-8 byte offset in the parsed text. */
export type Fail = (code: string, message: string, location?: number, hint?: string) => SvcError;

/** Options of the guard. */
export interface GuardOptions {
  /** Further allowed functions: `schema.name`, or an unqualified name for functions that the planner replaces. Names are as in the tree: lower case if unquoted. */
  readonly allowedFunctions?: ReadonlySet<string>;
  /** Makes the errors; default: errors without an offset. */
  readonly fail?: Fail;
  /** The maximum depth of the tree. The later stages are recursive. */
  readonly maxDepth?: number;
  /** Whether the statement may contain parameters ($1). Only for statements that the service has written. */
  readonly parameters?: boolean;
}

/** The facts of a statement for caches. */
export interface GuardFacts {
  /** True if it calls a volatile function (random(), clock_timestamp()). */
  readonly volatile: boolean;
  /** True if it reads the clock, also by a text such as 'today'. */
  readonly clock: boolean;
  /** True if it calls pg_typeof, which needs a cast to text (typeof.ts). */
  readonly usesTypeof: boolean;
  /** True if it calls an allowed function without a schema: one that the planner replaces. */
  readonly callsReplaced: boolean;
  /** The functions of the datasource that it calls, as `schema.name`. They must still be allowed when the statement is used. */
  readonly functions: readonly string[];
}

/** The depth of the tree of a statement with some hundred levels of brackets or sub-queries. */
export const MAX_DEPTH = 1000;

const FUNCTION_HINT = 'Built-in functions that depend only on their arguments may be called; the config key allowed_functions adds others.';
/** Texts that the date and time types read as the current time. A digit or a sign may follow the word, and in ranges and arrays it may contain quotes and backslashes. */
const CLOCK_TEXT = /(?<![a-z])(now|today|tomorrow|yesterday)(?![a-z])/i;
const QUOTING = /["\\]/g;

interface Entry {
  readonly type: keyof typeof NODES;
  readonly fields: Fields;
  readonly depth: number;
  /** All nodes below this one are checked. */
  readonly isDone?: true;
}

/**
 * Checks a statement, without recursion.
 * @returns its facts for caches
 * @throws SvcError 400 `forbidden_statement`, `forbidden_function`, `forbidden_type`, `forbidden_operator`, `forbidden_collation`, `forbidden_column`,
 * `forbidden_relation`, `unsupported_syntax`, `too_complex`
 */
export function guardSelect(statement: RawStmt, options: GuardOptions = {}): GuardFacts {
  return new Guard(options).run(statement);
}

class Guard {
  readonly #fail: Fail;
  readonly #allowed: ReadonlySet<string>;
  readonly #maxDepth: number;
  readonly #parameters: boolean;
  readonly #stack: Entry[] = [];
  /** The names of columns that the statement defines. They may be names of system columns. */
  readonly #defined = new Set<string>();
  readonly #systemColumns: { readonly name: string; readonly location: number | undefined }[] = [];
  #volatile = false;
  #clock = false;
  #usesTypeof = false;
  #callsReplaced = false;
  readonly #functions = new Set<string>();

  constructor(options: GuardOptions) {
    this.#fail = options.fail ?? ((code, message, _location, hint) => badRequest(code, message, { hint }));
    this.#allowed = options.allowedFunctions ?? new Set();
    this.#maxDepth = options.maxDepth ?? MAX_DEPTH;
    this.#parameters = options.parameters ?? false;
  }

  run(statement: RawStmt): GuardFacts {
    const root = statement.stmt as Fields | undefined;
    if (!root || !('SelectStmt' in root)) {
      const type = Object.keys(root ?? {})[0] ?? '';
      throw this.#fail('forbidden_statement', `only SELECT may run${REFUSED[type] ? `, not ${REFUSED[type]}` : ''}`, statement.stmt_location ?? 0);
    }
    this.#push(root, 0);
    for (let entry = this.#stack.pop(); entry; entry = this.#stack.pop()) {
      if (entry.depth > this.#maxDepth) throw this.#fail('too_complex', 'the statement is nested too deeply');
      // the value is checked before its field, and the calls in a type modifier before the modifier
      const isLate = entry.type === 'A_Indirection' || (entry.type === 'TypeName' && entry.fields.typmods !== undefined);
      if (isLate && !entry.isDone) this.#stack.push({ ...entry, isDone: true });
      if (!entry.isDone) this.#members(entry);
      if (!isLate || entry.isDone) this.#check(entry);
    }
    for (const { name, location } of this.#systemColumns) {
      if (!this.#defined.has(name)) throw this.#fail('forbidden_column', `there is no column \`${name}\`: system columns are not part of a concept`, location);
    }
    return {
      volatile: this.#volatile,
      clock: this.#clock,
      usesTypeof: this.#usesTypeof,
      callsReplaced: this.#callsReplaced,
      functions: [...this.#functions],
    };
  }

  /** Checks that each member of a node is known. Its nodes go on the stack in reverse, so that they are checked in the order of the text. */
  #members({ type, fields, depth }: Entry): void {
    const known: Readonly<Record<string, Member>> = NODES[type];
    const names = Object.keys(fields);
    for (let i = names.length - 1; i >= 0; i--) {
      const name = names[i] as string;
      const value = fields[name];
      const member = Object.hasOwn(known, name) ? known[name] : undefined;
      if (member === undefined) throw this.#refuse(name, value, locationOf(fields));
      if (member === 'value') continue;
      if (member === 'node') this.#push(value, depth + 1);
      else if (member === 'nodes') for (const node of (value as unknown[]).toReversed()) this.#push(node, depth + 1);
      else if (member === 'words') this.#words(value as unknown[]);
      else this.#stack.push({ type: member, fields: value as Fields, depth: depth + 1 });
    }
  }

  #push(node: unknown, depth: number): void {
    if (typeof node !== 'object' || node === null) throw this.#refuse('', undefined, undefined);
    let type: string | undefined;
    let count = 0;
    for (const key in node as Fields) if (count++ === 0) type = key;
    // an empty node: the list of a plain DISTINCT has one
    if (type === undefined) return;
    const fields = (node as Fields)[type] as Fields;
    if (type === 'ParamRef' && count === 1 && this.#parameters) return;
    if (count > 1 || !Object.hasOwn(NODES, type)) throw this.#refuse(type, fields, undefined);
    this.#stack.push({ type: type as keyof typeof NODES, fields, depth });
  }

  #words(list: readonly unknown[]): void {
    for (const word of list) if (!isWord(word)) throw this.#refuse(Object.keys(word as Fields)[0] ?? '', word, undefined);
  }

  #refuse(name: string, value: unknown, location: number | undefined): SvcError {
    const what = REFUSED[name];
    const forbidden = name.endsWith('Stmt') || name === 'intoClause' || name === 'lockingClause';
    return this.#fail(
      forbidden ? 'forbidden_statement' : 'unsupported_syntax',
      `${what ?? (forbidden ? 'this statement' : 'this syntax')} is not allowed`,
      firstLocation(value) ?? location,
      forbidden ? 'Only SELECT is allowed, and it must not change anything.' : undefined,
    );
  }

  /** Applies the rules of resolves.ts to the names in a node. */
  #check({ type, fields }: Entry): void {
    const checked = CHECKED_MEMBERS.get(type) ?? [];
    for (let i = 0; i < checked.length; i++) this.#checkMember(checked[i] as CheckedMember, fields);
    if (type === 'CommonTableExpr') this.#define(fields.aliascolnames);
    else if (type === 'ResTarget' || type === 'JsonTableColumn') this.#define([fields.name]);
    else if (type === 'ColumnDef') this.#define([fields.colname]);
    else if (type === 'Alias') this.#define(fields.colnames);
  }

  #checkMember({ member, rule }: CheckedMember, fields: Fields): void {
    const value = fields[member];
    if (value === undefined) return;
    const location = locationOf(fields);
    switch (rule) {
      case 'function':
        this.#call(words(value), location);
        break;
      case 'operator':
        this.#operator(words(value), location);
        break;
      case 'type':
        this.#type(words(value), location);
        break;
      case 'constants':
        this.#constants(value as unknown[], location);
        break;
      case 'collation':
        this.#collation(words(value), location);
        break;
      case 'relation':
        this.#relation(member, value as string, location);
        break;
      case 'column':
        this.#column(value as unknown[], location);
        break;
      case 'field':
        this.#field(fields as A_Indirection);
        break;
      case 'value function':
        this.#valueFunction(value as string, location);
        break;
      case 'literal':
        if (CLOCK_TEXT.test(((value as { sval?: string }).sval ?? '').replace(QUOTING, ''))) this.#clock = true;
    }
  }

  #call(path: readonly string[], location: number | undefined): void {
    const name = path[path.length - 1] ?? '';
    const builtIn = path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog');
    if (builtIn && ALLOWED_FUNCTIONS.has(name)) {
      if (isVolatileFunction(name)) this.#volatile = true;
      if (usesClock(name)) this.#clock = true;
      if (name === 'pg_typeof') this.#usesTypeof = true;
      return;
    }
    if (!isSystemSchema(path[0] ?? '') && this.#allowed.has(path.join('.'))) {
      if (path.length > 1) this.#functions.add(path.join('.'));
      else this.#callsReplaced = true;
      return;
    }
    const equivalent = path.length === 1 ? equivalentOf(name) : undefined;
    const near = path.length === 1 && equivalent === undefined ? nearest(name, ALLOWED_FUNCTIONS) : undefined;
    throw this.#fail(
      'forbidden_function',
      `function \`${path.join('.')}\` is not allowed${didYouMean(near === name ? undefined : near)}`,
      location,
      equivalent ?? FUNCTION_HINT,
    );
  }

  #type(path: readonly string[], location: number | undefined): void {
    const name = path[path.length - 1] ?? '';
    if ((path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog')) && ALLOWED_TYPES.has(name)) return;
    const meant = path.length === 1 ? (TYPE_HINTS[name.toLowerCase()] ?? nearest(name, ALLOWED_TYPES)) : undefined;
    throw this.#fail('forbidden_type', `type \`${path.join('.')}\` is not allowed${didYouMean(meant === name ? undefined : meant)}`, location);
  }

  #constants(modifiers: readonly unknown[], location: number | undefined): void {
    const other = modifiers.find((m) => !('A_Const' in (m as Fields)));
    if (other !== undefined) throw this.#fail('unsupported_syntax', 'a type modifier must be a constant', firstLocation(other) ?? location);
  }

  #collation(path: readonly string[], location: number | undefined): void {
    const name = path[path.length - 1] ?? '';
    if ((path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog')) && isAllowedCollation(name)) return;
    throw this.#fail('forbidden_collation', `collation \`${path.join('.')}\` is not allowed`, location, COLLATION_HINT);
  }

  #operator(path: readonly string[], location: number | undefined): void {
    const name = path[path.length - 1];
    if (name === undefined || (path.length === 1 && OPERATOR_WORDS.has(name))) return;
    if ((path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog')) && ALLOWED_OPERATORS.has(name)) return;
    throw this.#fail(
      'forbidden_operator',
      `operator \`${path.join('.')}\` is not allowed`,
      location,
      OPERATORS_MEANT[name] ?? "Only PostgreSQL's own operators are allowed.",
    );
  }

  #valueFunction(op: string, location: number | undefined): void {
    if (!CLOCK_VALUES.has(op)) throw this.#fail('forbidden_function', `\`${op.replace(/^SVFOP_/, '').toLowerCase()}\` is not allowed`, location, FUNCTION_HINT);
    this.#clock = true;
  }

  #relation(member: string, name: string, location: number | undefined): void {
    if (member === 'schemaname' && isSystemSchema(name)) throw this.#fail('forbidden_relation', `schema \`${name}\` cannot be queried`, location);
  }

  #column(path: readonly unknown[], location: number | undefined): void {
    const name = (path.findLast(isWord)?.String.sval ?? '').toLowerCase();
    if (SYSTEM_COLUMNS.has(name)) this.#systemColumns.push({ name, location });
  }

  #field(node: A_Indirection): void {
    afterSteps<typeof LATER>(
      node,
      () => LATER,
      (field) => {
        throw this.#fail('forbidden_function', notAField(field), firstLocation(node), FIELD_HINT);
      },
    );
  }

  #define(columns: unknown): void {
    for (const n of (columns ?? []) as unknown[]) {
      const name = isWord(n) ? n.String.sval : n;
      if (typeof name === 'string') this.#defined.add(name.toLowerCase());
    }
  }
}
