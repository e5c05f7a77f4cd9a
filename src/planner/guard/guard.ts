/**
 * The read-only guard over PostgreSQL's own syntax tree: what comes through is one SELECT made of known parts, which calls known functions and
 * operators, casts to known types, and selects no field that could be a call. nodes.ts lists the parts, resolves.ts the rule for each name in
 * them. The guard knows no ontology: which relations and columns there are is the planner's question.
 */
import type { A_Indirection, RawStmt } from '@pgsql/types';
import { badRequest, didYouMean, nearest, type SvcError } from '../../errors.ts';
import { afterSteps, LATER } from './fields.ts';
import { ALLOWED_FUNCTIONS, isVolatileFunction, usesClock } from './functions.ts';
import { type Member, NODES, REFUSED } from './nodes.ts';
import { ALLOWED_OPERATORS, OPERATOR_WORDS } from './operators.ts';
import { JUDGED_MEMBERS, type Rule } from './resolves.ts';
import { ALLOWED_TYPES, CLOCK_VALUES, isAllowedCollation, isSystemSchema, SYSTEM_COLUMNS, TYPE_HINTS } from './types.ts';

/** Makes the error; `location` is a UTF-8 byte offset into the parsed text, as the tree has it. */
export type Fail = (code: string, message: string, location?: number, hint?: string) => SvcError;

export interface GuardOptions {
  /** Further functions: `schema.name`, or a bare name for functions that the planner itself puts in place. As written in the tree: lower case where unquoted. */
  readonly allowedFunctions?: ReadonlySet<string>;
  /** Default: an error without offset. */
  readonly fail?: Fail;
  /** How deep nodes may nest; the stages behind recurse. */
  readonly maxDepth?: number;
  /** Whether parameters ($1) may stand in the statement: in one that the service itself has written. */
  readonly parameters?: boolean;
}

/** What a cache must know of a statement. */
export interface GuardFacts {
  /** It calls something that gives another result each time (random(), clock_timestamp()). */
  readonly volatile: boolean;
  /** It reads the clock, also by a text such as 'today'. */
  readonly clock: boolean;
  /** It calls pg_typeof, which needs a cast to text (typeof.ts). */
  readonly asksTypes: boolean;
  /** Functions of the datasource's own that it calls, as `schema.name`: each must still be allowed when it is used. */
  readonly functions: readonly string[];
}

/** Node depth of some hundred levels of brackets or sub-queries. */
export const MAX_DEPTH = 1000;

const FUNCTION_HINT = 'Built-in functions that depend on their arguments alone may be called; the config key allowed_functions adds others.';
const FIELD_HINT =
  "A field can be selected from a row of a relation, (c).name, from ROW(...), and from a function with result columns such as jsonb_each. For another composite value write to_jsonb(x) ->> 'field'.";
/** Texts that date and time types read as the clock. */
const CLOCK_TEXT = /\b(now|today|tomorrow|yesterday)\b/i;

type Fields = Readonly<Record<string, unknown>>;
interface Entry {
  readonly type: keyof typeof NODES;
  readonly fields: Fields;
  readonly depth: number;
  /** All that is below the node has been judged. */
  readonly isDone?: true;
}

