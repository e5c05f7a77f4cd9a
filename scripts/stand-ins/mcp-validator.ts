/**
 * Replaces the runtime's part of the MCP SDK in the Worker (wrangler.toml). That part has a validator of JSON Schema, which the SDK needs only for answers to
 * questions that the server asks during a call; this service never asks one (src/mcp/elicit.ts ends the call). It also builds the message schemas of all
 * revisions when the module is loaded; without it, a call builds those of its own revision.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('there is no validator of JSON Schema');
  }
}
