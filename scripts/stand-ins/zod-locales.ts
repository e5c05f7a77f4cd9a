/**
 * Stands in for the languages of zod's messages in the Worker (wrangler.toml): 50 of them are in each bundle that names
 * `z`, a tenth of the script, and this service speaks English.
 */
export { default as en } from 'zod/v4/locales/en.js';
