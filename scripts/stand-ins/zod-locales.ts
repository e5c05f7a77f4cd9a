/**
 * Replaces the languages of zod's messages in the Worker (wrangler.toml): each bundle that names `z` contains 50 of them,
 * a tenth of the script, and this service only uses English.
 */
export { default as en } from 'zod/v4/locales/en.js';
