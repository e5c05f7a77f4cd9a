/**
 * Replaces the runtime's part of the MCP SDK in the Worker (wrangler.toml): a validator of JSON Schema, which only answers to questions of the server need that
 * wait inside a call, and this service never asks one (src/mcp/elicit.ts ends the call); and the making of the message schemas of all revisions when the module is loaded.
 * Without it, a call makes those of its own revision.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('there is no validator of JSON Schema');
  }
}
