/** The service, built without the check of credentials. */
export * from '../../src/index.ts';
export { default } from '../../src/index.ts';
