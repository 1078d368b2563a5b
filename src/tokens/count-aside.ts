/** Counting tokens without holding up the event loop: what is long is counted by a worker. */
import { isOnLoop, Job, offLoop } from '../event-loop/off-loop.ts'
import { run as countNow } from './count-job.ts'
import { type Endpoint, estimatePromptTokens } from './count-tokens.ts'
import { isLoaded } from './encodings.ts'
import { estimateTextTokens } from './estimate-text.ts'

export interface ToCount {
  endpoint: Endpoint
  request: Record<string, unknown>
  /** Of the same model, beside the prompt. */
  text: string
}

export interface Counted {
  promptTokens: number
  textTokens: number
}

/** So many take some milliseconds of the slowest text. */
const MOST_ON_LOOP = 1_000

const COUNT = new Job<ToCount, Counted>(new URL('./count-job.ts', import.meta.url))

/** As `countPromptTokens` and `countTextTokens` have it. */
export async function countAside(asked: ToCount, owner = ''): Promise<Counted> {
  const estimate = estimatePromptTokens(asked.request, asked.endpoint) + estimateTextTokens(asked.text)
  const { model } = asked.request
  const isQuick = estimate <= MOST_ON_LOOP && isLoaded(typeof model === 'string' ? model : undefined)
  return isQuick || !isOnLoop() ? countNow(asked).output : offLoop.run(COUNT, asked, { owner })
}

export interface TextsToCount {
  texts: readonly string[]
  model: string
}

const COUNT_TEXTS = new Job<TextsToCount, number[]>(new URL('./count-texts-job.ts', import.meta.url))

/** Tokens of each text; together they are to be short enough to be handed over. */
export function countTextsAside(asked: TextsToCount): Promise<number[]> {
  return offLoop.run(COUNT_TEXTS, asked)
}
