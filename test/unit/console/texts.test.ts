/** What the console says is in one file; what only the pages of MCP Apps say, in another. */
import { describe, expect, it } from 'vitest';
import { FILES, read } from '../repository.ts';

const TEXTS = ['console/src/texts.ts', 'console/src/apps/texts.ts'];
/** The note to the language model, an error of the protocol, and names of programs. */
const OTHERS: Readonly<Record<string, RegExp>> = {
  'console/src/ask/conversation.ts': /Question: |Earlier in|Meant as/,
  'console/src/apps/host.ts': /Method not found/,
  'console/src/connect/snippets.ts': /Claude|Cursor|Windsurf|Gemini/,
};

/** Sentences in quotes, and words between the marks of elements. Not names of formats, and nothing in comments. */
function sentences(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  return [
    ...code.matchAll(/'[A-Z][a-z]+ [^'\n]*'|"[A-Z][a-z]+ [^"\n]*"|`[A-Z][a-z]+:? [^`]*`/g),
    ...code.matchAll(/(?<=[\w"}]>\s*)[A-Z][a-z]+[^<>{}=;()]*(?=\s*<\/)/g),
    ...code.matchAll(/\b(?:aria-label|title|placeholder|alt)="[^"]*[A-Za-z]{2} ?[^"]*"/g),
  ].map(([text]) => text);
}

describe('the texts of the console', () => {
  it('are found by this test', () => {
    const found = sentences(`const a = 'Not found'; <p title="Press it">Some words</p>; throw new Error(\`The status is\`) // 'Not this'`);
    expect(new Set(found)).toEqual(new Set(["'Not found'", '"Press it"', 'title="Press it"', 'Some words', '`The status is`']));
  });

  it('are in one file', () => {
    const files = FILES.filter((file) => /^console\/src\/.*\.tsx?$/.test(file) && !TEXTS.includes(file));
    expect(files.length).toBeGreaterThan(60);
    const found = files.flatMap((file) =>
      sentences(read(file))
        .filter((text) => !(OTHERS[file]?.test(text) ?? false) && text !== 'placeholder="tk_..."')
        .map((text) => `${file}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});
