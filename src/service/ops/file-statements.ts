/** Reads model files: the statements that define the content of an ontology (docs/design/model-as-files.md#what-files-may-contain). */
import { badRequest, quoted, SvcError } from '../../errors.ts';
import { parseStatement } from '../../language/classify.ts';
import { splitScript } from '../../language/split.ts';
import type {
  AlterOntology,
  CreateConcept,
  CreateExample,
  CreateMapping,
  CreateMeasure,
  CreateOntology,
  CreatePolicy,
  CreateProperty,
  CreateView,
  Statement,
} from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { questionKey } from '../describe/examples.ts';
import { FileError, type ModelFile } from './file-error.ts';

/** A statement that creates an object of the model. */
export type ObjectStatement = CreateProperty | CreateMeasure | CreateConcept | CreateMapping | CreateView;
export type FileStatement = ObjectStatement | CreateOntology | AlterOntology | CreateExample | CreatePolicy;

/** The kinds of statements that files may contain, in the order in which they are applied, and the kind of their objects. */
const KINDS: Readonly<Record<FileStatement['kind'], (s: never) => string>> = {
  create_ontology: () => 'ontology',
  alter_ontology: (s: AlterOntology) => `setting ${s.key.text}`,
  create_property: () => 'property',
  create_measure: () => 'measure',
  create_concept: () => 'concept',
  create_mapping: () => 'mapping',
  create_view: (s: CreateView) => (s.cube ? 'cube' : 'view'),
  create_example: () => 'example',
  create_policy: () => 'policy',
};
const ORDER = Object.keys(KINDS);

/** The kind of the object of a statement, as answers name it. */
export const kindOf = (statement: FileStatement): string => KINDS[statement.kind](statement as never);

/** The name of the object of a statement: for an example its question, and '' for the ontology itself. */
export function nameOf(statement: FileStatement): string {
  if (statement.kind === 'create_example') return statement.question.text.trim();
  return statement.kind === 'create_ontology' || statement.kind === 'alter_ontology' ? '' : statement.name.text;
}

/** The key of an object: views and cubes share their names. */
export const keyOf = (kind: string, name: string): string => `${kind === 'cube' ? 'view' : kind} ${kind === 'example' ? questionKey(name) : fold(name)}`;

const isFileStatement = (statement: Statement): statement is FileStatement => Object.hasOwn(KINDS, statement.kind);

/** Model files as one text, and the statements in it. */
export class Files {
  readonly #files: readonly (ModelFile & { readonly base: number })[];
  /** In the order in which they are applied. */
  readonly statements: readonly FileStatement[];
  /** All texts, one after the other. Offsets of the statements count from its start. */
  readonly text: string;

  /** @throws SvcError 400 `syntax_error`, `unknown_statement`, `not_in_files`, `duplicate_object`; 413 `statement_too_long`. As `located` gives them */
  constructor(files: readonly ModelFile[]) {
    let base = 0;
    this.#files = files.map((file) => {
      const placed = { ...file, base };
      base += file.text.length + 1;
      return placed;
    });
    this.text = files.map((file) => `${file.text}\n`).join('');
    const read = this.#files.flatMap((file) => this.located(() => statementsIn(file)));
    this.statements = this.located(() => distinct(read)).sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  }

  /** Runs something whose errors have offsets in `text`. @throws FileError with the name of the file, and the offset in it */
  located<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw this.locate(error);
    }
  }

  /** The error at its place in a file. Other errors are returned as they are. */
  locate(error: unknown): unknown {
    if (!(error instanceof SvcError) || error instanceof FileError || error.offset === undefined) return error;
    const file = this.fileAt(error.offset);
    // statements that no file has are at the end of the text
    if (error.offset >= this.text.length) return error.at(undefined);
    return file === undefined ? error : new FileError(error, file, error.offset - file.base);
  }

  /** The file at an offset of `text`. */
  fileAt(offset: number): (ModelFile & { readonly base: number }) | undefined {
    return this.#files.findLast((file) => file.base <= offset);
  }
}

function statementsIn({ text, base }: ModelFile & { readonly base: number }): FileStatement[] {
  const sources = (() => {
    try {
      return splitScript(text);
    } catch (error) {
      throw error instanceof SvcError ? error.shifted(base) : error;
    }
  })();
  return sources.map((source) => {
    const statement = parseStatement({ text: source.text, offset: base + source.offset });
    if (isFileStatement(statement)) return statement;
    throw badRequest('not_in_files', 'A model file contains only statements that create objects of a model', {
      offset: statement.source.offset,
      hint: 'CREATE of PROPERTY, MEASURE, CONCEPT, MAPPING, VIEW, CUBE, EXAMPLE and POLICY, CREATE ONTOLOGY, and ALTER ONTOLOGY ... SET. Run other statements as a script',
    });
  });
}

/** Removes repetitions. @throws SvcError 400 `duplicate_object` for an object with two definitions */
function distinct(statements: readonly FileStatement[]): FileStatement[] {
  const found = new Map<string, FileStatement>();
  for (const statement of statements) {
    const key = keyOf(kindOf(statement), nameOf(statement));
    const other = found.get(key);
    if (other === undefined) found.set(key, statement);
    else if (other.source.text !== statement.source.text) {
      const what = `${kindOf(statement)}${nameOf(statement) === '' ? '' : ` ${quoted(nameOf(statement))}`}`;
      throw badRequest('duplicate_object', `the ${what} has two definitions`, { offset: statement.source.offset, hint: 'Define each object in one file' });
    }
  }
  return [...found.values()];
}
