/** `fetch` without a limit of time: that of Node gives up if the answer does not begin within 300 seconds, and a language model may take longer. */
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { Readable } from 'node:stream';

/** As `fetch`, for requests with a text or no body. Redirects are not followed. */
export function patientFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const asked = new Request(input, init);
  const url = new URL(asked.url);
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? secureRequest : plainRequest;
    const options = { method: asked.method, headers: Object.fromEntries(asked.headers), signal: asked.signal };
    const sent = send(url, options, (answer) => {
      const headers = new Headers();
      for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2) headers.append(answer.rawHeaders[i] as string, answer.rawHeaders[i + 1] as string);
      const status = answer.statusCode ?? 500;
      const hasBody = status !== 204 && status !== 304;
      if (!hasBody) answer.resume();
      resolve(new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream<Uint8Array>) : null, { status, headers }));
    });
    sent.once('error', reject);
    asked.text().then((body) => sent.end(body), reject);
  });
}
