/** The grammar and the keywords for editors: they are what the parser's sources say, and a tokenizer of editors reads models with them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';
import { files, keywords } from '../../scripts/build-editors.ts';
import { type Token, tokenize } from '../../src/language/lexer.ts';
import { read } from './repository.ts';

let grammar: textmate.IGrammar;
beforeAll(async () => {
  const wasm = readFileSync(createRequire(import.meta.url).resolve('vscode-oniguruma/release/onig.wasm'));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength) as ArrayBuffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(read('editors/kg.tmLanguage.json'), 'kg.json'),
  });
  const loaded = await registry.loadGrammar('source.kg');
  if (loaded === null) throw new Error('no grammar');
  grammar = loaded;
});

/** The scopes of each character of a text. */
function scopesOf(text: string): string[] {
  const scopes: string[] = [];
  let state = textmate.INITIAL;
  for (const line of text.split('\n')) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    for (const t of tokens) for (let i = t.startIndex; i < Math.min(t.endIndex, line.length); i++) scopes.push(t.scopes.slice(1).join(' '));
    scopes.push('');
    state = ruleStack;
  }
  return scopes;
}

/** The innermost scope of the first character of each word, without its suffix: `CREATE:keyword.control`. */
function wordsOf(text: string): string[] {
  const scopes = scopesOf(text);
  return [...text.matchAll(/[\w`"']+/g)].map(({ 0: word, index }) => `${word}:${(scopes[index]?.split(' ').at(-1) ?? '').replace(/\.kg$/, '')}`);
}

describe('the files for editors', () => {
  it('are what npm run build:editors writes', () => {
    for (const [name, text] of Object.entries(files())) expect(JSON.parse(read(`editors/${name}`)), name).toEqual(JSON.parse(text));
  });

  it('have every keyword that the parser reads, each in one list of modelling keywords', () => {
    const { statements, objects, clauses } = keywords();
    const all = [...statements, ...objects, ...clauses];
    expect(new Set(all).size).toBe(all.length);
    // a sample of each source file: the list itself comes from these files
    for (const word of ['ROLLBACK', 'SYMMETRIC', 'INCLUDES', 'PARSING', 'MASK', 'EXPIRES', 'LOGICAL', 'TAGS', 'EXAMPLE', 'AUTH', 'INVERSEOF'])
      expect(all).toContain(word);
    expect(all.filter((word) => !/^[A-Z]+$/.test(word))).toEqual([]);
  });
});

describe('the grammar', () => {
  it('finds comments, texts and quoted names where the lexer finds them', () => {
    const models = ['examples/world/model.kg', 'examples/bikehire/model.kg', 'examples/bikehire/rights.kg'].map(read);
    const scopeOf: Partial<Record<Token['kind'], RegExp>> = { comment: /comment/, string: /string/, name: /variable\.other|entity\.name/ };
    const odd = `-- it's; "\n/* a /* nested ' */ still \` */ SELECT 'it''s -- no', E'a\\'b', $x$ ' -- $x$, $$;$$ AS "a ""b", \`c \`\`d\`, U&'x' -- 'end`;
    let checked = 0;
    for (const text of [...models, odd]) {
      const scopes = scopesOf(text);
      for (const token of tokenize(text)) {
        const wrong = [...Array(token.end - token.start).keys()]
          .map((i) => i + token.start)
          .filter((i) => text[i] !== '\n')
          .filter((i) =>
            Object.entries(scopeOf).some(
              ([kind, scope]) => (token.kind === kind) !== scope.test(scopes[i] ?? '') && (kind !== 'name' || token.kind === 'name'),
            ),
          );
        expect(
          wrong.map((i) => `${i}: ${text.slice(token.start, token.end)} ${scopes[i]}`),
          token.kind,
        ).toEqual([]);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(5000);
  });

  it('shows every keyword of the models in capital letters as one', () => {
    const { statements, objects, clauses } = keywords();
    const known = new Set([...statements, ...objects, ...clauses]);
    const found = new Set<string>();
    for (const text of ['examples/world/model.kg', 'examples/bikehire/model.kg', 'examples/bikehire/rights.kg'].map(read)) {
      const scopes = scopesOf(text);
      for (const token of tokenize(text)) {
        if (token.kind !== 'word' || !known.has(token.value)) continue;
        found.add(token.value);
        expect(scopes[token.start], `${token.value} in ${text.slice(token.start - 40, token.end + 20)}`).toMatch(/keyword/);
      }
    }
    expect(found.size).toBeGreaterThan(35);
  });

  it('distinguishes keywords from properties that have the same name', () => {
    expect(
      wordsOf(
        'create or replace concept item (label string, type integer, user string, PRIMARY KEY (label), LABEL (type), total MEASURE bigint,\n CONSTRAINT up',
      ),
    ).toEqual([
      'create:keyword.control',
      'or:keyword.control',
      'replace:keyword.control',
      'concept:keyword.control',
      'item:entity.name.type',
      'label:variable.other.property',
      'string:storage.type',
      'type:variable.other.property',
      'integer:storage.type',
      'user:variable.other.property',
      'string:storage.type',
      'PRIMARY:keyword.other',
      'KEY:keyword.other',
      'label:variable.other',
      'LABEL:keyword.other',
      'type:variable.other',
      'total:variable.other.property',
      'MEASURE:keyword.other',
      'bigint:storage.type',
      'CONSTRAINT:keyword.other',
      'up:variable.other',
    ]);
  });

  it('reads relationships, clauses, mappings and paths', () => {
    expect(
      wordsOf(
        "CREATE CONCEPT c (CONSTRAINT r FOREIGN KEY (a) REFERENCES d (b) INVERSEOF s TRANSITIVE(4) SYMMETRIC INCLUDES (q)) INHERITS (thing) DESCRIPTION = 'x'",
      )
        .filter((w) => w.endsWith(':keyword.other'))
        .map((w) => w.split(':')[0]),
    ).toEqual(['CONSTRAINT', 'FOREIGN', 'KEY', 'REFERENCES', 'INVERSEOF', 'TRANSITIVE', 'SYMMETRIC', 'INCLUDES', 'INHERITS', 'DESCRIPTION']);
    expect(wordsOf('CREATE MAPPING m INTO c USING main AS SELECT upper(a) FROM t')).toEqual([
      'CREATE:keyword.control',
      'MAPPING:keyword.control',
      'm:entity.name.type',
      'INTO:keyword.other',
      'c:variable.other',
      'USING:keyword.other',
      'main:variable.other',
      'AS:keyword.other',
      'SELECT:keyword.control',
      'upper:entity.name.function',
      'a:variable.other',
      'FROM:keyword.other',
      't:variable.other',
    ]);
    const path = 'SELECT "r[city*3].name" FROM dsvc.c';
    const scopes = scopesOf(path);
    expect([scopes[path.indexOf('city')], scopes[path.indexOf('*3')], scopes[path.indexOf('name')]]).toEqual([
      expect.stringContaining('entity.name.type'),
      expect.stringContaining('keyword.operator'),
      'variable.other.quoted.kg',
    ]);
  });

  it('begins anew after a semicolon', () => {
    expect(wordsOf('CREATE CONCEPT c (a string) INHERITS (thing); SHOW CONCEPTS').slice(-2)).toEqual(['SHOW:keyword.control', 'CONCEPTS:variable.other']);
    expect(wordsOf("CREATE CONCEPT c FROM svc.d WHERE a = 'x'; DROP VIEW v").slice(-3)).toEqual([
      'DROP:keyword.control',
      'VIEW:keyword.other',
      'v:variable.other',
    ]);
  });
});
