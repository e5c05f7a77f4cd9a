/** A Worker of nothing: what starting one costs at least. */
export default { fetch: (): Response => new Response('ok') };
