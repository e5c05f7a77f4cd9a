/**
 * Splits a script of SQL into its statements at the semicolons outside of strings, quoted names,
 * dollar-quoted texts and comments (PostgreSQL manual, 4.1). Pieces that contain only comments are omitted.
 */
export function splitSql(script: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let empty = true;
  const push = (end: number) => {
    if (!empty) statements.push(script.slice(start, end).trim());
    start = end + 1;
    empty = true;
  };
  for (let at = 0; at < script.length; ) {
    const skipped = skipComment(script, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const sign = script[at]!;
    if (sign === ';') push(at++);
    else {
      if (/\S/.test(sign)) empty = false;
      at = skipQuoted(script, at);
    }
  }
  push(script.length);
  return statements;
}

function skipComment(script: string, at: number): number {
  if (script.startsWith('--', at)) {
    const end = script.indexOf('\n', at);
    return end < 0 ? script.length : end + 1;
  }
  if (!script.startsWith('/*', at)) return at;
  let depth = 0;
  while (at < script.length) {
    if (script.startsWith('/*', at)) depth++;
    else if (script.startsWith('*/', at)) depth--;
    else {
      at++;
      continue;
    }
    at += 2;
    if (depth === 0) break;
  }
  return at;
}

/** The offset after the string, quoted name, dollar-quoted text, word or character that begins at `at`. */
function skipQuoted(script: string, at: number): number {
  const rest = script.slice(at, at + 200);
  const tag = /^\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/.exec(rest)?.[0];
  if (tag) {
    const end = script.indexOf(tag, at + tag.length);
    return end < 0 ? script.length : end + tag.length;
  }
  const quote = /^[eE]?(['"])/.exec(rest);
  if (quote) {
    const escapes = quote[0].length === 2 && quote[1] === "'";
    for (let i = at + quote[0].length; i < script.length; i++) {
      if (escapes && script[i] === '\\') i++;
      else if (script[i] === quote[1]) {
        if (script[i + 1] !== quote[1]) return i + 1;
        i++;
      }
    }
    return script.length;
  }
  // A whole word at once: the e of `name'` does not begin a string, nor the $ of `a$b$` a text.
  return at + (/^[\w$\u0080-\uffff]+/.exec(rest)?.[0].length ?? 1);
}
