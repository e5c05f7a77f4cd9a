/** wrangler imports a .wasm file as a module. */
declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}
