/** Plans and parses inside workerd: the same statement `n` times per request, timed from outside. */
import { glue } from '../../dist/parser/glue.js';
import grammar from '../../dist/parser/libpg-query.wasm';
import { createParser } from '../../src/language/parser.ts';
import { type Planning, planning } from '../lib/planning.ts';

const parser = createParser(grammar, glue);
let ready: Planning | undefined;

interface Task {
  /** `model`: `text` is the model's script. */
  readonly what: 'model' | keyof Planning;
  readonly text: string;
  readonly n: number;
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { what, text, n } = (await request.json()) as Task;
    if (what === 'model') ready = planning(text, parser);
    else if (what === 'warm') for (let i = 0; i < n; i++) await ready?.warm(text);
    else for (let i = 0; i < n; i++) ready?.[what](text);
    return new Response('ok');
  },
};
