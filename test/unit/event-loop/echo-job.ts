/** A job for tests. It fails, hangs, exits, or reports where and at which priority it runs. */
import { readlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { isMainThread, threadId } from 'node:worker_threads'
import { invalidRequestError } from '../../../src/errors/errors.ts'

let preparedWith: number | null = null

const ownPriority = () => getPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()))

export function prepare(): void {
  preparedWith = ownPriority()
}

export function echo({ does, text = '' }: { does: string; text?: string }) {
  if (does === 'refuse') throw invalidRequestError('Not this.', 'field')
  if (does === 'fail') throw new Error('broken')
  if (does === 'hang') for (;;);
  if (does === 'exit') process.exit(3)
  if (does === 'thread') return { output: String(threadId) }
  if (does === 'priority') return { output: `${preparedWith}, then ${ownPriority()}` }
  return { output: `${text} from ${isMainThread ? 'the event loop' : 'a worker'}` }
}
