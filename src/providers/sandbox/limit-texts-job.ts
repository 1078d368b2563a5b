/** The worker's job that ends texts at a stop sequence, or after a number of tokens. */
import type { JobDone } from '../../event-loop/off-loop.ts'
import { type LimitedText, limitText, type TextsToLimit } from './limit-text.ts'

export function run({ texts, limits }: TextsToLimit): JobDone<LimitedText[]> {
  return { output: texts.map(text => limitText(text, limits)) }
}
