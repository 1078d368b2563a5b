/** Loaded before a proxy that is to tell what it holds: at SIGUSR2, after a full garbage collection, the heap's MiB go to the end of a file. */
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
