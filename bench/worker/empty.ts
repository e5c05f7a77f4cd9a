/** An empty Worker: the minimal cost of a start. */
export default { fetch: (): Response => new Response('ok') };
