/** Parses the import statements of TypeScript text, for the tests of the architecture. */

export interface Import {
  /** As written: `./x.ts`, `node:fs`, `hono`. */
  readonly from: string;
  /** The import has no effect at run time. */
  readonly typeOnly: boolean;
}

const STATEMENT = /^(import|export)\s+(type\s+)?(?:([^'";]*?)\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g;

/** Every import of a module, including `export … from` and `import('…')`. */
export function importsOf(source: string): Import[] {
  const code = withoutComments(source);
  const found: Import[] = [];
  for (const [, , type, names, from] of code.matchAll(STATEMENT)) {
    found.push({ from: from as string, typeOnly: type !== undefined || onlyTypes(names) });
  }
  for (const [, from] of code.matchAll(DYNAMIC)) found.push({ from: from as string, typeOnly: false });
  return found;
}

/** `{ type A, type B }` */
function onlyTypes(names: string | undefined): boolean {
  const inside = /^\{([^}]*)\}$/s.exec(names?.trim() ?? '')?.[1];
  if (inside === undefined) return false;
  const items = inside.split(',').map((s) => s.trim());
  return items.filter((s) => s !== '').every((s) => s.startsWith('type '));
}

/** The text with comments and the contents of strings and regular expressions blanked; templates are unchanged. */
export const codeOnly = (source: string): string => withoutComments(source).replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''");

// A comment sign inside a string, a template or a regular expression does not begin a comment.
const PIECES =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[(=,:!&|?[]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;
const withoutComments = (source: string): string => source.replaceAll(PIECES, (p) => (p.startsWith('//') || p.startsWith('/*') ? ' ' : p));
