/**
 * `npx node test/integration/support/mcp-conformance/by-hand.ts [OPTION...]`: the runner's server mode against a running service
 * (`KG_URL`, by default the one that `npm start` starts) with the key in `KG_TOKEN`. The options are the runner's.
 */
import { spawn } from 'node:child_process';
import { addKey, RUNNER } from './runner.ts';

const { KG_URL = 'http://127.0.0.1:8787', KG_TOKEN = '' } = process.env;
const proxy = await addKey(KG_URL, KG_TOKEN);
const runner = spawn(process.execPath, [RUNNER, 'server', '--url', `${proxy.origin}/svc/api/mcp`, ...process.argv.slice(2)], { stdio: 'inherit' });
runner.once('exit', (code) => {
  process.exitCode = code ?? 1;
  void proxy.close();
});