/**
 * Lets one statement through, or throws 400: `forbidden_statement`, `forbidden_function`, `forbidden_type`,
 * `forbidden_operator`, `forbidden_collation`, `forbidden_column`, `forbidden_relation`, `unsupported_syntax`, `too_complex`.
 * Works without recursion.
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
  /** Names that the statement gives to columns of its own: those may be called like system columns. */
  readonly #given = new Set<string>();
  readonly #systemColumns: { readonly name: string; readonly location: number | undefined }[] = [];
  #volatile = false;
  #clock = false;
  #asksTypes = false;
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
      // what a field is selected from is judged before the field, and what a modifier calls before the modifier
      const isLate = entry.type === 'A_Indirection' || (entry.type === 'TypeName' && entry.fields.typmods !== undefined);
      if (isLate && !entry.isDone) this.#stack.push({ ...entry, isDone: true });
      if (!entry.isDone) this.#members(entry);
      if (!isLate || entry.isDone) this.#check(entry);
    }
    for (const { name, location } of this.#systemColumns) {
      if (!this.#given.has(name)) throw this.#fail('forbidden_column', `there is no column \`${name}\`: system columns are not part of a concept`, location);
    }
    return { volatile: this.#volatile, clock: this.#clock, asksTypes: this.#asksTypes, functions: [...this.#functions] };
  }

  /** Each member of a node must be known; what is below goes on the stack, so that the first in the tree is judged first. */
  #members({ type, fields, depth }: Entry): void {
    const known: Readonly<Record<string, Member>> = NODES[type];
    for (const [name, value] of Object.entries(fields).reverse()) {
      const member = Object.hasOwn(known, name) ? known[name] : undefined;
      if (member === undefined) throw this.#refuse(name, value, locationOf(fields));
      if (member === 'value') continue;
      if (member === 'node') this.#push(value, depth + 1);
      else if (member === 'nodes') for (const node of [...(value as unknown[])].reverse()) this.#push(node, depth + 1);
      else if (member === 'words') this.#words(value as unknown[]);
      else this.#stack.push({ type: member, fields: value as Fields, depth: depth + 1 });
    }
  }

  #push(node: unknown, depth: number): void {
    const keys = Object.keys(node as Fields);
    // An empty node stands for nothing: DISTINCT has one in its list.
    if (keys.length === 0) return;
    const type = keys[0] as string;
    const fields = (node as Fields)[type] as Fields;
    if (type === 'ParamRef' && keys.length === 1 && this.#parameters) return;
    if (keys.length > 1 || !Object.hasOwn(NODES, type)) throw this.#refuse(type, fields, undefined);
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
      forbidden ? 'Only SELECT may run, and it changes nothing.' : undefined,
    );
  }

  /** Applies the rules of resolves.ts to the names in a node. */
  #check({ type, fields }: Entry): void {
    for (const [member, rule] of JUDGED_MEMBERS.get(type) ?? []) if (fields[member] !== undefined) this.#judge(rule, member, fields);
    if (type === 'CommonTableExpr') this.#give(fields.aliascolnames);
    else if (type === 'ResTarget' || type === 'JsonTableColumn') this.#give([fields.name]);
    else if (type === 'ColumnDef') this.#give([fields.colname]);
    else if (type === 'Alias') this.#give(fields.colnames);
  }

  #judge(rule: Rule, member: string, fields: Fields): void {
    const location = locationOf(fields);
    const value = fields[member];
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
        this.#column(words((value as unknown[]).filter(isWord)), location);
        break;
      case 'field':
        this.#field(fields as A_Indirection);
        break;
      case 'value function':
        this.#valueFunction(value as string, location);
        break;
      case 'literal':
        if (CLOCK_TEXT.test((value as { sval?: string }).sval ?? '')) this.#clock = true;
    }
  }

  #call(path: readonly string[], location: number | undefined): void {
    const name = path[path.length - 1] ?? '';
    const builtIn = path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog');
    if (builtIn && ALLOWED_FUNCTIONS.has(name)) {
      if (isVolatileFunction(name)) this.#volatile = true;
      if (usesClock(name)) this.#clock = true;
      if (name === 'pg_typeof') this.#asksTypes = true;
      return;
    }
    if (!isSystemSchema(path[0] ?? '') && this.#allowed.has(path.join('.'))) {
      if (path.length > 1) this.#functions.add(path.join('.'));
      return;
    }
    const near = path.length === 1 ? nearest(name, ALLOWED_FUNCTIONS) : undefined;
    throw this.#fail(
      'forbidden_function',
      `function \`${path.join('.')}\` is not allowed${didYouMean(near === name ? undefined : near)}`,
      location,
      FUNCTION_HINT,
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
    throw this.#fail(
      'forbidden_collation',
      `collation \`${path.join('.')}\` is not allowed`,
      location,
      '"C", "POSIX", "default" and those of ICU ("en-x-icu") are.',
    );
  }

  #operator(path: readonly string[], location: number | undefined): void {
    const name = path[path.length - 1];
    if (name === undefined || (path.length === 1 && OPERATOR_WORDS.has(name))) return;
    if ((path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog')) && ALLOWED_OPERATORS.has(name)) return;
    throw this.#fail('forbidden_operator', `operator \`${path.join('.')}\` is not allowed`, location, "PostgreSQL's own operators are.");
  }

  #valueFunction(op: string, location: number | undefined): void {
    if (!CLOCK_VALUES.has(op)) throw this.#fail('forbidden_function', `\`${op.replace(/^SVFOP_/, '').toLowerCase()}\` is not allowed`, location, FUNCTION_HINT);
    this.#clock = true;
  }

  #relation(member: string, name: string, location: number | undefined): void {
    if (member === 'schemaname' && isSystemSchema(name)) throw this.#fail('forbidden_relation', `schema \`${name}\` cannot be queried`, location);
  }

  #column(path: readonly string[], location: number | undefined): void {
    const name = (path[path.length - 1] ?? '').toLowerCase();
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

  #give(given: unknown): void {
    for (const n of (given ?? []) as unknown[]) {
      const name = isWord(n) ? n.String.sval : n;
      if (typeof name === 'string') this.#given.add(name.toLowerCase());
    }
  }
}

/** Why a field is refused. */
export const notAField = (field: string): string =>
  field === '*'
    ? '`.*` needs a value whose fields are known'
    : `\`${field}\` is not known to be a field of this value: PostgreSQL may call a function of that name`;

/** The error for a field that a value is not known to have. */
export const refusedField = (field: string): SvcError => badRequest('forbidden_function', notAField(field), { hint: FIELD_HINT });

interface Word {
  readonly String: { readonly sval?: string };
}
const isWord = (node: unknown): node is Word => typeof node === 'object' && node !== null && 'String' in node;
const words = (list: unknown): string[] => ((list ?? []) as Word[]).map((w) => w.String.sval ?? '');

/** -1 marks a node that the grammar made up. */
function locationOf(fields: Fields): number | undefined {
  const location = fields.location;
  return typeof location === 'number' && location >= 0 ? location : undefined;
}

/** The first place that a tree tells of, near its root. */
function firstLocation(value: unknown): number | undefined {
  const queue: unknown[] = [value];
  for (let i = 0; i < queue.length && i < 100; i++) {
    const v = queue[i];
    if (typeof v !== 'object' || v === null) continue;
    const location = Array.isArray(v) ? undefined : locationOf(v as Fields);
    if (location !== undefined) return location;
    queue.push(...Object.values(v));
  }
  return undefined;
}
