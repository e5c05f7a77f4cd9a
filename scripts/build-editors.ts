/**
 * `npm run build:editors`: writes `editors/keywords.json` and `editors/kg.tmLanguage.json` from the keywords of the parser and the types of the language. A test
 * compares the files with what this script writes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FIRST_WORDS } from '../src/language/classify.ts';
import { typeNames } from '../src/ontology/types.ts';
import { SHOWN } from '../src/service/describe/show.ts';

const TOP = new URL('../', import.meta.url);
const MODELLING = new URL('src/language/modelling/', TOP);

/** Keywords of queries that are highlighted. PostgreSQL's grammar has more. */
const SQL = `all and any array as asc between by case cast collate cross desc distinct else end escape except exists extract false fetch filter first following from full group grouping
having ilike in inner intersect interval is isnull join last lateral left like limit natural not notnull null nulls offset on or order ordinality outer over partition
preceding range recursive right rollup row rows select sets similar some table then true unbounded union unnest using values when where window with within`;

/** The keywords of the language, each in one list. */
export interface Keywords {
  /** The first words of statements. */
  readonly statements: readonly string[];
  /** What CREATE creates. */
  readonly objects: readonly string[];
  /** The other keywords of modelling statements. */
  readonly clauses: readonly string[];
  /** What SHOW lists. */
  readonly shown: readonly string[];
  readonly types: readonly string[];
  /** Common keywords of queries. */
  readonly sql: readonly string[];
}

