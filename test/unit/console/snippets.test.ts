import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curl, mcpCurl, snippetsOf } from '../../../console/src/connect/snippets.ts';

/** The arguments that a shell passes to the program of a command. The program and `$TOKEN` are stand-ins. */
function argumentsOf(program: string, command: string): string[] {
  const script = `TOKEN=secret; ${program}() { printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

const NAMES = ["o'; echo stolen $TOKEN; '", "it's", '"; echo stolen; "', '$(echo stolen)', '`echo stolen`', '\\', "'\\''", 'a b', '!!', 'naïve'];

describe('commands to copy', () => {
  it.each(NAMES)('keep the ontology %s in the body', (name) => {
    const command = snippetsOf('svc', 'https://kg.example/svc/api', name, {
      signIn: 'S',
      connector: 'C',
      copilot: 'M',
      rest: 'REST',
      python: 'Python',
      typescript: 'TypeScript',
    }).find(([title]) => title === 'REST');
    const found = argumentsOf('curl', command?.[1] ?? '');
    expect(found.slice(0, 2)).toEqual(['-s', 'https://kg.example/svc/api/query/']);
    expect(found).toHaveLength(8);
    expect(JSON.parse(found.at(-1) ?? '')).toEqual({ ontology_name: name, query: 'SELECT 1 AS one' });
  });

  it.each(NAMES)('keep the ontology %s in the address for Claude Code', (name) => {
    const texts = snippetsOf('svc', 'https://kg.example/svc/api', name, { signIn: '', connector: '', copilot: '', rest: '', python: '', typescript: '' });
    const [, text = ''] = texts.find(([title]) => title === 'Claude Code') ?? [];
    const found = argumentsOf('claude', text);
    expect(found).toHaveLength(8);
    expect(new URL(found[5] ?? '').searchParams.get('ontology')).toBe(name);
    expect(found.slice(6)).toEqual(['--header', 'x-api-key: secret']);
    // the same command without the token: the client then signs in with the browser
    expect(argumentsOf('claude', texts[1]?.[1] ?? '')).toEqual(found.slice(0, 6));
  });

  it('call a tool of the MCP server', () => {
    const found = argumentsOf('curl', mcpCurl('https://kg.example/svc/api', "it's", "SELECT 'a'"));
    expect(found.slice(0, 4)).toEqual(['-s', 'https://kg.example/svc/api/mcp', '-H', 'x-api-key: secret']);
    expect(found).toContain('accept: application/json, text/event-stream');
    expect(JSON.parse(found.at(-1) ?? '').params).toEqual({ name: 'execute_sql', arguments: { query: "SELECT 'a'", ontology: "it's" } });
  });

  it('keep a statement with quotes in the body', () => {
    const body = JSON.stringify({ query: "SELECT 'it''s' AS \"$TOKEN\"" });
    expect(argumentsOf('curl', curl('https://kg.example/svc/api/query/', body)).at(-1)).toBe(body);
  });

  it('are one command for VS Code', () => {
    const [, text = ''] =
      snippetsOf('svc', 'https://kg.example/svc/api', 'shop', { signIn: '', connector: '', copilot: '', rest: '', python: '', typescript: '' }).find(
        ([title]) => title === 'VS Code',
      ) ?? [];
    const [flag, settings = ''] = argumentsOf('code', text);
    expect([flag, JSON.parse(settings)]).toMatchObject([
      '--add-mcp',
      { name: 'svc', url: 'https://kg.example/svc/api/mcp?ontology=shop', headers: { 'x-api-key': 'secret' } },
    ]);
  });
});
