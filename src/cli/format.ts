/** `kg fmt FILES`: formats model files in place (docs/model-as-code.md#format). */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { positionOf, SvcError } from '../errors.ts';
import { formatScript } from '../language/format.ts';
import { Failure, faultText } from './failure.ts';
import { readModelFiles } from './model-files.ts';
import { placeIn, type ScriptFile } from './script-file.ts';
import type { Report } from './validate-data.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The exit code of a check if a file is not formatted. */
const NOT_FORMATTED = 3;

/**
 * Formats files in place; `-` is written to the standard output.
 * @param isCheck true: only lists the files that would change, with exit code 3
 * @throws Failure with the position of a syntax error
 */
export async function format(paths: readonly string[], isCheck: boolean, env: Env): Promise<Report> {
  const files = (await readModelFiles(paths, env)).map((file) => ({ ...file, formatted: formatted(file) }));
  const changed = files.filter((f) => f.formatted !== f.text);
  if (isCheck) return { lines: changed.map((f) => `${f.path} is not formatted`), exitCode: changed.length === 0 ? 0 : NOT_FORMATTED };
  const piped = files.filter((f) => f.path === '<stdin>').map((f) => f.formatted.trimEnd());
  for (const file of changed) if (file.path !== '<stdin>') await writeFile(resolve(env.INIT_CWD ?? '.', file.path), file.formatted);
  return { lines: piped, exitCode: 0 };
}

function formatted(file: ScriptFile): string {
  try {
    return formatScript(file.text);
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    throw new Failure(faultText(placeIn(file, e.offset === undefined ? undefined : positionOf(file.text, e.offset)), e.code, e.message, e.hint));
  }
}
