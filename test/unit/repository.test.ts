/** The rules of the repository that are not about imports: sizes, descriptions, seeds, dependencies. */
import { stripTypeScriptTypes } from 'node:module';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { functionsOf } from './functions.ts';
import { codeOnly } from './imports.ts';
import { FILES, read, SOURCES } from './repository.ts';

describe('generated tests', () => {
  const TESTS = FILES.filter((f) => f.startsWith('test/') && f.endsWith('.ts') && f !== 'test/support/generated.ts');
  it('take seed and number of runs from test/support/generated.ts, so that each run is the same', () => {
    const own = TESTS.filter((f) => {
      const code = codeOnly(read(f));
      const runs = code.match(/\bfc\s*\.\s*(assert|check|sample)\(/g)?.length ?? 0;
      // collect.ts is run by hand
      return runs > (code.match(/\bgenerated\(/g)?.length ?? 0) && !f.endsWith('/collect.ts');
    });
    expect(own).toEqual([]);
    expect(TESTS.filter((f) => /\bMath\s*\.\s*random\b/.test(codeOnly(read(f))))).toEqual([]);
  });
});

describe('Node, which runs the kg command from its sources,', () => {
  // its parser is not that of the tests or of the Worker: it refuses some valid programs, such as a loop over a variable with the name `of`
  const refused = (code: string): boolean => {
    try {
      stripTypeScriptTypes(code);
      return false;
    } catch {
      return true;
    }
  };

  it('can read every file outside of the tests', () => {
    expect(FILES.filter((f) => f.endsWith('.ts') && !f.startsWith('test/') && refused(read(f)))).toEqual([]);
    expect(refused("for (const of of ['a']) f(of);")).toBe(true);
  });
});

describe('time-outs of tests', () => {
  const TESTS = FILES.filter((f) => f.startsWith('test/') && f.endsWith('.ts'));
  /** Time-outs of vitest.config.ts, in seconds, below which a test has none of its own. */
  const LEAST = { test: 180, poll: 60 } as const;
  /** The names of tests whose time-out shows that their work is linear. */
  const LINEAR = /in linear time'/;
  const found = (code: string): string[] =>
    code.split('\n').filter((line) => {
      const [, hook] = /^\s*\}, (\d+)_000\);$/.exec(line) ?? [];
      const [, named] = /\bit\b.*, \{ timeout: (\d+)_000\b/.exec(line) ?? [];
      const [, poll] = /\.(?:poll|waitFor)\(.*\{ timeout: (\d+)_000\b/.exec(line) ?? [];
      const test = hook ?? named;
      return (test !== undefined && Number(test) < LEAST.test && !LINEAR.test(line)) || (poll !== undefined && Number(poll) < LEAST.poll);
    });

  it('are not shorter than those of vitest.config.ts, which suit a busy machine', () => {
    expect(TESTS.flatMap((f) => found(read(f)).map((line) => `${f}: ${line.trim()}`))).toEqual([]);
  });

  it('are found by that test', () => {
    const own = (seconds: number): string => `{ timeout: ${seconds}_000 }`;
    const short = ['}, 60_000);', `it('a', ${own(30)}, () => {`, `await expect.poll(rows, ${own(20)}).toBe(1);`];
    expect(found(short.join('\n'))).toEqual(short);
    expect(found(`}, 240_000);\nit('is read in linear time', ${own(30)}, () => {`)).toEqual([]);
  });
});

describe('tests that an answer lacks a text', () => {
  const TESTS = FILES.filter((f) => f.startsWith('test/') && f.endsWith('.ts'));
  /** What an id, a hash or a time can contain: digits and letters of hexadecimal numbers. */
  const byChance = (text: string): boolean => text.length <= 8 && /\d/.test(text) && /^[0-9a-f.-]+$/i.test(text);
  /** The alternatives of a pattern or text, each \\d as a digit, without word boundaries. */
  const alternatives = (text: string): string[] => text.split('|').map((part) => part.replace(/\\b|[()^$]/g, '').replace(/\\d/g, '0'));
  const found = (code: string): string[] =>
    code.split('\n').filter((line) => {
      if (/\b(steady|shows)\(/.test(line)) return false;
      const texts = [...line.matchAll(/\.not\.(?:toMatch\(\/((?:\\.|[^/\\])+)\/|toContain\('([^']+)')/g)].map(([, pattern, text]) => pattern ?? text ?? '');
      return texts.flatMap(alternatives).some(byChance);
    });

  it('leave out what differs in each run (test/support/shows.ts)', () => {
    expect(TESTS.flatMap((f) => found(read(f)).map((line) => `${f}: ${line.trim()}`))).toEqual([]);
  });

  it('are found by that test', () => {
    const [not, all] = ['expect(text).not', 'expect(steady(text)).not'];
    expect(found([`${not}.toMatch(/secret|4000/)`, `${not}.toMatch(/s-10|\\d000/)`, `${not}.toContain('902')`].join('\n'))).toHaveLength(3);
    expect(found([`${not}.toMatch(/secret|s-10/)`, `${all}.toMatch(/4000/)`, `${not}.toContain('471147114711')`].join('\n'))).toEqual([]);
  });
});

describe('files', () => {
  it('have at most 400 lines', () => {
    const long = FILES.filter((f) => /^(src|dev|bench|scripts|examples)\/.*\.ts$/.test(f)).filter((f) => read(f).split('\n').length > 401);
    expect(long).toEqual([]);
  });

  it('of src have functions of fewer than 60 lines', () => {
    const functions = SOURCES.filter((f) => !f.endsWith('.d.ts')).flatMap((f) => functionsOf(read(f)).map((found) => ({ ...found, file: f })));
    // the parser of TypeScript must find functions at all
    expect(functions.length).toBeGreaterThan(3000);
    expect(functions.filter((f) => f.lines >= 60).map((f) => `${f.file}: ${f.name} has ${f.lines} lines`)).toEqual([]);
  });

  it('are described in a CONTEXT.md of at most 40 lines if a folder of src has more than ten', () => {
    const folders = Map.groupBy(SOURCES, dirname);
    for (const [folder, files] of folders) {
      if (files.length <= 10) continue;
      const text = read(`${folder}/CONTEXT.md`);
      expect(text.split('\n').length, folder).toBeLessThanOrEqual(41);
      const named = [...text.matchAll(/`([\w.-]+\.ts)`/g)].map(([, name]) => `${folder}/${name}`);
      expect(named.toSorted(), folder).toEqual(files.toSorted());
    }
  });

  it('of src are tested by a file of the same name, or as the table of test/unit/CONTEXT.md says', () => {
    const rows = [...read('test/unit/CONTEXT.md').matchAll(/^\| `(src[\w/-]*)` \| (.*) \|$/gm)].map(
      ([, folder = '', tests = '']) => [folder, [...tests.matchAll(/`([\w/-]+)`/g)].map(([, test]) => `test/${test}`)] as const,
    );
    const isTest = (path: string): boolean => FILES.some((f) => f === `${path}.test.ts` || (f.startsWith(`${path}/`) && f.endsWith('.test.ts')));
    expect(rows.flatMap(([, tests]) => tests.filter((t) => !isTest(t)))).toEqual([]);
    const folders = new Set(SOURCES.filter((f) => !isTest(f.replace(/^src/, 'test/unit').replace(/\.ts$/, ''))).map(dirname));
    const listed = new Set(rows.map(([folder]) => folder));
    // a row also covers the folders inside, except that of src itself
    expect([...folders].filter((f) => !listed.has(f) && !(dirname(f) !== 'src' && listed.has(dirname(f))))).toEqual([]);
    expect([...listed].filter((f) => !SOURCES.some((s) => dirname(s) === f))).toEqual([]);
  });

  it('name no path of the machine that they were written on, and no registry except the public one', () => {
    const machine = new RegExp(`(^|[\\s"'\`(=])/(${['work', 'tmp', 'farm', 'root'].join('|')})/`);
    const registry = /https?:\/\/(?!registry\.npmjs\.org\/)[\w.-]*(registry|npm|artifactory|nexus|verdaccio)[\w.-]*(:\d+)?\//i;
    const wrong = FILES.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, i) => (machine.test(line) || registry.test(line) ? [`${file}:${i + 1}: ${line.trim().slice(0, 100)}`] : [])),
    );
    expect(wrong).toEqual([]);
  });
});

describe('comments, messages, names of tests and pages', () => {
  /** Words that English documentation of software does not use in these senses. Words with other meanings are not listed. */
  const UNUSUAL = new RegExp(
    `\\b(${[
      'beside',
      'mend(s|ed|ing)?',
      'whoever',
      'whatever',
      'whence',
      'lest',
      'hence',
      'told',
      '(tell|tells) of',
      'stands?(?!-)',
      'behind',
      'alone',
      'ceases? to',
      '(to|by|of|for|from|with|and) who (may|can|sees|reads|has|is)',
      '(there|it) is none',
      '(if|is) none',
      '(?<!=)none (is|was|applies)',
    ].join('|')})\\b`,
    'i',
  );
  /** The parts of a file in prose: comments on lines of their own, the names of tests, and messages: texts of several words in src. */
  const prose = (file: string, line: string): string => {
    if (file.endsWith('.md') || /^\s*(\/\/|\/?\*)/.test(line)) return line;
    if (/(^|\/)src\//.test(file))
      return [...line.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)].flatMap(([, , text = '']) => (text.includes(' ') ? [text] : [])).join('. ');
    return /\b(?:it|describe)(?:\.\w+)*\((['"`])(.*?)\1/.exec(line)?.[2] ?? '';
  };

  it('are in plain words', () => {
    const files = FILES.filter((f) => /\.(tsx?|md)$/.test(f) && !f.startsWith('test/golden/') && f !== 'CHANGELOG.md');
    const wrong = files.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, i) => {
          const found = UNUSUAL.exec(prose(file, line))?.[0];
          return found === undefined ? [] : [`${file}:${i + 1}: "${found}" in ${line.trim().slice(0, 120)}`];
        }),
    );
    expect(wrong).toEqual([]);
  });

  it('are found by that test', () => {
    expect(UNUSUAL.test(prose('a.ts', '  // the name stands before the list'))).toBe(true);
    expect(UNUSUAL.test(prose('a.ts', '  // shows them to who may read them'))).toBe(true);
    expect(UNUSUAL.test(prose('a.ts', '  // stand-ins for long names'))).toBe(false);
    expect(UNUSUAL.test(prose('a.ts', `  ${'it'}('is told at once', () => {`))).toBe(true);
    expect(UNUSUAL.test(prose('a.ts', '  /** The name; undefined if there is none. */'))).toBe(true);
    expect(UNUSUAL.test(prose('a.ts', "  const told = 'SELECT stands'; // stand-ins"))).toBe(false);
    expect(UNUSUAL.test(prose('src/a.ts', "  throw badRequest('bad_name', 'the name stands before the list');"))).toBe(true);
    expect(UNUSUAL.test(prose('src/a.ts', "  const told = 'prompt=none is refused';"))).toBe(false);
  });
});

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe('dependencies', () => {
  const manifest = JSON.parse(read('package.json')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  const lock = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };
  const direct = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });

  it('are exact', () => expect(direct.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]));

  it('are what the lock file has', () => {
    expect(direct.filter(([name, version]) => lock.packages[`node_modules/${name}`]?.version !== version)).toEqual([]);
  });

  it('come from the public registry, each with its digest', () => {
    const others = Object.entries(lock.packages).filter(
      // an optional part for another platform may have only its version: it was not available when the file was made
      ([path, p]) =>
        path !== '' &&
        (!(p.resolved ?? 'https://registry.npmjs.org/').startsWith('https://registry.npmjs.org/') ||
          (p.integrity === undefined && !(p.optional && (p.os ?? p.cpu)))),
    );
    expect(others.map(([path]) => path)).toEqual([]);
  });

  it('are locked for every platform, so that a clean install works', () => {
    // if an optional package for another platform is missing from the lock file, npm ci asks for it and fails
    const at = (path: string, name: string): { readonly version?: string } | undefined => {
      for (let place = path; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
        const found = lock.packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`];
        if (found || place === '') return found;
      }
    };
    const missing = Object.entries(lock.packages).flatMap(([path, p]) =>
      Object.entries(p.optionalDependencies ?? {})
        .filter(([name, range]) => at(path, name) === undefined || (/^\d/.test(range) && at(path, name)?.version !== range))
        .map(([name, range]) => `${name}@${range} of ${path}`),
    );
    expect(missing).toEqual([]);
  });
});
