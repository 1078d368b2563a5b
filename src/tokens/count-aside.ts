/** Counts tokens without blocking the event loop: a worker does, which alone loads vocabularies. */
import { isOnLoop, Job, offLoop } from '../event-loop/off-loop.ts'
import { type Counted, count, type ToCount, type WrittenToCount } from './count-job.ts'
import { run as countTexts, type TextsToCount } from './count-texts-job.ts'
import { jsonText } from './json.ts'

const COUNT = new Job<WrittenToCount, Counted>(new URL('./count-job.ts', import.meta.url))

/** Counts as `countPromptTokens` and `countTextTokens` do. */
export async function countAside(asked: ToCount, owner = ''): Promise<Counted> {
  if (!isOnLoop()) return count(asked)
  // As text, because a number that would be rounded is an object that cannot be cloned.
  const { request, ...rest } = asked
  return offLoop.run(COUNT, { ...rest, json: jsonText(request) || '{}' }, { owner })
}

/** Has the worker load the vocabulary of modern models, so that the first request need not wait for it. */
export function warmCounting(): void {
  // What fails here is told by the first count.
  countTextsAside({ texts: ['warm'], model: '' }).catch(() => {})
}

const COUNT_TEXTS = new Job<TextsToCount, number[]>(new URL('./count-texts-job.ts', import.meta.url))

/** Counts each text. Together they must be short enough to be cloned quickly. */
export async function countTextsAside(asked: TextsToCount, owner = ''): Promise<number[]> {
  return isOnLoop() ? offLoop.run(COUNT_TEXTS, asked, { owner }) : countTexts(asked).output
}
