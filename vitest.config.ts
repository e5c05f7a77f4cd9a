import { availableParallelism } from 'node:os';
import { cloudflareTest } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';
import { readFacts } from './dev/start/built.ts';
import { SIZES } from './test/support/sizes.ts';
import { BUILT_WORKER, workerOptions } from './test/worker/options.ts';

const facts = await readFacts();
const deep = Boolean(process.env.DEEP);
/** The files of which `npm run test:deep` tries more than `npm test`, and those that only it runs. */
const sized = Object.keys(SIZES).filter((file) => !file.startsWith('unit/'));
const ONLY_DEEP = 'test/**/*.deep.test.ts';

/** A poll ends as soon as its value is right; vitest's default of one second is too short on a busy machine. */
const expectations = { poll: { timeout: 60_000 } };

export default defineConfig({
  test: {
    silent: 'passed-only',
    // one more than a machine of two cores has: tests wait for databases, browsers and time-outs
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      {
        // Without a database. Files share a process and its modules: a file that replaces a module or a global puts it back.
        test: {
          name: 'unit',
          expect: expectations,
          include: ['test/unit/**/*.test.ts'],
          environment: 'node',
          isolate: false,
          restoreMocks: true,
          // time-outs end tests that hang, however busy the machine is; no test measures time
          testTimeout: deep ? 600_000 : 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // With a database: PGlite, and a PostgreSQL of the machine where there is one.
        test: {
          name: 'integration',
          expect: expectations,
          include: deep ? [...sized.map((file) => `test/${file}.test.ts`), ONLY_DEEP] : ['test/integration/**/*.test.ts', 'test/attacks/**/*.test.ts'],
          exclude: deep ? [] : [ONLY_DEEP],
          environment: 'node',
          pool: 'forks',
          isolate: false,
          setupFiles: ['./test/support/setup.ts'],
          globalSetup: ['./test/support/databases/setup.ts'],
          testTimeout: deep ? 3_600_000 : 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        // Inside the Workers runtime, with an embedded database that the SQL endpoint serves. The Worker is the one that is deployed.
        resolve: { alias: { 'built-worker': BUILT_WORKER } },
        plugins: [
          cloudflareTest(({ inject }) => ({
            main: BUILT_WORKER,
            miniflare: {
              ...workerOptions(facts),
              bindings: {
                CATALOG_URL: inject<string>('catalogUrl'),
                DATASOURCE_MAIN: inject<string>('datasource'),
                DATASOURCE_MAIN_WRITER: inject<string>('writer'),
                ADMIN_TOKEN: inject<string>('adminToken'),
                API_AUTH_SALT: inject<string>('apiAuthSalt'),
                SESSION_SECRET: inject<string>('sessionSecret'),
                // the tests answer for the addresses of clients
                MCP_OAUTH_CIMD_ENABLED: 'true',
              },
            },
          })),
          {
            // the runtime loads the built modules itself: to transform them takes longer than the tests
            name: 'built-worker',
            config: ({ test }) => {
              if (test?.server?.deps) Object.assign(test.server.deps, { inline: [/^(?!.*\/dist\/tests\/worker\/)/], external: [/\/dist\/tests\/worker\//] });
            },
          },
        ],
        test: {
          name: 'worker',
          expect: expectations,
          // Files share a runtime and its storage: to start a runtime takes a second of CPU time, and to load the modules of tests two.
          isolate: false,
          include: ['test/worker/**/*.test.ts'],
          setupFiles: ['./test/worker/flat-prototypes.ts', './test/worker/no-secrets.ts'],
          globalSetup: ['./test/worker/setup.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      // On a Citus cluster, where there is one.
      ...(process.env.CITUS_URL === undefined
        ? []
        : [
            {
              test: {
                name: 'scale',
                include: ['test/scale/**/*.test.ts'],
                environment: 'node' as const,
                globalSetup: ['./test/scale/setup.ts'],
                testTimeout: 600_000,
                hookTimeout: 600_000,
              },
            },
          ]),
    ],
  },
});
