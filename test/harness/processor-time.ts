/** Measures the processor time of work on its own thread. Other processes and threads do not count. */

export function processorMs(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
