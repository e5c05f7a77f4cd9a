/** An empty Worker with the classes that the service's bindings name. */
import { DurableObject } from 'cloudflare:workers';

export class McpPrincipal extends DurableObject {}
export class AsyncStatement extends DurableObject {}

export default { fetch: (): Response => new Response('ok') };
