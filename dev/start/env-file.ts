import { StartFailure } from './failure.ts';

/**
 * An environment file that `wrangler dev --env-file` reads back value by value. Wrangler reads it with dotenv 16 and then
 * expands `$name`, even inside single quotes, unless a backslash stands before the sign.
 * Throws StartFailure for a value that no quoting carries.
 */
export function envFile(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${quote(name, value.replaceAll('$', '\\$'))}\n`)
    .join('');
}

function quote(name: string, value: string): string {
  // dotenv takes a backslash before the closing quote for an escaped quote; \r\n it reads as \n anywhere.
  const quotable = !value.endsWith('\\') && !value.includes('\r');
  for (const sign of ["'", '`']) if (quotable && !value.includes(sign)) return `${sign}${value}${sign}`;
  // In double quotes \n and \r would become line breaks.
  if (quotable && !value.includes('"') && !/\\[nr]/.test(value)) return `"${value}"`;
  if (!/[#\r\n]/.test(value) && value === value.trim() && !/^['"`]/.test(value)) return value;
  throw new StartFailure(
    `the value of ${name} cannot be handed on: it holds all of ', " and \` together with # or a line break, or ends in a way no quoting carries`,
  );
}
