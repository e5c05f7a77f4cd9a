/** The service itself, built like its variants. */
export * from '../../src/index.ts';
export { default } from '../../src/index.ts';
