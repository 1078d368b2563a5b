/** The worker's job that counts texts one by one. */
import type { JobDone } from '../event-loop/off-loop.ts'
import { countTextTokens } from './count-tokens.ts'

export interface TextsToCount {
  texts: readonly string[]
  model: string
}

export function run({ texts, model }: TextsToCount): JobDone<number[]> {
  return { output: texts.map(text => countTextTokens(text, model)) }
}
