/** Counts tokens in a worker, which does not block the event loop. Only the worker loads vocabularies. */
import { type JobOwner, NO_OWNER, WorkerJob, workerPool } from '../../event-loop/worker-pool.ts'
import { toJsonText } from './count-tokens.ts'
import type { SerializedTokenCountRequest, TextTokenCountRequest, TokenCountRequest, TokenCountResult } from './jobs.ts'

const JOBS = new URL('./jobs.ts', import.meta.url)
const COUNT = new WorkerJob<SerializedTokenCountRequest, TokenCountResult>(JOBS, 'countPrompt')
const COUNT_TEXTS = new WorkerJob<TextTokenCountRequest, number[]>(JOBS, 'countTexts')

/** Counts like `countPromptTokens` and `countTextTokens`. */
export async function countTokensInWorker(
  { request, ...rest }: TokenCountRequest,
  owner: JobOwner,
): Promise<TokenCountResult> {
  // The request is sent as text, because a number that would be rounded is an object that cannot be cloned.
  return workerPool.run(COUNT, { ...rest, json: toJsonText(request) || '{}' }, { owner })
}

/** Makes the worker load the vocabulary of modern models, so that the first request does not wait for it. */
export function warmUpTokenizer(): void {
  // The first count reports a failure.
  countTextTokensInWorker({ texts: ['warm'], model: '' }, NO_OWNER).catch(() => {})
}

/** Counts each text. The texts together must be short enough to be cloned quickly. */
export function countTextTokensInWorker(request: TextTokenCountRequest, owner: JobOwner): Promise<number[]> {
  return workerPool.run(COUNT_TEXTS, request, { owner })
}
