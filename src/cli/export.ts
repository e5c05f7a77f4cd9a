/** `kg export`: writes an ontology as model files, one for each concept, in a stable order (docs/model-as-code.md#export). */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseStatement } from '../language/classify.ts';
import { formatScript } from '../language/format.ts';
import { quoteBack } from '../language/quote.ts';
import { splitScript } from '../language/split.ts';
import type { CreateConcept, Statement } from '../language/statements.ts';
import { Failure, faultText } from './failure.ts';
import type { ServiceClient } from './service-client.ts';
import { requireNoLinks, writeBelow } from './written.ts';

type Env = Readonly<Record<string, string | undefined>>;

const HEADER = '-- Written by kg export. A new export replaces this folder.\n';

/**
 * Writes the files of an ontology. Files of an earlier export that have no object any more are removed; a folder with other `.kg` files is refused.
 * @returns lines to print
 * @throws Failure
 */
export async function exportModel(service: ServiceClient, ontology: string, to: string, withPolicies: boolean, env: Env): Promise<string[]> {
  return writeModel(await scriptOf(service, ontology), ontology, to, withPolicies, env);
}

/** The script of an ontology. @throws Failure */
export async function scriptOf(service: ServiceClient, ontology: string): Promise<string> {
  const { fault, rows } = await service.query(`SHOW CREATE ONTOLOGY ${quoteBack(ontology)}`, ontology);
  if (fault) throw new Failure(faultText(service.base, fault.code, fault.message, fault.hint));
  const script = rows[0]?.script;
  if (typeof script !== 'string') throw new Failure(`${service.base} returned no script`);
  return script;
}

/** Writes a script as model files. @returns lines to print @throws Failure */
export async function writeModel(script: string, ontology: string, to: string, withPolicies: boolean, env: Env): Promise<string[]> {
  const { files, left } = filesOf(script, withPolicies);
  const base = resolve(env.INIT_CWD ?? '.');
  const folder = resolve(base, to);
  await requireNoLinks(base, folder, files.keys());
  await removeOld(folder);
  for (const [name, statements] of files) await writeBelow(base, folder, name, HEADER + formatScript(`${statements.join(';\n')};\n`));
  return [
    ...left.map((text) => `not exported, because files cannot contain it: ${text}`),
    `${ontology}: ${files.size} file${files.size === 1 ? '' : 's'} in ${to}`,
  ];
}

/** Removes the files of an earlier export. @throws Failure if the folder has `.kg` files that an export did not write */
async function removeOld(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((e) => e.isFile() && e.name.endsWith('.kg')).map((e) => join(e.parentPath, e.name));
  const texts = await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')] as const));
  const other = texts.find(([, text]) => !text.startsWith(HEADER));
  if (other !== undefined) throw new Failure(`${other[0]} was not written by kg export; choose an empty folder`);
  for (const path of paths) await rm(path);
}

/** The statements of a script by file, and those that files cannot contain. */
function filesOf(script: string, withPolicies: boolean): { readonly files: ReadonlyMap<string, string[]>; readonly left: readonly string[] } {
  const statements = splitScript(script).map((source) => parseStatement(source));
  const concepts = statements.filter((s) => s.kind === 'create_concept');
  const homes = new Homes(concepts);
  const files = new Map<string, string[]>();
  const left: string[] = [];
  for (const statement of statements) {
    const file = homes.fileOf(statement, withPolicies);
    if (file === null) continue;
    if (file === undefined) left.push(statement.source.text);
    else files.set(file, [...(files.get(file) ?? []), statement.source.text]);
  }
  return { files: new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1))), left };
}

/** Finds the file of a statement. */
class Homes {
  readonly #concepts: readonly CreateConcept[];

  constructor(concepts: readonly CreateConcept[]) {
    this.#concepts = concepts;
  }

  /** @returns undefined for a statement that files cannot contain, null for one that is left out */
  fileOf(s: Statement, withPolicies: boolean): string | null | undefined {
    switch (s.kind) {
      case 'create_ontology':
      case 'alter_ontology':
        return 'ontology.kg';
      case 'create_concept':
        return conceptFile(s.name.text);
      case 'create_mapping': {
        const [, back] = s.target.kind === 'link' ? s.target.constraints : [];
        return conceptFile(s.target.kind === 'link' ? (back?.concept.text ?? '') : s.target.concept.text);
      }
      case 'create_measure':
        return this.#listing((e) => e.kind === 'measure' && same(e.name.text, s.name.text)) ?? 'measures.kg';
      case 'create_property': {
        const home = this.#listing((e) => (e.kind === 'property' || e.kind === 'multivalue') && same(e.name.text, s.name.text));
        // a property without anything of its own belongs to the list of its concept
        const isPlain = s.description === null && s.tags.length === 0 && s.expression === null;
        return home !== undefined && isPlain ? null : (home ?? 'properties.kg');
      }
      case 'create_view':
        return `${s.cube ? 'cubes' : 'views'}/${fileName(s.name.text)}.kg`;
      case 'create_example':
        return 'examples.kg';
      case 'create_policy':
        return withPolicies ? 'policies.kg' : null;
      default:
        return undefined;
    }
  }

  /** The file of the first concept with an element. */
  #listing(has: (element: CreateConcept['elements'][number]) => boolean): string | undefined {
    const concept = this.#concepts.find((c) => c.elements.some(has));
    return concept && conceptFile(concept.name.text);
  }
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const conceptFile = (name: string): string => `concepts/${fileName(name)}.kg`;

/** A name as a file name on any system: other characters as percent and their code. */
export const fileName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}_-]/gu, (c) => `%${(c.codePointAt(0) ?? 0).toString(16)}`);
