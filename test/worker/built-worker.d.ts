/** The Worker as it is deployed (setup.ts). */
declare module 'built-worker' {
  export { default } from '../../src/index.ts';
}
