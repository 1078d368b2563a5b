/** Vetoes any difference in scripts written without spaces, where one character may negate and words are not told apart here. */
import type { Guard, GuardFeatures } from '../guard.ts'
import { isUnspaced } from '../reading/unspaced.ts'

/** Characters that ask or soften and change nothing else. */
const particles = new Set(['吗', '嗎', '呢', '吧', '啊', '呀', '请', '請', '您', '你'])

export const unspacedScript: Guard<'unspaced-script'> = {
  name: 'unspaced-script',
  differs: ({ asked, cached }) => charactersOf(asked) !== charactersOf(cached),
}

function charactersOf({ tokens }: GuardFeatures): string {
  let characters = ''
  for (const { key } of tokens) if (isUnspaced(key) && !particles.has(key)) characters += key
  return characters
}
