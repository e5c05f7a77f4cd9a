/** `kg run FILE --ontology NAME`: sends a script of any statements to the service, which applies all of it or nothing. */
import { parseStatement } from '../language/classify.ts';
import { quoteBack } from '../language/quote.ts';
import { splitScript } from '../language/split.ts';
import { Failure, faultText, printable, printableJson } from './failure.ts';
import { placeIn, type ScriptFile } from './script-file.ts';
import type { Answer, ServiceClient } from './service-client.ts';

/** The ontology that the first statement of a script creates, or null. Also null for a script that cannot be parsed: the service reports the error. */
export function madeBy(script: string): string | null {
  try {
    const [first] = splitScript(script);
    const statement = first && parseStatement(first);
    return statement?.kind === 'create_ontology' ? statement.name.text : null;
  } catch {
    return null;
  }
}

/**
 * Runs a script, and creates the ontology if it does not exist. A script that starts with CREATE ONTOLOGY is sent unchanged.
 *
 * @returns lines to print: the version and the warnings
 * @throws Failure with the position in the file
 */
export async function runScript(service: ServiceClient, file: ScriptFile, ontology: string | undefined): Promise<string[]> {
  const made = madeBy(file.text);
  if (made !== null && ontology !== undefined && ontology.toLowerCase() !== made.toLowerCase()) {
    throw new Failure(`${file.path} creates the ontology ${made}, but --ontology is ${ontology}`, 2);
  }
  if (made !== null) return report(await service.query(file.text, ''), file, made, '');
  if (ontology === undefined) throw new Failure('run needs --ontology NAME, or a file that starts with CREATE ONTOLOGY', 2);
  const answer = await service.query(file.text, ontology);
  if (answer.status !== 404) return report(answer, file, ontology, '');
  const prefix = `CREATE ONTOLOGY ${quoteBack(ontology)};\n`;
  return report(await service.query(prefix + file.text, ''), file, ontology, prefix);
}

/** The answer as lines, with positions in the file. `prefix` was sent before the file's text. */
function report({ fault, rows }: Answer, file: ScriptFile, ontology: string, prefix: string): string[] {
  const place = (position: unknown): string => placeIn(file, typeof position === 'number' ? position - [...prefix].length : undefined);
  if (fault) throw new Failure(faultText(place(fault.position), fault.code, fault.message, fault.hint));
  const [row] = rows;
  if (rows.length !== 1 || !row || typeof row.version !== 'string' || typeof row.statements !== 'number') return rows.map((r) => printableJson(r));
  const statements = row.statements - (prefix === '' ? 0 : 1);
  const warnings: readonly unknown[] = Array.isArray(row.warnings) ? row.warnings : [];
  return [
    ...warnings.map((w) => {
      const { code, message, position } = w as { code?: unknown; message?: unknown; position?: unknown };
      return `${place(position)}: warning: ${String(message)} (${String(code)})`;
    }),
    `${ontology}: ${statements} statement${statements === 1 ? '' : 's'} applied, version ${row.version}`,
  ].map(printable);
}
