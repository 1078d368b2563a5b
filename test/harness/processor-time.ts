/** How much processor time work takes on the thread that does it: other processes and threads do not count. */

export function processorMs(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
