/** Counts tokens without blocking the event loop: long texts are counted by a worker. */
import { isOnLoop, Job, offLoop } from '../event-loop/off-loop.ts'
import { run as countNow } from './count-job.ts'
import { type Endpoint, estimatePromptTokens } from './count-tokens.ts'
import { isLoaded } from './encodings.ts'
import { estimateTextTokens } from './estimate-text.ts'

export interface ToCount {
  endpoint: Endpoint
  request: Record<string, unknown>
  /** Counted for the same model, besides the prompt. */
  text: string
}

export interface Counted {
  promptTokens: number
  textTokens: number
}

/** This many tokens of the slowest text take some milliseconds. */
const MOST_ON_LOOP = 1_000

const COUNT = new Job<ToCount, Counted>(new URL('./count-job.ts', import.meta.url))

/** Counts as `countPromptTokens` and `countTextTokens` do. */
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

/** Counts each text. Together they must be short enough to be cloned quickly. */
export function countTextsAside(asked: TextsToCount): Promise<number[]> {
  return offLoop.run(COUNT_TEXTS, asked)
}
