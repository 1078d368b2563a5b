/** Counts tokens without blocking the event loop: a worker does, which alone loads vocabularies. */
import { type JobOwner, NO_OWNER, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import type { SerializedTokenCountRequest, TextCountRequest, TokenCountRequest, TokenCountResult } from './jobs.ts'
import { toJsonText } from './json-values.ts'

const JOBS = new URL('./jobs.ts', import.meta.url)
const COUNT = new WorkerJob<SerializedTokenCountRequest, TokenCountResult>(JOBS, 'countPrompt')
const COUNT_TEXTS = new WorkerJob<TextCountRequest, number[]>(JOBS, 'countTexts')

/** Counts as `countPromptTokens` and `countTextTokens` do. */
export async function countTokensInWorker(
  { request, ...asked }: TokenCountRequest,
  owner: JobOwner,
): Promise<TokenCountResult> {
  // As text, because a number that would be rounded is an object that cannot be cloned.
  return workerPool.run(COUNT, { ...asked, json: toJsonText(request) || '{}' }, { owner })
}

/** Has the worker load the vocabulary of modern models, so that the first request need not wait for it. */
export function warmUpTokenizer(): void {
  // What fails here is told by the first count.
  countTextsInWorker({ texts: ['warm'], model: '' }, NO_OWNER).catch(() => {})
}

/** Counts each text. Together they must be short enough to be cloned quickly. */
export function countTextsInWorker(asked: TextCountRequest, owner: JobOwner): Promise<number[]> {
  return workerPool.run(COUNT_TEXTS, asked, { owner })
}
