/** The rules of the repository: which folder may import which, and what pure folders must not use. */
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOnly, importsOf } from './imports.ts';
import { innerImports, read, SOURCES } from './repository.ts';

/**
 * Part -> the parts that it may import. All parts may import `errors`, `cache`, `budget`, `bytes`, `normalize` and `answer-memory`. All but the pure folders
 * may import the types of `config` and its tests of names, but not `readConfig`.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  cache: [],
  budget: [],
  bytes: [],
  normalize: [],
  'answer-memory': [],
  timing: [],
  config: ['connection'],
  connection: [],
  ontology: [],
  language: ['ontology'],
  planner: ['ontology', 'language'],
  nesting: ['ontology'],
  engine: [],
  catalog: ['ontology'],
  auth: ['catalog'],
  // authorization server of the MCP server, and the check of its tokens
  oauth: ['auth', 'catalog'],
  // the checks of data: of `kg validate --data` and of jobs
  checks: ['planner', 'engine', 'catalog', 'language', 'ontology'],
  service: ['timing', 'auth', 'checks', 'planner', 'engine', 'catalog', 'language', 'ontology'],
  llm: ['service'],
  http: ['timing', 'service', 'auth', 'nesting', 'llm', 'oauth'],
  mcp: ['service', 'auth', 'nesting', 'llm', 'oauth'],
  // the object that runs a statement or answers a question after its request, for the REST interface
  async: ['service', 'nesting', 'llm'],
  // the object that runs a job
  jobs: ['service'],
  cli: ['ontology', 'language', 'planner'],
  index: ['*'],
  // declarations of what the bundler makes of a .wasm file
  wasm: [],
};

/** The same for imports of types only. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  // the statements that are applied to a model are the language's syntax trees
  ontology: ['language/statements.ts'],
  // the format of the rows of an asynchronous statement
  service: ['nesting/presentation.ts', 'oauth/types.ts', 'llm/types.ts'],
  // plans, and the columns of a described statement
  engine: ['planner', 'ontology/model.ts'],
};

/** Further files that certain files may import. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // `kg token --new` prints an admin token without a service
  'cli/kg.ts': ['auth/tokens.ts'],
  'cli/generate-bearer.ts': ['auth/bearer.ts'],
  // the five commands that open a database: doctor, validate --data, introspect, advise, the first admin (docs/design/platform-rules.md#the-command-line)
  'cli/advise.ts': ['catalog'],
  'cli/advise-joins.ts': ['checks'],
  'cli/advise-read.ts': ['engine'],
  'cli/doctor-layout.ts': ['engine'],
  'cli/introspect.ts': ['engine'],
  'cli/introspect-read.ts': ['engine'],
  'cli/validate-data.ts': ['engine', 'catalog', 'checks'],
  'cli/validate-data-places.ts': ['engine'],
  'cli/doctor.ts': ['catalog'],
  'cli/doctor-datasource.ts': ['engine'],
  'cli/doctor-replicas.ts': ['engine', 'catalog'],
  // the type of a text that the verifier has accepted
  'engine/statement.ts': ['planner/verify/index.ts'],
};

const PURE = ['ontology', 'language', 'planner', 'nesting'];

/** `planner` of `planner/print/select.ts`, `service` of `service.ts` and of `service/read/read.ts`. */
const partOf = (file: string): string => file.replace(/\/.*$/, '').replace(/(\.d)?\.ts$/, '');
const within = (file: string, allowed: readonly string[]): boolean =>
  allowed.some((a) => a === '*' || file === a || partOf(file) === a || file.startsWith(`${a}/`));

/** Returns why a file of src may not import another one, or undefined if it may. Both are paths below src. */
function forbidden(file: string, target: string, typeOnly: boolean): string | undefined {
  const from = partOf(file);
  const to = partOf(target);
  if (to === 'index') return 'nothing imports index.ts';
  if (from === to || to === 'errors' || to === 'cache' || to === 'budget' || to === 'bytes' || to === 'normalize' || to === 'answer-memory') return undefined;
  if ((to === 'config' || to === 'connection') && !PURE.includes(from)) return undefined;
  if (within(target, MAY_IMPORT[from] ?? [])) return undefined;
  if (typeOnly && within(target, MAY_IMPORT_TYPES[from] ?? [])) return undefined;
  if (within(target, EXCEPTIONS[file] ?? [])) return undefined;
  return `${from} may not import ${to}${typeOnly ? '' : ' (a value)'}`;
}

/** The files of the Worker. */
function bundled(): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const { target, typeOnly } of innerImports(file, importsOf(read(file)))) if (!typeOnly) visit(`src/${target}`);
  };
  visit('src/index.ts');
  return reached;
}

