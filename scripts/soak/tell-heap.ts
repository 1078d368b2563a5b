/**
 * Preloaded into a proxy whose memory is measured: at SIGUSR2, runs a full garbage collection and appends the heap's size in MiB to a file.
 */
import { heapStats } from 'bun:jsc'
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const MIB = 1024 * 1024
const file = process.env.SOAK_HEAP_FILE

if (isMainThread && file) {
  process.on('SIGUSR2', () => {
    Bun.gc(true)
    const { heapSize, extraMemorySize } = heapStats()
    appendFileSync(file, `${(heapSize + extraMemorySize) / MIB}\n`)
  })
}
