/** Vetoes when two yes-or-no questions ask whether something may, must or should be. */

import type { Guard, GuardFeatures } from '../guard.ts'
import { wordSet } from '../lexicon/word-list.ts'

type Modality = 'may' | 'must' | 'should'

const may = wordSet('can could may might allowed permitted possible')
const should = wordSet('should ought better')

export const modality: Guard<'modality'> = {
  name: 'modality',
  differs: ({ asked, cached }) => {
    const [one, other] = [modalityOf(asked), modalityOf(cached)]
    return one !== undefined && other !== undefined && one !== other
  },
}

function modalityOf({ kinds, tokens }: GuardFeatures): Modality | undefined {
  if (!kinds.has('yes or no')) return undefined
  for (const [at, { key }] of tokens.slice(0, 5).entries()) {
    if (may.has(key)) return 'may'
    if (should.has(key)) return 'should'
    if (/^(?:must|need|needs|needed|required)$/.test(key)) return 'must'
    if (/^(?:have|has)$/.test(key) && tokens[at + 1]?.key === 'to') return 'must'
  }
  return undefined
}
