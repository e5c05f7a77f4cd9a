/** Asynchronous statements (`x-async`, docs/design/statements-and-versions.md#statements-that-run-on): the 202 with the address to poll, and the result. */

import type { Presentation } from '../nesting/presentation.ts';
import { type AsyncPoll, asynchronous, type Script, type ServiceRequest } from '../service.ts';
import { json, raw } from './answers.ts';
import type { AppContext } from './context.ts';

/** Starts a script and answers 202. @throws SvcError 404, 400, 503 as `startAsync` */
export async function beginAsync(c: AppContext, product: string, request: ServiceRequest, script: Script, presentation: Presentation): Promise<Response> {
  return asyncStarted(c, product, await (await asynchronous()).startAsync(request, script, presentation));
}

/** Answers 202 with the address of the result. */
export const asyncStarted = (c: AppContext, product: string, id: string): Response =>
  json(c, 202, {
    async: true,
    response_id: id,
    poll_url: `/${product}/openapi/get-async-results/${id}`,
    message: 'The statement is running; get its result from poll_url, where it is kept for 10 minutes',
  });

/** Answers with the state of a caller's statement. @throws SvcError 503 */
export async function asyncResult(c: AppContext, request: ServiceRequest, id: string): Promise<Response> {
  const { asyncRows, pollAsync } = await asynchronous();
  const poll = await pollAsync(request, id);
  if (poll === null) return json(c, 404, { error: 'Response not found' });
  if (poll.state === 'running') return json(c, 200, { status: 'running', response_id: id.toLowerCase() });
  if (poll.version !== null) c.set('version', poll.version);
  if (poll.state === 'error') return json(c, 200, { status: 'error', error: poll.error, error_type: 'ExecutionError' });
  const { source, asOf } = poll.origin ?? {};
  if (source !== undefined) request.answeredBy?.(...source);
  request.dataAsOf?.(asOf);
  return raw(c, completed(asyncRows(request, id, poll), poll));
}

const BEFORE = '{"status":"completed","response":';
const AFTER = ',"original_status_code":200}';

/** Streams the answer with the rows, piece by piece. An error aborts the stream. */
function completed(rows: AsyncGenerator<Uint8Array>, { pieces, first }: AsyncPoll & { readonly state: 'completed' }): string | ReadableStream<Uint8Array> {
  if (pieces <= 1) return BEFORE + new TextDecoder().decode(first) + AFTER;
  const encoder = new TextEncoder();
  let begun = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!begun) {
          begun = true;
          controller.enqueue(encoder.encode(BEFORE));
          return;
        }
        const { done, value } = await rows.next();
        if (!done) controller.enqueue(value);
        else {
          controller.enqueue(encoder.encode(AFTER));
          controller.close();
        }
      },
      async cancel() {
        await rows.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
