/** `kg lint FILES`: finds what a model should have or avoid, although it is valid (docs/model-as-code.md#lint). */
import { positionOf, SvcError } from '../errors.ts';
import { parseStatement } from '../language/classify.ts';
import { tokenize } from '../language/lexer.ts';
import { splitScript } from '../language/split.ts';
import type { CreateConcept, CreateMeasure, CreateProperty, Name, Source, Statement } from '../language/statements.ts';
import { Failure, faultText } from './failure.ts';
import { placeIn, type ScriptFile } from './script-file.ts';
import type { Report } from './validate-data.ts';

/** A statement with its file and the codes that its comments silence. */
interface Placed {
  readonly file: ScriptFile;
  readonly statement: Statement;
  readonly silenced: ReadonlySet<string>;
}

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly at: Name;
}

/** The exit code if there are findings. */
const HAS_FINDINGS = 3;

/**
 * Checks files. Each finding has a code, which a comment `-- lint: ignore CODE` in or directly before its statement silences.
 * @returns exit code 0 without findings, 3 with findings
 * @throws Failure with the position of a syntax error
 */
export function lint(files: readonly ScriptFile[]): Report {
  const placed = files.flatMap(statementsOf);
  const styles = stylesOf(placed.map((p) => p.statement));
  const used = new Set(placed.flatMap(({ statement }) => usedProperties(statement)));
  const lines = placed.flatMap(({ file, statement, silenced }) =>
    findings(statement, used, styles)
      .filter((f) => !silenced.has(f.code))
      .map((f) => `${placeIn(file, positionOf(file.text, f.at.offset))}: ${f.message} (${f.code})`),
  );
  const count = `${lines.length} finding${lines.length === 1 ? '' : 's'} in ${files.length} file${files.length === 1 ? '' : 's'}`;
  return { lines: [...lines, count], exitCode: lines.length === 0 ? 0 : HAS_FINDINGS };
}

function statementsOf(file: ScriptFile): Placed[] {
  try {
    let end = 0;
    return splitScript(file.text).map((source) => {
      const placed = { file, statement: parseStatement(source), silenced: silencedIn(file.text.slice(end, source.offset + source.text.length)) };
      end = source.offset + source.text.length;
      return placed;
    });
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    throw new Failure(faultText(placeIn(file, e.offset === undefined ? undefined : positionOf(file.text, e.offset)), e.code, e.message, e.hint));
  }
}

/** The codes in comments `lint: ignore CODE, CODE`. */
function silencedIn(text: string): ReadonlySet<string> {
  const comments = tokenize(text).filter((t) => t.kind === 'comment');
  const lists = comments.map((t) => /lint:\s*ignore\s+([a-z_,\s]+)/i.exec(text.slice(t.start, t.end))?.[1] ?? '');
  return new Set(lists.flatMap((list) => list.toLowerCase().split(/[\s,]+/)).filter(Boolean));
}

/** The folded names of properties that a statement uses: those that a concept lists, and words in texts of SQL. */
function usedProperties(statement: Statement): string[] {
  if (statement.kind === 'create_concept')
    return statement.elements.flatMap((e) => (e.kind === 'property' || e.kind === 'multivalue' ? [e.name.text.toLowerCase()] : []));
  const sql = 'expression' in statement ? (statement.expression as Source | null)?.text : undefined;
  return sql === undefined ? [] : tokenize(sql).flatMap((t) => (t.kind === 'word' || t.kind === 'name' ? [t.value.toLowerCase()] : []));
}

function findings(statement: Statement, used: ReadonlySet<string>, styles: Styles): Finding[] {
  if (statement.kind === 'create_concept') return [...conceptFindings(statement), ...styleFindings(statement, styles)];
  if (statement.kind === 'create_measure') return [...measureFindings(statement), ...styleFindings(statement, styles)];
  if (statement.kind === 'create_property') return [...propertyFindings(statement, used), ...styleFindings(statement, styles)];
  return [];
}

function conceptFindings({ name, elements, description, logic, parents }: CreateConcept): Finding[] {
  const found: Finding[] = [];
  const has = (kind: string): boolean => elements.some((e) => e.kind === kind);
  if (description === null) found.push({ code: 'missing_description', message: `the concept \`${name.text}\` has no description`, at: name });
  // the key and the label may be inherited
  const inherits = logic !== null || parents.some((p) => p.text.toLowerCase() !== 'thing');
  if (!inherits && !has('primary_key'))
    found.push({ code: 'missing_key', message: `the concept \`${name.text}\` has no PRIMARY KEY, so its rows have no entity_id`, at: name });
  if (!inherits && !has('label')) found.push({ code: 'missing_label', message: `the concept \`${name.text}\` has no LABEL`, at: name });
  for (const e of elements) {
    if ((e.kind === 'foreign_key' || e.kind === 'multireference') && e.inverse === null && !e.symmetric)
      found.push({
        code: 'missing_inverse',
        message: `the relationship \`${e.name.text}\` has no INVERSEOF, so its other direction is named \`~${e.name.text}\``,
        at: e.name,
      });
  }
  return found;
}

const measureFindings = ({ name, description }: CreateMeasure): Finding[] =>
  description === null ? [{ code: 'measure_without_description', message: `the measure \`${name.text}\` has no description`, at: name }] : [];

const propertyFindings = ({ name }: CreateProperty, used: ReadonlySet<string>): Finding[] =>
  used.has(name.text.toLowerCase()) ? [] : [{ code: 'unused_property', message: `no concept lists the property \`${name.text}\``, at: name }];

interface Styles {
  readonly snake: number;
  readonly camel: number;
}

const isSnake = (name: string): boolean => /^[a-z0-9]+(_[a-z0-9]+)+$/.test(name);
const isCamel = (name: string): boolean => /[a-z][A-Z]/.test(name);

/** The names that a statement gives. */
function namesIn(statement: Statement): readonly Name[] {
  if (statement.kind === 'create_property' || statement.kind === 'create_measure') return [statement.name];
  if (statement.kind !== 'create_concept') return [];
  return [statement.name, ...statement.elements.flatMap((e) => ('name' in e && e.kind !== 'measure' ? [e.name] : []))];
}

function stylesOf(statements: readonly Statement[]): Styles {
  const names = new Set(statements.flatMap(namesIn).map((n) => n.text));
  return { snake: [...names].filter(isSnake).length, camel: [...names].filter(isCamel).length };
}

/** Names in the less frequent of the styles snake_case and camelCase. */
function styleFindings(statement: Statement, { snake, camel }: Styles): Finding[] {
  if (snake === 0 || camel === 0) return [];
  const [isOther, style] = snake >= camel ? [isCamel, 'snake_case'] : [isSnake, 'camelCase'];
  return namesIn(statement)
    .filter((n) => isOther(n.text))
    .map((at) => ({ code: 'two_styles', message: `\`${at.text}\` is not in ${style}, as most other names are`, at }));
}
