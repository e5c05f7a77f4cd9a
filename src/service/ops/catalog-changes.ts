/** What model files change outside of the model: examples, policies and `allowed_functions`. */
import { canSee } from '../../auth/grants.ts';
import { type ExampleRow, readExamples } from '../../catalog/examples.ts';
import type { PolicyRow } from '../../catalog/policies.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { parseStatement } from '../../language/classify.ts';
import { createSqlReader, productText } from '../../language/expressions.ts';
import { printPolicy } from '../../language/print-policy.ts';
import { printExample } from '../../language/print-service.ts';
import type { CreateExample, CreatePolicy, ServiceStatement, Statement } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { functionsIn } from '../../planner/read/own-functions.ts';
import { printedPolicy, requirePolicyRight } from '../caller/policies.ts';
import type { ServiceRequest } from '../runtime.ts';
import { type Files, keyOf, kindOf, nameOf } from './file-statements.ts';
import type { Change } from './model-changes.ts';

/** Changes, the statements that make them, and what no file contains. */
export interface CatalogChanges {
  readonly changes: readonly Change[];
  readonly statements: readonly Statement[];
  readonly unlisted: readonly { readonly kind: string; readonly name: string }[];
}

/** An object of the catalog: its printed statement (null if the caller may not see it), and the statement that drops it. */
interface CatalogObject {
  readonly kind: 'example' | 'policy';
  readonly name: string;
  readonly text: string | null;
  readonly isSame: (statement: CreateExample | CreatePolicy) => boolean;
  readonly drop: ServiceStatement;
}

/**
 * Compares the examples and policies of an ontology with those of files. Each kind is compared only if the files contain one of its kind; otherwise they do not
 * manage it. @throws SvcError 403 for a policy by a caller who may not make policies; 503
 */
export async function catalogChanges(
  request: ServiceRequest,
  row: OntologyRow | undefined,
  files: Files,
  { source, prune, madeBy }: { readonly source: string | null; readonly prune: boolean; readonly madeBy: ReadonlySet<string> },
): Promise<CatalogChanges> {
  const wanted = files.statements.filter((s): s is CreateExample | CreatePolicy => s.kind === 'create_example' || s.kind === 'create_policy');
  // the comparison shows which policies exist, and their definitions
  const policy = wanted.find((s) => s.kind === 'create_policy');
  if (policy !== undefined && row !== undefined) requirePolicyRight(request.caller.principal, row.name, policy.source.offset);
  const kinds = new Set<string>(wanted.map(kindOf));
  const functions = functionChanges(row, files);
  const known = new Map((await objects(request, row, kinds, files.text.length)).map((o) => [keyOf(o.kind, o.name), o]));
  const named = new Set(wanted.map((s) => keyOf(kindOf(s), nameOf(s))));
  const made = wanted.flatMap((s): readonly [Change, Statement][] => {
    const [kind, old] = [kindOf(s), known.get(keyOf(kindOf(s), nameOf(s)))];
    if (old !== undefined && (s.ifNotExists || old.isSame(s))) return [];
    const change = {
      action: old === undefined ? ('create' as const) : ('change' as const),
      kind,
      name: old?.name ?? nameOf(s),
      before: old?.text ?? null,
      after: s.source.text,
    };
    return [[change, { ...s, replace: true }]];
  });
  const left = [...known].filter(([key]) => !named.has(key));
  const isDropped = ([key]: readonly [string, CatalogObject]): boolean => prune && (source === null || madeBy.has(key));
  const dropped = left.filter(isDropped).map(([, o]) => o);
  return {
    changes: [
      ...functions.changes,
      ...made.map(([c]) => c),
      ...dropped.map(({ kind, name, text }): Change => ({ action: 'drop', kind, name, before: text, after: null })),
    ],
    statements: [...functions.statements, ...made.map(([, s]) => s), ...dropped.map((o) => o.drop)],
    unlisted: left.filter((entry) => !isDropped(entry)).map(([, { kind, name }]) => ({ kind, name })),
  };
}

/** ALTER ONTOLOGY ... SET allowed_functions, if it changes something. */
function functionChanges(row: OntologyRow | undefined, files: Files): Pick<CatalogChanges, 'changes' | 'statements'> {
  const statement = files.statements.find((s) => s.kind === 'alter_ontology' && s.key.text === 'allowed_functions');
  const listOf = (setting: string): string => [...functionsIn(setting)].sort().join(',');
  if (statement?.kind !== 'alter_ontology' || listOf(statement.value) === listOf(row?.allowedFunctions ?? '')) return { changes: [], statements: [] };
  const change: Change = { action: 'change', kind: 'setting', name: 'allowed_functions', before: row?.allowedFunctions ?? '', after: statement.value };
  return { changes: [change], statements: row === undefined ? [statement] : [{ ...statement, name: { ...statement.name, text: row.name } }] };
}

async function objects(request: ServiceRequest, row: OntologyRow | undefined, kinds: ReadonlySet<string>, offset: number): Promise<CatalogObject[]> {
  const { parser, config, db } = request.runtime;
  if (row === undefined) return [];
  const { textOf } = createSqlReader(parser, config.product);
  const example = ({ question, query, description }: ExampleRow): CatalogObject => ({
    kind: 'example',
    name: question,
    text: printExample({ question, description, query: productText(parser, query, 'select', config.product) }),
    isSame: (s) => s.kind === 'create_example' && s.question.text.trim() === question && s.description === description && textOf(s.sql, 'select') === query,
    drop: { kind: 'drop_example', source: { text: 'DROP EXAMPLE', offset }, question: { text: question, offset } },
  });
  const { principal } = request.caller;
  const policy = (of: PolicyRow): CatalogObject => {
    const text = printPolicy(printedPolicy(of, (sql, kind) => productText(parser, sql, kind, config.product)));
    const shape = shapeOf(parseStatement({ text, offset: 0 }));
    // a comparison would reveal whether the policy names a role or user that is hidden from the caller
    const isOpen = of.grantees.every((g) => canSee(principal, [g.kind, g.name]));
    return {
      kind: 'policy',
      name: of.name,
      // SHOW CREATE POLICY is for administrators
      text: principal.isAdmin ? text : null,
      isSame: (s) => isOpen && shapeOf(s) === shape,
      drop: { kind: 'drop_policy', source: { text: 'DROP POLICY', offset }, name: { text: of.name, offset } },
    };
  };
  return [...(kinds.has('example') ? (await readExamples(db, row.id)).map(example) : []), ...(kinds.has('policy') ? row.policies.map(policy) : [])];
}

/** A statement without its positions and spelling, for comparisons. */
const shapeOf = (statement: Statement): string =>
  JSON.stringify(statement, (key, value: unknown) => {
    if (['offset', 'source', 'replace', 'ifNotExists'].includes(key)) return undefined;
    return key === 'text' && typeof value === 'string' ? fold(value).replace(/\s+/g, ' ').trim() : value;
  });
