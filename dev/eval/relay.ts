/**
 * A language model in files: an OpenAI-compatible server that writes each prompt to a file and waits for a file with the answer. So any model, or a person,
 * can answer the questions of an evaluation.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Failure } from '../../src/cli/failure.ts';

export interface Relay {
  /** LLM_BASE_URL */
  readonly url: string;
  close(): Promise<void>;
}

const POLL_MS = 300;

/** Listens on loopback; `port` 0: any free port. `folder` is created. @throws Failure if the port is in use */
export async function startRelay(folder: string, port = 0): Promise<Relay> {
  await mkdir(folder, { recursive: true });
  const end = new AbortController();
  let last = 0;
  const server = createServer((request, response) => {
    last++;
    const name = String(last).padStart(4, '0');
    void relay(request, response, join(folder, name), end.signal).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Failure(`port ${port} cannot be used: ${error.code}`)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        end.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Prompt {
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly json_schema?: { readonly schema?: unknown } };
}

async function relay(request: IncomingMessage, response: ServerResponse, path: string, stop: AbortSignal): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const prompt = JSON.parse(Buffer.concat(parts).toString('utf8')) as Prompt;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // written under another name first, so that a reader never sees a part of it
  await writeFile(`${path}.tmp`, promptText(prompt));
  await rename(`${path}.tmp`, `${path}.prompt.md`);
  const content = await answerIn(`${path}.answer.json`, AbortSignal.any([gone.signal, stop]));
  if (content === undefined) return;
  const size = (text: string): number => text.length >> 2;
  const usage = { prompt_tokens: size(promptText(prompt)), completion_tokens: size(content), total_tokens: size(promptText(prompt)) + size(content) };
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ id: 'relay', object: 'chat.completion', created: 1_700_000_000, model: 'relay', choices, usage }));
}

function promptText({ messages = [], response_format }: Prompt): string {
  const schema = response_format?.json_schema?.schema;
  const texts = messages.map(({ role, content }) => `# ${role}\n\n${content}\n`);
  return [
    ...texts,
    `# answer\n\nOnly JSON of this schema, in the file of the same number with the ending .answer.json:\n\n${JSON.stringify(schema, null, 2)}\n`,
  ].join('\n');
}

/** The text of a file as soon as it is there and is JSON; undefined if the request has ended. */
async function answerIn(file: string, stop: AbortSignal): Promise<string | undefined> {
  while (!stop.aborted) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (isJson(text)) return text;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
