/** `kg plan` and `kg apply`: compare model files with an ontology, and make it as the files say (docs/design/model-as-files.md). */
import { createInterface } from 'node:readline/promises';
import { Failure, faultText, printable, printableJson } from './failure.ts';
import { ontologyOf, readModelFiles } from './model-files.ts';
import { placeIn, type ScriptFile } from './script-file.ts';
import { findService, type Posted, type ServiceClient } from './service-client.ts';
import type { Report } from './validate-data.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The options of both commands. */
export interface ApplyOptions {
  readonly ontology: string | undefined;
  readonly source: string | undefined;
  readonly prune: boolean;
  /** Prune objects that no source has made, too. */
  readonly all: boolean;
  /** Prune without asking. */
  readonly yes: boolean;
  readonly expect: string | undefined;
  readonly json: boolean;
}

interface Named {
  readonly kind: string;
  readonly name: string;
}
interface Change extends Named {
  readonly action: 'create' | 'change' | 'drop';
  readonly before: string | null;
  readonly after: string | null;
}
interface Changes {
  readonly base: string | null;
  readonly version: string | null;
  readonly changes: readonly Change[];
  readonly unlisted: readonly Named[];
  readonly warnings: readonly { readonly code: string; readonly message: string; readonly file?: string; readonly position?: number }[];
}

/** The exit code of a plan with changes. */
const HAS_CHANGES = 3;

/** Prints what an apply would change. @returns exit code 0 without changes, 3 with changes @throws Failure */
export async function plan(paths: readonly string[], options: ApplyOptions, env: Env): Promise<Report> {
  const { send, ontology, files } = await prepared(paths, options, env);
  const found = await send('plan');
  return {
    lines: options.json ? [printableJson(found, 2)] : textOf(found, ontology, files, 'plan').map(printable),
    exitCode: found.changes.length === 0 ? 0 : HAS_CHANGES,
  };
}

/** What an apply is limited to after its user has seen a plan. */
type Confirmed = { readonly prune: false } | { readonly expect: string };

/** Makes an ontology as the files say. @throws Failure, also if objects would be dropped and the user does not confirm it, or if the ontology changes meanwhile */
export async function apply(paths: readonly string[], options: ApplyOptions, env: Env): Promise<Report> {
  const { send, ontology, files } = await prepared(paths, options, env);
  let confirmed: Confirmed | undefined;
  if (options.prune && !options.yes) {
    const planned = await send('plan');
    await confirm(planned);
    // only what the user has seen is dropped: the service refuses another version, and an ontology that did not exist has no objects
    confirmed = planned.base === null ? { prune: false } : { expect: planned.base };
  }
  const found = await send('apply', confirmed);
  return { lines: options.json ? [printableJson(found, 2)] : textOf(found, ontology, files, 'apply').map(printable), exitCode: 0 };
}

async function prepared(paths: readonly string[], options: ApplyOptions, env: Env) {
  const { source, prune, all, expect } = options;
  if (prune && source === undefined && !all) throw new Failure('--prune needs --source NAME, or --all to drop everything that the files do not contain', 2);
  const files = await readModelFiles(paths, env);
  const ontology = ontologyOf(files, options.ontology);
  const service = await findService(env);
  const body = { files: files.map(({ path, text }) => ({ name: path, text })), source: all ? null : (source ?? null), prune, expect: expect ?? null };
  return {
    ontology,
    files,
    send: async (what: 'plan' | 'apply', confirmed?: Confirmed) =>
      changesOf(await service.post(`model/${encodeURIComponent(ontology)}/${what}`, { ...body, ...confirmed }), service, files),
  };
}

/** Reads an answer. @throws Failure with the position in the file */
function changesOf({ fault, data }: Posted, service: ServiceClient, files: readonly ScriptFile[]): Changes {
  if (fault === undefined) return data as Changes;
  const file = files.find((f) => fault.message.startsWith(`${f.path}: `));
  const message = file === undefined ? fault.message : fault.message.slice(file.path.length + 2);
  throw new Failure(faultText(file === undefined ? service.base : placeIn(file, fault.position), fault.code, message, fault.hint));
}

/** Asks whether objects may be dropped. @throws Failure if not, or without a terminal to ask at */
async function confirm({ changes }: Changes): Promise<void> {
  const dropped = changes.filter((c) => c.action === 'drop').map(({ kind, name }) => `${kind} ${name}`);
  if (dropped.length === 0) return;
  const list = printable(`This drops: ${dropped.join(', ')}`);
  if (!process.stdin.isTTY) throw new Failure(`${list}\nNothing was changed. Confirm with --yes`);
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await ask.question(`${list}\nDrop them? (yes/no) `);
  ask.close();
  if (answer.trim().toLowerCase() !== 'yes') throw new Failure('Nothing was changed');
}

const SIGNS = { create: '+', change: '~', drop: '-' } as const;

/** The changes as lines: each object, for a change its old and new lines, and a summary. */
function textOf({ changes, unlisted, warnings, version }: Changes, ontology: string, files: readonly ScriptFile[], what: 'plan' | 'apply'): string[] {
  const place = (name: string | undefined, position: number | undefined): string => {
    const file = files.find((f) => f.path === name);
    return file === undefined ? ontology : placeIn(file, position);
  };
  const count = (action: Change['action']): number => changes.filter((c) => c.action === action).length;
  const counts = what === 'plan' ? ['create', 'change', 'drop'] : ['created', 'changed', 'dropped'];
  const summary = `${count('create')} ${what === 'plan' ? 'to ' : ''}${counts[0]}, ${count('change')} ${what === 'plan' ? 'to ' : ''}${counts[1]}, ${count('drop')} ${what === 'plan' ? 'to ' : ''}${counts[2]}`;
  return [
    ...changes.flatMap((c) => [`${SIGNS[c.action]} ${c.kind} ${c.name}`, ...differences(c)]),
    ...(unlisted.length === 0 ? [] : [`not in the files: ${unlisted.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`]),
    ...warnings.map((w) => `${place(w.file, w.position)}: warning: ${w.message} (${w.code})`),
    changes.length === 0 ? `${ontology}: nothing to change` : `${ontology}: ${summary}${version === null ? '' : `, version ${version}`}`,
  ];
}

/** The lines that a change removes and adds. */
function differences({ action, before, after }: Change): string[] {
  if (action !== 'change') return [];
  const [old, made] = [before ?? '', after ?? ''].map((text) => text.split('\n'));
  return [
    ...(old ?? []).filter((l) => !made?.includes(l)).map((l) => `    - ${l.trim()}`),
    ...(made ?? []).filter((l) => !old?.includes(l)).map((l) => `    + ${l.trim()}`),
  ];
}
