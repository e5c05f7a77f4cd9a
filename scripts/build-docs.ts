/**
 * Writes the pages of `docs/` as files that the Worker serves to language models: `docs/<page>.md`, `llms.txt` (a list of the pages, https://llmstxt.org) and `llms-full.txt`
 * (all pages). They are assets, so that the script does not grow. `buildConsole` calls it.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pages in the order of README.md, each with what it is about. Design pages are for contributors, and are not served. */
export const PAGES: readonly (readonly [page: string, about: string])[] = [
  ['language', 'queries and modelling statements: paths, measures, views, policies'],
  ['rest', 'routes, headers, answers, errors'],
  ['mcp', 'the server for AI clients: tools, resources, skills'],
  ['clients', 'settings for each MCP client'],
  ['python', 'clients of the field in Python, unchanged'],
  ['ai', 'questions in words: providers, the steps to an answer, evaluation'],
  ['world', 'the sample graph, with questions and answers'],
  ['model-as-code', 'model files, plan and apply, export, lint'],
  ['exchange', 'Apache Ossie, OWL with R2RML and SHACL'],
  ['policies', 'row policies and masks'],
  ['security', 'credentials, rights, tested attacks, limits'],
  ['nested', 'nested results and formatted values'],
  ['console', 'the pages for browsers'],
  ['configuration', 'every setting'],
  ['deploy', 'on Cloudflare with Neon, and on a server'],
  ['operating', 'the log, metrics, backups, upgrades, secrets, costs'],
  ['gateway', 'a PostgreSQL that is not on Neon'],
  ['storage', 'what is stored where, and for how long'],
  ['performance', 'measurements and how to repeat them'],
  ['scale-out', 'tables on Citus, what it refuses, and how to lay them out'],
  ['dependencies', 'the reason for each'],
  ['glossary', 'terms'],
];

/** A placeholder for the path of the pages, which has the product's name. The Worker replaces it (src/http/docs-files.ts). */
const DOCS = '{{docs}}';

const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;

/** A page whose links lead to served pages, to headings or elsewhere on the web. Other links and images become their texts. */
export function pageText(text: string, pages: ReadonlySet<string>): string {
  return text.replace(LINK, (whole, image: string, label: string, target: string) => {
    const isServed = /^(https?:|mailto:|#)/.test(target) || pages.has(target.replace(/#.*$/, ''));
    return image === '' && isServed ? whole : label;
  });
}

/** `llms.txt`: the title, what the service is, and a link to each page. */
export const llmsText = (titles: ReadonlyMap<string, string>): string =>
  [
    '# svc',
    '',
    '> A knowledge-graph query API over PostgreSQL tables: concepts, relationships and measures in plain SQL, over REST and MCP. Rights, row policies and masks apply to every query.',
    '',
    'The pages use the name svc in paths and schemas (`/svc/api`, `dsvc`); a service with another PRODUCT_NAME has that name instead.',
    '',
    '## Documentation',
    '',
    ...PAGES.map(([page, about]) => `- [${titles.get(page) ?? page}](${DOCS}/${page}.md): ${about}`),
    '',
    '## Optional',
    '',
    '- [All pages in one file](/llms-full.txt)',
    '',
  ].join('\n');

/** Writes the files below `to`. @param from the folder `docs` */
export function buildDocs(from: string, to: string): void {
  const folder = join(to, 'docs');
  const pages = new Set(PAGES.map(([page]) => `${page}.md`));
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(join(folder, name));
  const titles = new Map<string, string>();
  const texts: string[] = [];
  for (const [page] of PAGES) {
    const text = pageText(readFileSync(join(from, `${page}.md`), 'utf8'), pages);
    titles.set(page, /^# (.*)$/m.exec(text)?.[1] ?? page);
    writeFileSync(join(folder, `${page}.md`), text);
    texts.push(text.trim());
  }
  writeFileSync(join(to, 'llms.txt'), llmsText(titles));
  writeFileSync(join(to, 'llms-full.txt'), `${texts.join('\n\n')}\n`);
}
