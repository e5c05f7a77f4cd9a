/**
 * References to documentation: every `docs/….md` in the sources and the docs, and every relative link of a Markdown page, names an existing file and heading.
 * No text cites a text outside of the repository.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
/** This file, which contains examples of wrong references. */
const SELF = 'test/unit/citations.test.ts';

type Files = ReadonlyMap<string, string>;

/** The texts of the repository that may refer to documentation, by path. Uncommitted files count too. */
function filesOfRepository(): Files {
  const listed = execFileSync(
    'git',
    ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '-z', 'src', 'test', 'dev', 'docs', 'scripts', 'bench', '*.md'],
    { cwd: TOP, encoding: 'utf8' },
  );
  const files = new Map<string, string>();
  for (const file of listed.split('\0')) {
    if (file === SELF || !/\.(ts|md|sql|skips|later)$/.test(file)) continue;
    try {
      files.set(file, readFileSync(join(TOP, file), 'utf8'));
    } catch {
      // deleted, but not committed
    }
  }
  return files;
}

/** The anchor that GitHub makes of a heading; `seen` counts equal ones, which get a number. */
function slugOf(heading: string, seen: Map<string, number>): string {
  const text = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`/g, '')
    .trim()
    .toLowerCase();
  const slug = text.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** The lines of a Markdown text outside of code blocks, with their numbers. */
function proseOf(markdown: string): { readonly line: string; readonly number: number }[] {
  let fence: string | undefined;
  return markdown.split('\n').flatMap((line, i) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      return [];
    }
    if (mark !== undefined) {
      fence = mark;
      return [];
    }
    return [{ line, number: i + 1 }];
  });
}

function anchorsOf(markdown: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = proseOf(markdown).flatMap(({ line }) => /^ {0,3}#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1] ?? []);
  return new Set(headings.map((heading) => slugOf(heading, seen)));
}

/** A path from the top of the repository, in any text. */
const CITATION = /(?<![\w/.-])docs\/[\w./-]*\.md(?:#[\w-]+)?/g;
/** A link of a Markdown text: `](target)`. */
const LINK = /\]\(([^)\s]+)\)/g;

/** Every reference to documentation that leads nowhere, as `file:line reference: reason`. */
function brokenReferences(files: Files): string[] {
  const anchors = new Map<string, ReadonlySet<string>>();
  const problem = (path: string, anchor: string | undefined): string | undefined => {
    const text = files.get(path);
    if (text === undefined) return 'no such file';
    if (anchor === undefined) return undefined;
    if (!anchors.has(path)) anchors.set(path, anchorsOf(text));
    return anchors.get(path)?.has(anchor) ? undefined : 'no such heading';
  };
  const broken: string[] = [];
  for (const [file, text] of files) {
    const check = (number: number, reference: string, path: string, anchor: string | undefined): void => {
      const found = problem(path, anchor);
      if (found !== undefined) broken.push(`${file}:${number} ${reference}: ${found}`);
    };
    const isPage = file.endsWith('.md');
    text.split('\n').forEach((line, i) => {
      for (const [reference] of line.matchAll(CITATION)) {
        const [path = '', anchor] = reference.split('#');
        // a link is relative to its page, and is checked as one below
        if (!(isPage && line.includes(`](${reference}`))) check(i + 1, reference, path, anchor);
      }
    });
    if (!isPage) continue;
    for (const { line, number } of proseOf(text)) {
      for (const [, target = ''] of line.matchAll(LINK)) {
        const [path = '', anchor] = target.split('#');
        if (/^[a-z][a-z0-9+.-]*:/i.test(target) || (path !== '' && !path.endsWith('.md'))) continue;
        check(number, target, path === '' ? file : normalize(join(dirname(file), path)), anchor);
      }
    }
  }
  return broken;
}

/** Names of pages outside of the repository. A page in docs/ is cited by its path. */
const OUTSIDE_PAGES = /(?<![\w/.-])(?:fan-out|sql-shapes|platform|service|stages|architecture|examples|decisions)\.md\b/g;
const OUTSIDE = [
  /\bdecisions? \d+/gi,
  /\bthe decisions\b|\bdecisions of the service\b/gi,
  /\.\.\/shared\b/g,
  /\b(?:spec|shared|briefs)\/[\w-]+\.(?:md|txt)\b/g,
  /\((?:platform|architecture|sql-shapes|fan-out)[,:] /g,
  /\bissue (?:\d+\b|")/gi,
];

/** Every citation of a text outside of the repository, as `file:line text`. */
function outsideCitations(files: Files): string[] {
  const found: string[] = [];
  for (const [file, text] of files) {
    // the numbers of GitHub issues of other projects are not citations of ours
    const own = text.replaceAll(/\bits issue \d+/g, (s) => ' '.repeat(s.length));
    const at = (index: number): string => `${file}:${own.slice(0, index).split('\n').length}`;
    for (const pattern of OUTSIDE) for (const match of own.matchAll(pattern)) found.push(`${at(match.index)} ${match[0]}`);
    for (const match of own.matchAll(OUTSIDE_PAGES)) {
      // links between pages are relative, and are resolved above
      if (file.startsWith('docs/') && files.has(normalize(join(dirname(file), match[0])))) continue;
      found.push(`${at(match.index)} ${match[0]}`);
    }
  }
  return found;
}

describe('references to documentation', () => {
  const files = filesOfRepository();

  it('lead to a file and a heading', () => {
    expect(brokenReferences(files)).toEqual([]);
  });

  it('never lead out of the repository', () => {
    expect(outsideCitations(files)).toEqual([]);
  });

  it('exist: the sources cite the design', () => {
    const cited = [...files].filter(([file, text]) => file.startsWith('src/') && /docs\/design\/[\w-]+\.md#/.test(text));
    expect(cited.length).toBeGreaterThan(100);
  });
});

describe('the checks find', () => {
  const page = '# A page\n\n## Rows of `x`, and more\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n\n[up](../b.md#here) [own](#twice-1) [gone](#gone)\n';
  const files = (entries: Readonly<Record<string, string>>): Files =>
    new Map(Object.entries({ 'docs/design/a.md': page, 'docs/b.md': '# Here\n', ...entries }));
  const own = 'docs/design/a.md:13 #gone: no such heading';

  it('pages and headings that do not exist', () => {
    const source = [
      '/** docs/design/a.md, docs/design/a.md#rows-of-x-and-more, docs/design/a.md#twice-1. */',
      '// (docs/design/a.md#no-heading)',
      '// docs/c.md',
      '// docs/design/a.md#rows',
    ].join('\n');
    expect(brokenReferences(files({ 'src/x.ts': source }))).toEqual([
      own,
      'src/x.ts:2 docs/design/a.md#no-heading: no such heading',
      'src/x.ts:3 docs/c.md: no such file',
      'src/x.ts:4 docs/design/a.md#rows: no such heading',
    ]);
  });

  it('links of pages that lead nowhere', () => {
    const readme = '[a](docs/design/a.md#twice) [b](docs/b.md#there)\n[c](https://example.org/c.md) `docs/none.md`\n```\n[d](docs/d.md)\n```\n';
    expect(brokenReferences(files({ 'README.md': readme }))).toEqual([
      own,
      'README.md:2 docs/none.md: no such file',
      'README.md:1 docs/b.md#there: no such heading',
    ]);
  });

  it.each([
    'as decisions 7 says',
    'Decisions 2: a limit',
    'the shapes of fan-out.md',
    '(sql-shapes.md)',
    'the messages of service.md',
    'see ../shared/design',
    'spec/service.md',
    '(platform, Edges)',
    'made for issue 12',
  ])('citations of texts outside: %s', (text) => {
    expect(outsideCitations(new Map([['src/x.ts', `/** ${text} */`]])).length).toBeGreaterThan(0);
  });

  it('nothing in correct references', () => {
    const text = '/** docs/design/sql-shapes.md#walks; a decision; the service; workerd (its issue 6818) */';
    expect(outsideCitations(new Map([['src/x.ts', text]]))).toEqual([]);
    expect(outsideCitations(files({ 'docs/sql-shapes.md': '', 'docs/c.md': '[shapes](sql-shapes.md)' }))).toEqual([]);
  });
});
