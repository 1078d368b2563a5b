/** Processes that a test file started. They are ended with the file, even if its tests failed. */
import type { Subprocess } from 'bun'

const started = new Set<Subprocess>()
process.on('exit', endChildProcesses)

export function endAfterFile(child: Subprocess): void {
  started.add(child)
}

export function endChildProcesses(): void {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
}