/** The keywords that the parser's source files read: words in capital letters, as texts and as keys of tables. */
function parsedWords(): ReadonlySet<string> {
  const files = [new URL('src/language/classify.ts', TOP), ...readdirSync(MODELLING).map((f) => new URL(f, MODELLING))].filter((f) =>
    f.pathname.endsWith('.ts'),
  );
  const source = files.map((file) => readFileSync(file, 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')).join('\n');
  const found = [...source.matchAll(/'([A-Z][A-Z ]+)'|^\s*([A-Z]+):/gm)];
  return new Set(found.flatMap(([, text, key]) => (text ?? key ?? '').split(' ')));
}

/** The keywords of the language. */
export function keywords(): Keywords {
  const { statements, objects } = FIRST_WORDS;
  const known = new Set([...statements, ...objects]);
  return {
    statements: statements.toSorted(),
    objects: objects.filter((word) => !statements.includes(word)).toSorted(),
    clauses: [...parsedWords()].filter((word) => !known.has(word)).toSorted(),
    shown: [...SHOWN],
    types: typeNames().toSorted(),
    sql: SQL.trim().toUpperCase().split(/\s+/).toSorted(),
  };
}

const words = (list: readonly string[]): string => `(?i:\\b(?:${list.map((w) => w.toLowerCase()).join('|')})\\b)`;

/** A name: plain, in back quotes or in double quotes. */
const NAME = '(?:[A-Za-z_\\x{80}-\\x{10FFFF}][\\w$\\x{80}-\\x{10FFFF}]*|`(?:[^`]|``)*`|"(?:[^"]|"")*")';

/** The keywords of the elements of a concept, with what must follow where a property may have the same name. */
const ELEMENTS = [
  '\\bprimary(?=\\s+key\\b)',
  '(?<=primary\\s)\\s*key\\b',
  '\\blabel(?=\\s*\\()',
  '\\bconstraint\\b',
  '\\bforeign(?=\\s+key\\b)',
  '(?<=foreign\\s)\\s*key\\b',
  '\\b(?:references|multireference|multivalue|inverseof|transitive|symmetric|includes)\\b',
  '\\bmeasure(?=\\s+\\w)',
  "\\bdescription(?=\\s*(?:=|'))",
];

/** The grammar for highlighting, in the format of TextMate. */
export function grammar(k: Keywords): object {
  const include = (...names: string[]): readonly object[] => names.map((name) => ({ include: `#${name}` }));
  return {
    $schema: 'https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json',
    name: 'Knowledge graph model',
    scopeName: 'source.kg',
    fileTypes: ['kg'],
    patterns: include('concept', 'created', 'text', 'sql'),
    repository: {
      concept: {
        begin: `(?i:\\b(create)\\b)(?:\\s+(?i:(or)\\s+(replace)\\b))?\\s+(?i:(concept)\\b)(?:\\s+(?i:(if)\\s+(not)\\s+(exists)\\b))?\\s+(${NAME})`,
        beginCaptures: {
          ...Object.fromEntries(['1', '2', '3', '4', '5', '6', '7'].map((n) => [n, { name: 'keyword.control.kg' }])),
          8: { name: 'entity.name.type.kg' },
        },
        end: '(?=;)',
        patterns: [
          ...include('text'),
          { begin: '\\b(?i:(inherits))\\s*\\(', beginCaptures: { 1: { name: 'keyword.other.kg' } }, end: '\\)', patterns: include('text', 'names') },
          {
            begin: '\\b(?i:(with)\\s+(tags))\\s*\\(',
            beginCaptures: { 1: { name: 'keyword.other.kg' }, 2: { name: 'keyword.other.kg' } },
            end: '\\)',
            patterns: include('text', 'names'),
          },
          { begin: '\\b(?i:(from))\\b', beginCaptures: { 1: { name: 'keyword.other.kg' } }, end: '(?=;)', patterns: include('text', 'sql') },
          { begin: '\\(', end: '\\)', patterns: include('text', 'elements') },
          ...include('words'),
        ],
      },
      elements: {
        patterns: [
          { name: 'keyword.other.kg', match: `(?i:${ELEMENTS.join('|')})` },
          {
            match: `(${NAME})\\s+(?:(?i:(measure))\\s+)?(?i:(${k.types.join('|')})\\b)`,
            captures: { 1: { name: 'variable.other.property.kg' }, 2: { name: 'keyword.other.kg' }, 3: { name: 'storage.type.kg' } },
          },
          { name: 'storage.type.kg', match: words(k.types) },
          { begin: '\\(', end: '\\)', patterns: include('text', 'names', 'numbers') },
          ...include('names', 'numbers'),
        ],
      },
      created: {
        match: `(?i:\\b(create)\\b)(?:\\s+(?i:(or)\\s+(replace)\\b))?\\s+(?i:(${['ontology', ...k.objects.map((o) => o.toLowerCase()).filter((o) => o !== 'ontology')].join('|')})\\b)(?:\\s+(?i:(view|cube)\\b))?(?:\\s+(?i:(if)\\s+(not)\\s+(exists)\\b))?\\s+(${NAME})`,
        captures: {
          ...Object.fromEntries(['1', '2', '3', '4', '5', '6', '7', '8'].map((n) => [n, { name: 'keyword.control.kg' }])),
          9: { name: 'entity.name.type.kg' },
        },
      },
      sql: {
        patterns: [...include('words'), { name: 'entity.name.function.kg', match: '\\b[A-Za-z_]\\w*(?=\\s*\\()' }, ...include('names', 'numbers', 'operators')],
      },
      words: {
        patterns: [
          { name: 'keyword.control.kg', match: words(k.statements) },
          { name: 'keyword.other.kg', match: words([...k.objects, ...k.clauses, ...k.sql]) },
          { name: 'storage.type.kg', match: words(k.types) },
        ],
      },
      text: {
        patterns: [
          { name: 'comment.line.double-dash.kg', match: '--.*$' },
          ...include('comment'),
          { name: 'string.quoted.single.kg', begin: "\\b[eE]'", end: "'(?!')", patterns: [{ name: 'constant.character.escape.kg', match: "\\\\.|''" }] },
          {
            name: 'string.quoted.single.kg',
            begin: "(?:\\b(?i:b|x|n|u&))?'",
            end: "'(?!')",
            patterns: [{ name: 'constant.character.escape.kg', match: "''" }],
          },
          { name: 'string.quoted.other.kg', begin: '\\$((?:[A-Za-z_]\\w*)?)\\$', end: '\\$\\1\\$' },
        ],
      },
      comment: { name: 'comment.block.kg', begin: '/\\*', end: '\\*/', patterns: include('comment') },
      names: {
        patterns: [
          {
            name: 'variable.other.quoted.kg',
            begin: '`',
            end: '`(?!`)',
            patterns: [{ name: 'constant.character.escape.kg', match: '``' }, ...include('path')],
          },
          {
            name: 'variable.other.quoted.kg',
            begin: '"',
            end: '"(?!")',
            patterns: [{ name: 'constant.character.escape.kg', match: '""' }, ...include('path')],
          },
          { name: 'variable.other.kg', match: '[A-Za-z_\\x{80}-\\x{10FFFF}][\\w$\\x{80}-\\x{10FFFF}]*' },
        ],
      },
      path: {
        match: '\\[([^\\]`"*]*)(\\*\\d*)?\\]',
        captures: { 1: { name: 'entity.name.type.kg' }, 2: { name: 'keyword.operator.kg' } },
      },
      numbers: { name: 'constant.numeric.kg', match: '\\b\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?\\b' },
      operators: { name: 'keyword.operator.kg', match: '::|[-+*/%<>=~!@#^&|]+' },
    },
  };
}

/** The files of `editors/` with their texts. */
export function files(): Readonly<Record<string, string>> {
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
  const known = keywords();
  return { 'keywords.json': json(known), 'kg.tmLanguage.json': json(grammar(known)) };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  for (const [name, text] of Object.entries(files())) await writeFile(fileURLToPath(new URL(`editors/${name}`, TOP)), text);
