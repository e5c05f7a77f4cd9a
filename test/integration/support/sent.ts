/** What a test sends to databases. */

/** The bodies of the requests with a text that are sent during some work. */
export async function sentWith(text: string, work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const real = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    if (String(init?.body).includes(text)) sent.push(String(init?.body));
    return real(input, init);
  };
  try {
    await work();
    return sent;
  } finally {
    globalThis.fetch = real;
  }
}
