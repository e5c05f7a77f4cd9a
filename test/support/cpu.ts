/** CPU seconds of this process since `before`: a bound for algorithms that does not depend on other processes, unlike elapsed time. */
export function cpuSeconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