describe('the reader of imports', () => {
  it('finds all of them', () => {
    expect(SOURCES.length).toBeGreaterThan(100);
    // an import that is not understood would pass every test
    for (const file of SOURCES) expect(importsOf(read(file)).length, file).toBeGreaterThanOrEqual(read(file).match(/^import\b/gm)?.length ?? 0);
  });

  it('understands all forms of imports', () => {
    const text = `import { a, type B } from './a.ts';
import type { C } from '../c.ts';
import { type D, type E } from './d.ts';
import {
  f,
  g, // import { no } from './no.ts'
} from './f.ts';
export { h } from './h.ts';
export type { I } from './i.ts';
export * from './j.ts';
import * as k from 'node:k';
import './l.ts';
const m = await import('./m.ts');
// import { n } from './n.ts';
/* import { o } from './o.ts'; */
const p = "import { q } from './q.ts'";`;
    expect(importsOf(text).map((i) => `${i.from}${i.typeOnly ? ' (types)' : ''}`)).toEqual([
      './a.ts',
      '../c.ts (types)',
      './d.ts (types)',
      './f.ts',
      './h.ts',
      './i.ts (types)',
      './j.ts',
      'node:k',
      './l.ts',
      './m.ts',
    ]);
  });

  it.each([
    ['planner/index.ts', 'engine/engine.ts', false, 'planner may not import engine (a value)'],
    ['ontology/apply.ts', 'language/split.ts', false, 'ontology may not import language (a value)'],
    ['ontology/apply.ts', 'language/split.ts', true, 'ontology may not import language'],
    ['ontology/apply.ts', 'language/statements.ts', true, undefined],
    ['ontology/apply.ts', 'language/statements.ts', false, 'ontology may not import language (a value)'],
    ['http/app.ts', 'catalog/db.ts', true, 'http may not import catalog'],
    ['http/app.ts', 'service/read/read.ts', false, undefined],
    ['service.ts', 'service/read/read.ts', false, undefined],
    ['service/read/read.ts', 'http/app.ts', true, 'service may not import http'],
    ['planner/plan-state.ts', 'config.ts', true, 'planner may not import config'],
    ['http/app.ts', 'index.ts', true, 'nothing imports index.ts'],
    ['cli/kg.ts', 'auth/tokens.ts', false, undefined],
    ['cli/apply.ts', 'auth/tokens.ts', false, 'cli may not import auth (a value)'],
    ['somewhere/new.ts', 'catalog/db.ts', false, 'somewhere may not import catalog (a value)'],
  ])('the arrow from %s to %s', (file, target, typeOnly, expected) => expect(forbidden(file, target, typeOnly)).toBe(expected));
});

