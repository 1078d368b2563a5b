/** Counts tokens without blocking the event loop: a worker does, which alone loads vocabularies. */
import { Job, NOBODY, type Owner, offLoop } from '../../event-loop/off-loop.ts'
import type { Counted, TextsToCount, ToCount, WrittenToCount } from './jobs.ts'
import { jsonText } from './json.ts'

const JOBS = new URL('./jobs.ts', import.meta.url)
const COUNT = new Job<WrittenToCount, Counted>(JOBS, 'countPrompt')
const COUNT_TEXTS = new Job<TextsToCount, number[]>(JOBS, 'countTexts')

/** Counts as `countPromptTokens` and `countTextTokens` do. */
export async function countAside({ request, ...asked }: ToCount, owner: Owner): Promise<Counted> {
  // As text, because a number that would be rounded is an object that cannot be cloned.
  return offLoop.run(COUNT, { ...asked, json: jsonText(request) || '{}' }, { owner })
}

/** Has the worker load the vocabulary of modern models, so that the first request need not wait for it. */
export function warmCounting(): void {
  // What fails here is told by the first count.
  countTextsAside({ texts: ['warm'], model: '' }, NOBODY).catch(() => {})
}

/** Counts each text. Together they must be short enough to be cloned quickly. */
export function countTextsAside(asked: TextsToCount, owner: Owner): Promise<number[]> {
  return offLoop.run(COUNT_TEXTS, asked, { owner })
}
