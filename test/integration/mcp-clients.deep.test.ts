/**
 * Programs that are MCP clients, against the service as `npm start` starts it: the Inspector and mcp-remote, each with an API token and with the whole
 * OAuth flow, and the commands and settings of docs/clients.md.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../dev/scratch-postgres.ts';
import { consent } from './support/consent.ts';
import { type Started, startAsDeveloper } from './support/npm-start.ts';
import { PARK, PARK_TABLES, type ParkClient, QUERY, ROWS, TOOLS, works } from './support/park.ts';

const PASSWORD = 'Correct-horse-9!';
const NAME = { name: 'test', version: '1' };

let service: Started;
/** The API token of a user who may query one ontology. */
let key: string;
beforeAll(async () => {
  service = await startAsDeveloper();
  for (const statement of PARK_TABLES) await service.sql(statement);
  await service.query(PARK);
  const [made] = await service.query(`CREATE USER olive PASSWORD '${PASSWORD}'; GRANT QUERY ON ALL ontology.park TO USER olive; CREATE TOKEN FOR olive`);
  key = made?.token as string;
});
afterAll(() => service?.stop());

const streamable = (): URL => new URL(`${service.base}/svc/api/mcp`);
const sse = (): URL => new URL(`${service.base}/svc/api/mcp/sse`);
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const INSPECTOR = join(MODULES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const REMOTE = join(MODULES, 'mcp-remote/dist/proxy.js');

/** The environment of a program that signs in: its own home folder, and a browser command that does nothing. */
function environment(home: string): Record<string, string> {
  const bin = join(service.folder, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['xdg-open', 'open']) writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  const PATH = `${bin}${delimiter}${process.env.PATH ?? ''}`;
  const folder = join(service.folder, home);
  mkdirSync(folder, { recursive: true });
  return { PATH, HOME: folder, BROWSER: join(bin, 'xdg-open'), MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' };
}

/** Does in place of the browser what the program's user would do, once the program has printed the URL. */
function signInOn(stream: NodeJS.ReadableStream): { readonly done: () => Promise<void> } {
  let text = '';
  let done: Promise<void> | undefined;
  stream.on('data', (part: Buffer) => {
    text += part;
    const address = /(http:\/\/\S+\/svc\/oauth\/authorize\?\S+)\s/.exec(text)?.[1];
    if (address === undefined || done !== undefined) return;
    done = consent(address, 'olive', PASSWORD).then(async (back) => {
      const page = await fetch(back);
      if (!page.ok) throw new Error(`the program does not take the code: ${page.status} ${await page.text()}`);
      await page.text();
    });
    done.catch(() => undefined);
  });
  return { done: () => done ?? Promise.reject(new Error(`nobody was asked to log in: ${text}`)) };
}

describe('the Inspector', () => {
  /** Runs its command line to the end. @returns its output */
  async function inspect(args: readonly string[], home: string, signsIn = false): Promise<Record<string, unknown>> {
    const child = spawn(process.execPath, [INSPECTOR, '--cli', ...args], { env: environment(home), stdio: ['ignore', 'pipe', 'pipe'] });
    const user = signInOn(child.stderr);
    let out = '';
    let errorOutput = '';
    child.stdout.on('data', (part: Buffer) => (out += part));
    child.stderr.on('data', (part: Buffer) => (errorOutput += part));
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (signsIn) await user.done();
    else expect(errorOutput).not.toMatch(/oauth\/authorize/);
    expect([code, out === '' ? errorOutput : ''], errorOutput).toEqual([0, '']);
    return JSON.parse(out) as Record<string, unknown>;
  }
  const call = ['--method', 'tools/call', '--tool-name', QUERY.name, '--tool-args-json', JSON.stringify(QUERY.arguments)];

  it('initializes, lists and calls with an API token, over both transports and in both eras', async () => {
    const header = ['--header', `x-api-key: ${key}`];
    expect(await inspect([streamable().href, ...header, '--method', 'initialize'], 'token')).toMatchObject({ serverInfo: { name: 'svc' } });
    expect((await inspect([sse().href, ...header, '--method', 'tools/list'], 'token')).tools).toHaveLength(TOOLS);
    expect(await inspect([sse().href, ...header, ...call], 'token')).toMatchObject({ structuredContent: ROWS });
    expect(await inspect([streamable().href, ...header, '--protocol-era', 'modern', ...call], 'token')).toMatchObject({ structuredContent: ROWS });
  });

  it('signs in by its browser, and reuses its stored tokens', async () => {
    const callback = ['--callback-url', `http://127.0.0.1:${await freePort()}/oauth/callback`];
    expect(await inspect([streamable().href, ...callback, ...call], 'inspector', true)).toMatchObject({ structuredContent: ROWS });
    expect((await inspect([streamable().href, '--stored-auth-only', '--method', 'tools/list'], 'inspector')).tools).toHaveLength(TOOLS);
    expect(await inspect([sse().href, ...callback, ...call], 'inspector', true)).toMatchObject({ structuredContent: ROWS });
  });
});

describe('mcp-remote', () => {
  /** Starts it like a desktop client, and uses it. */
  async function bridge(args: readonly string[], env: Record<string, string>, signsIn = false): Promise<void> {
    const transport = new StdioClientTransport({ command: process.execPath, args: [REMOTE, ...args], env, stderr: 'pipe' });
    const user = signInOn(transport.stderr as unknown as NodeJS.ReadableStream);
    const client = new v2.Client(NAME);
    try {
      await client.connect(transport);
      if (signsIn) await user.done();
      else await expect(user.done()).rejects.toThrow('nobody was asked to log in');
      await works(client as ParkClient);
    } finally {
      await client.close();
    }
  }

  it('accepts an API token, over both transports and in both eras', async () => {
    const header = ['--header', `x-api-key:${key}`];
    await bridge([streamable().href, ...header], environment('bridge-token'));
    await bridge([streamable().href, '--protocol', 'auto', ...header], environment('bridge-token'));
    await bridge([sse().href, '--transport', 'sse-only', ...header], environment('bridge-token'));
  });

  it('signs in by its browser, and reuses its stored tokens', async () => {
    const port = String(await freePort());
    await bridge([streamable().href, port], environment('bridge'), true);
    await bridge([streamable().href, port], environment('bridge'));
  });

  it('signs in for the older transport', async () => {
    await bridge([sse().href, String(await freePort()), '--transport', 'sse-only'], environment('bridge-sse'), true);
  });
});

describe('docs/clients.md', () => {
  const text = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  /** Blocks of code below a heading; for this service, this user and this ontology. */
  const blocks = (heading: string): string[] => {
    const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
    return [...section.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, code = '']) =>
      code.replaceAll('https://kg.example.com', service.base).replaceAll('tk_...', key).replaceAll('world', 'park').trim(),
    );
  };
  /** A command that would fetch its program, with the one that is here. */
  const here = (command: string): string =>
    command.replace(/^npx (-y )?(mcp-remote|@modelcontextprotocol\/inspector)/, (_, __, name: string) =>
      [process.execPath, name === 'mcp-remote' ? REMOTE : INSPECTOR].map((path) => `'${path}'`).join(' '),
    );
  const run = (command: string, args: readonly string[]) => promisify(execFile)(command, [...args], { cwd: MODULES, env: environment('docs') });
  async function bridged(transport: StdioClientTransport): Promise<void> {
    const client = new v2.Client(NAME);
    await client.connect(transport);
    await works(client as ParkClient);
    await client.close();
  }

  it('has JSON where it says so', () => {
    const json = [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, code = '']) => JSON.parse(code) as object);
    expect(json.length).toBeGreaterThan(6);
    for (const block of json) expect(JSON.stringify(block)).toContain('https://kg.example.com/svc/api/mcp');
  });

  it('has settings of Claude desktop that work', async () => {
    const [settings = '{}'] = blocks('Claude desktop');
    const { command, args, env } = JSON.parse(settings).mcpServers.svc as { command: string; args: string[]; env: Record<string, string> };
    expect([command, ...args.slice(0, 2)]).toEqual(['npx', '-y', 'mcp-remote']);
    await bridged(
      new StdioClientTransport({ command: process.execPath, args: [REMOTE, ...args.slice(2)], env: { ...environment('docs'), ...env }, stderr: 'ignore' }),
    );
  });

  it('has commands that work', async () => {
    const [remote = ''] = blocks('mcp-remote');
    await bridged(new StdioClientTransport({ command: 'sh', args: ['-c', here(remote)], env: environment('docs'), stderr: 'ignore' }));
    const [inspector = ''] = blocks('The Inspector');
    expect(JSON.parse((await run('sh', ['-c', here(inspector)])).stdout).tools).toHaveLength(TOOLS);
    const [curl = ''] = blocks('Without a client');
    expect(JSON.parse((await run('sh', ['-c', curl])).stdout).result.tools).toHaveLength(TOOLS);
  });

  it('has a program that works', async () => {
    const [program = ''] = blocks('A program');
    expect((await run(process.execPath, ['--input-type=module', '--eval', program])).stdout.trim()).toBe('[ { one: 1 } ]');
  });
});
