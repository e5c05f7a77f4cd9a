/** The relay: prompts as files, answers from files; and requests that wait. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { patientFetch } from '../../../dev/eval/patient-fetch.ts';
import { startRelay } from '../../../dev/eval/relay.ts';
import { languageModels } from '../../../src/llm/models.ts';
import { deadline, llm, TURN, VALUE } from '../llm/stub.ts';

describe('a relay', () => {
  it('writes a prompt to a file, and answers with the file of the same number', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'relay-'));
    const relay = await startRelay(join(folder, 'new'));
    try {
      const model = languageModels(llm({ LLM_TYPE: 'openai-compatible', LLM_BASE_URL: relay.url, LLM_MODEL: 'relay', LLM_TIMEOUT: '60' }));
      const asked = model?.ask(TURN, deadline());
      await expect.poll(() => readdir(join(folder, 'new'))).toEqual(['0001.prompt.md']);
      const prompt = await readFile(join(folder, 'new', '0001.prompt.md'), 'utf8');
      for (const part of [TURN.system, TURN.user, '"sql"']) expect(prompt).toContain(part);
      // a part of an answer is not one
      await writeFile(join(folder, 'new', '0001.answer.json'), '{"sql": "SEL');
      await writeFile(join(folder, 'new', '0001.answer.json'), JSON.stringify(VALUE));
      expect((await asked)?.value).toMatchObject({ sql: 'SELECT 1' });
    } finally {
      await relay.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe('a fetch that waits', () => {
  it('sends and answers like fetch', async () => {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => response.writeHead(request.method === 'DELETE' ? 204 : 201, { 'x-seen': request.headers['x-key'] }).end(Buffer.concat(parts)));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    const answer = await patientFetch(url, { method: 'POST', headers: { 'x-key': 'k' }, body: 'hello' });
    expect([answer.status, answer.headers.get('x-seen'), await answer.text()]).toEqual([201, 'k', 'hello']);
    expect((await patientFetch(new URL(url), { method: 'DELETE', headers: { 'x-key': 'k' } })).status).toBe(204);
    await expect(patientFetch(url, { signal: AbortSignal.abort() })).rejects.toThrow();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
});
