/** The models as they are built into the Worker: what is left out of the script, by wrangler.toml and by `npm run build -- --llm`. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chosen } from '../../../scripts/build.ts';
import { leftOut } from '../../../scripts/bundle.ts';
import type { languageModels } from '../../../src/llm/models.ts';
import { CASES, GIVEN, KEY } from './provider-cases.ts';
import { deadline, llm, type Stub, startStub, TURN, VALUE } from './stub.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
let stub: Stub;
let folder: string;
beforeAll(async () => {
  stub = await startStub();
  folder = await mkdtemp(join(tmpdir(), 'svc-built-'));
});
afterAll(async () => {
  await stub.close();
  await rm(folder, { recursive: true });
});

/** `[alias]` of wrangler.toml. */
async function aliases(): Promise<Record<string, string>> {
  const section = /^\[alias\]\n((?:".*\n)+)/m.exec(await readFile(join(PROJECT, 'wrangler.toml'), 'utf8'))?.[1] ?? '';
  return Object.fromEntries([...section.matchAll(/^"(.+)" = "(.+)"$/gm)].map(([, from, to]) => [from as string, to as string]));
}

interface Built {
  readonly models: typeof languageModels;
  /** Paths below node_modules, and others below the project. */
  readonly files: readonly string[];
  /** The importers of the replacement for zod's languages. */
  readonly ofLanguages: readonly string[];
}

/** As wrangler bundles: a specifier with an alias is resolved to its target. */
async function built(choice: string): Promise<Built> {
  const all: Record<string, string> = { ...(await aliases()), ...leftOut(chosen(choice)) };
  const outfile = join(folder, `${choice}.mjs`);
  const ofLanguages: string[] = [];
  const result = await build({
    entryPoints: [join(PROJECT, 'src/llm/models.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
    metafile: true,
    logLevel: 'silent',
    absWorkingDir: PROJECT,
    plugins: [
      {
        name: 'alias',
        setup: (b) =>
          b.onResolve({ filter: /./ }, ({ path, importer }) => {
            const to = Object.hasOwn(all, path) ? all[path] : undefined;
            if (to !== undefined && path === '../locales/index.js') ofLanguages.push(importer);
            return to === undefined ? undefined : { path: join(PROJECT, to) };
          }),
      },
    ],
  });
  const inputs = Object.values(result.metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const files = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file.replace(/^.*node_modules\/(?=(@[^/]+\/)?[^/]+\/)/, '> '));
  const { languageModels: models } = (await import(pathToFileURL(outfile).href)) as { languageModels: Built['models'] };
  return { models, files, ofLanguages };
}

const packages = (files: readonly string[]): string[] =>
  [...new Set(files.flatMap((file) => /^> ((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []))].filter((name) => name !== 'zod').sort();

describe('all providers', () => {
  let all: Built;
  beforeAll(async () => {
    all = await built('all');
  });

  it.each(CASES)('$name is called, and answers', async ({ env, says, url, body }) => {
    stub.play(says(GIVEN));
    const settings = { LLM_MODEL: 'm', LLM_API_KEY: KEY, LLM_TEMPERATURE: '0.25', LLM_BASE_URL: `${stub.url}/base`, ...env };
    expect(await all.models(llm(settings))!.ask(TURN, deadline())).toMatchObject({ value: VALUE, inputTokens: 11, outputTokens: 7 });
    expect(stub.heard[0]).toMatchObject({ url, body });
  });

  it('contain no gateway, one copy of shared modules, and only English messages', () => {
    expect(packages(all.files)).toContain('@ai-sdk/openai');
    expect(packages(all.files)).not.toContain('@ai-sdk/gateway');
    expect(packages(all.files)).not.toContain('@vercel/oidc');
    expect(all.files.filter((file) => /> @ai-sdk\/provider(-utils)?\/dist\/index/.test(file))).toHaveLength(2);
    expect(all.files.filter((file) => file.startsWith('> zod/v4/locales/'))).toEqual(['> zod/v4/locales/en.js']);
    expect(all.ofLanguages.filter((importer) => !/node_modules\/zod\/v4\//.test(importer))).toEqual([]);
  });
});

describe('npm run build -- --llm', () => {
  it('none contains nothing of the SDK', async () => {
    const none = await built('none');
    expect(packages(none.files)).toEqual([]);
    const lines: unknown[] = [];
    const models = none.models(llm({ LLM_TYPE: 'openai', LLM_MODEL: 'm', LLM_API_KEY: KEY }), { log: (line) => lines.push(line) });
    await expect(models!.ask(TURN, deadline())).rejects.toMatchObject({ status: 500, code: 'llm_misconfigured' });
    expect(lines).toMatchObject([{ event: 'llm_misconfigured', fault: 'this build has no provider of that type' }]);
  });

  it('openai_compatible contains only that provider', async () => {
    const one = await built('openai_compatible');
    expect(packages(one.files).filter((name) => name.startsWith('@ai-sdk/') || name.includes('workers-ai'))).toEqual([
      '@ai-sdk/openai-compatible',
      '@ai-sdk/provider',
      '@ai-sdk/provider-utils',
    ]);
    const found = CASES.find((c) => c.name === 'openai-compatible')!;
    stub.play(found.says(GIVEN));
    const settings = llm({ LLM_MODEL: 'm', LLM_BASE_URL: `${stub.url}/base`, ...found.env });
    expect(await one.models(settings)!.ask(TURN, deadline())).toMatchObject({ value: VALUE });
  });

  it('accepts names like LLM_TYPE', () => {
    expect(chosen('Claude,workersai')).toEqual(['anthropic', 'workers-ai']);
    expect(() => chosen('claude,nonsense')).toThrow('not nonsense');
    expect(Object.keys(leftOut(chosen('all')))).toEqual([]);
    expect(Object.keys(leftOut(['openai', 'google']))).toEqual([
      './providers/anthropic.ts',
      './providers/azure.ts',
      './providers/bedrock.ts',
      './providers/openai-compatible.ts',
      './providers/workers-ai.ts',
    ]);
  });
});
