/** One iteration of ForceAtlas2 over matrices: the part of the package that needs no graph library. */
declare module 'graphology-layout-forceatlas2/iterate.js' {
  interface Settings {
    readonly linLogMode: boolean;
    readonly outboundAttractionDistribution: boolean;
    readonly adjustSizes: boolean;
    readonly edgeWeightInfluence: number;
    readonly scalingRatio: number;
    readonly strongGravityMode: boolean;
    readonly gravity: number;
    readonly slowDown: number;
    readonly barnesHutOptimize: boolean;
    readonly barnesHutTheta: number;
  }
  /**
   * Moves the nodes.
   * @param nodes ten numbers a node: x, y, four of the last movements, mass, convergence, size, and 1 for a node that stays
   * @param edges three numbers an edge: where its two nodes begin in `nodes`, and its weight
   */
  export default function iterate(settings: Settings, nodes: Float32Array, edges: Float32Array): void;
}