describe('the permitted imports', () => {
  it('cover every part of src', () => {
    expect([...new Set(SOURCES.map((f) => partOf(f.slice('src/'.length))))].filter((p) => !Object.hasOwn(MAY_IMPORT, p))).toEqual([]);
  });

  it('are the only ones in src', () => {
    const wrong = SOURCES.flatMap((file) =>
      innerImports(file, importsOf(read(file))).flatMap(({ target, typeOnly }) => {
        const why = forbidden(file.slice('src/'.length), target, typeOnly);
        return why === undefined ? [] : [`${file} -> ${target}: ${why}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('have no unused exception', () => {
    const unused = Object.entries(EXCEPTIONS).flatMap(([file, targets]) => {
      const imports = innerImports(`src/${file}`, importsOf(read(`src/${file}`)));
      return targets.filter((t) => !imports.some((i) => within(i.target, [t]))).map((t) => `${file} -> ${t}`);
    });
    expect(unused).toEqual([]);
  });

  it('of the verifier are the parser and errors, and other folders import only its index.ts', () => {
    const of = (file: string): readonly string[] => innerImports(file, importsOf(read(file))).map((i) => i.target);
    const own = SOURCES.filter((f) => f.startsWith('src/planner/verify/'));
    expect(own.length).toBeGreaterThan(5);
    const shared = own.flatMap((file) => of(file).filter((t) => !t.startsWith('planner/verify/') && t !== 'errors.ts' && t !== 'language/parser.ts'));
    expect(shared).toEqual([]);
    const others = SOURCES.filter((f) => !own.includes(f)).flatMap((file) =>
      of(file).filter((t) => t.startsWith('planner/verify/') && t !== 'planner/verify/index.ts'),
    );
    expect(others).toEqual([]);
  });

  it('outside of src are files of the build', () => {
    const outside = SOURCES.flatMap((file) =>
      importsOf(read(file))
        .filter((i) => i.from.startsWith('.'))
        .map((i) => normalize(join(dirname(file), i.from)))
        .filter((t) => !t.startsWith('src/'))
        .map((t) => `${file} -> ${t}`),
    );
    expect(outside.sort()).toEqual([
      'src/cli/node-parser.ts -> scripts/build-parser.ts',
      'src/index.ts -> dist/parser/glue.js',
      'src/index.ts -> dist/parser/libpg-query.wasm',
      'src/index.ts -> package.json',
    ]);
  });

  it('of bundled files do not include the command line', () => {
    const reached = bundled();
    expect(reached.size).toBeGreaterThan(80);
    expect([...reached].filter((f) => f.startsWith('src/cli/'))).toEqual([]);
  });
});

describe('what is sent to a datasource', () => {
  const holders = (pattern: RegExp): readonly string[] => SOURCES.filter((f) => pattern.test(codeOnly(read(f))));
  const users = (file: string, name: RegExp): readonly string[] =>
    SOURCES.filter((f) => innerImports(f, importsOf(read(f))).some((i) => i.target === file && !i.typeOnly && name.test(codeOnly(read(f)))));

  it('is built in one place, which checks the text', () => {
    // what is sent along with the connection string
    // the catalog has a client of its own, for another connection
    expect(SOURCES.filter((f) => read(f).includes("'Neon-Connection-String':")).toSorted()).toEqual(['src/catalog/http.ts', 'src/engine/client.ts']);
    expect(users('catalog/http.ts', /\bexchange\(/)).toEqual(['src/catalog/db.ts']);
    expect(holders(/\bconnectionHeader\(/)).toEqual(['src/engine/client.ts']);
    expect(holders(/\bsentConnection\(/).toSorted()).toEqual(['src/catalog/http.ts', 'src/connection.ts', 'src/engine/datasource.ts']);
    // a member of the type and one of the object
    expect(holders(/\bquery: sqlOf\(/)).toEqual(['src/engine/client.ts']);
    expect(read('src/engine/client.ts').match(/\bquery:/g)?.length).toBe(2);
  });

  it('comes from the verifier, or is a constant', () => {
    expect(users('planner/verify/index.ts', /\bverify\(/).toSorted()).toEqual(['src/checks/reader.ts', 'src/service/read/verified.ts']);
    const makers = holders(/\b(operatorText|setLocal|new OwnText)\b/).filter((f) => !f.startsWith('src/cli/'));
    expect(makers.toSorted()).toEqual(['src/engine/operator.ts', 'src/engine/settings.ts', 'src/engine/statement.ts']);
    // as a call, `fixed` takes texts that are not constants
    expect(holders(/\bfixed\s*\(/).toSorted()).toEqual(['src/engine/operator.ts', 'src/engine/statement.ts']);
    const constants = SOURCES.flatMap((f) => [...read(f).matchAll(/\bfixed`([^`]*)`/g)].map(([, text]) => text));
    expect(constants.length).toBeGreaterThan(1);
    expect(constants.filter((text) => text?.includes('${'))).toEqual([]);
  });

  it('is not a text of an operator in the Worker', () => {
    const reached = bundled();
    expect(reached.has('src/engine/statement.ts')).toBe(true);
    expect(reached.has('src/engine/operator.ts')).toBe(false);
  });
});

describe('the pure folders', () => {
  const pure = SOURCES.filter((f) => PURE.includes(partOf(f.slice('src/'.length))));

  it('import nothing of Node or of the Worker', () => {
    const wrong = pure.flatMap((file) =>
      importsOf(read(file))
        .filter((i) => !i.from.startsWith('.') && i.from !== '@pgsql/types')
        .map((i) => `${file}: ${i.from}`),
    );
    expect(wrong).toEqual([]);
  });

  it('use no clock, random numbers, environment, input or output', () => {
    const API =
      /\b(fetch\(|process\.|Buffer\b|require\(|Date\.now|new Date\b|performance\.|Math\.random|crypto\.|setTimeout|setInterval|queueMicrotask|new (Request|Response|Headers|URL)\b|KVNamespace|DurableObject|ExecutionContext|AbortSignal|console\.|globalThis)/;
    const wrong = pure.flatMap((file) => {
      const found = API.exec(codeOnly(read(file)));
      return found ? [`${file}: ${found[0]}`] : [];
    });
    expect(wrong).toEqual([]);
  });
});

describe('the types of src', () => {
  // the linter refuses `any` on every line without such a comment
  it('contain no `any`', () => expect(SOURCES.filter((f) => read(f).includes('noExplicitAny'))).toEqual([]));
});

describe('the environment', () => {
  it('is read in index.ts, by config.ts, and by the command line', () => {
    const reading = SOURCES.filter((f) => /\b(process\.env|readConfig\()/.test(codeOnly(read(f)))).filter((f) => !f.startsWith('src/cli/'));
    expect(reading).toEqual(['src/config.ts', 'src/index.ts']);
  });
});
