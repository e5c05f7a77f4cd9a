import { StartFailure } from './failure.ts';

/**
 * An environment file that `wrangler dev --env-file` reads back value by value. Wrangler reads it with dotenv 16 and then
 * expands `$name`, even inside single quotes, unless there is a backslash before the sign.
 * Throws StartFailure for a value that cannot be quoted.
 */
export function envFile(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${quote(name, value.replaceAll('$', '\\$'))}\n`)
    .join('');
}

function quote(name: string, value: string): string {
  // dotenv reads a backslash before the closing quote as an escaped quote, and \r\n as \n everywhere.
  const quotable = !value.endsWith('\\') && !value.includes('\r');
  for (const sign of ["'", '`']) if (quotable && !value.includes(sign)) return `${sign}${value}${sign}`;
  // In double quotes \n and \r would become line breaks.
  if (quotable && !value.includes('"') && !/\\[nr]/.test(value)) return `"${value}"`;
  if (!/[#\r\n]/.test(value) && value === value.trim() && !/^['"`]/.test(value)) return value;
  throw new StartFailure(
    `the value of ${name} cannot be passed on: it contains all of ', " and \` together with # or a line break, or ends in characters that cannot be quoted`,
  );
}
