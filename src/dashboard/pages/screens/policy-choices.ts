/** The form's choices of cache policy, with their explanations. */
import type { Choice, Units } from '../components/setting-fields.tsx'

export const CACHE_MODES: readonly Choice[] = [
  { value: 'all', title: 'Every request', hint: 'Unless the request forbids it.' },
  {
    value: 'deterministic',
    title: 'Deterministic requests',
    hint: 'Those with temperature 0 or a seed. All others go to the provider.',
  },
  { value: 'off', title: 'None', hint: 'Nothing is looked up or stored.' },
]

export const SEMANTIC_MODES: readonly Choice[] = [
  { value: 'on', title: 'On', hint: 'A question in other words may be answered from the cache, as the policy allows.' },
  {
    value: 'shadow',
    title: 'Shadow',
    hint: 'The provider answers; Matches shows what the cache would have served.',
  },
  { value: 'off', title: 'Off', hint: 'Only an identical request is answered from the cache.' },
]

export const POLICIES: readonly Choice[] = [
  {
    value: 'verified',
    title: 'Verified',
    hint: 'If nothing in the two questions speaks against it.',
  },
  {
    value: 'proved',
    title: 'Proved',
    hint: 'Only if both questions normalize to the same text. Nothing is compared by similarity.',
  },
  {
    value: 'judged',
    title: 'Judged',
    hint: 'Also pairs that the judge has confirmed.',
  },
  {
    value: 'threshold',
    title: 'Similar enough',
    hint: 'By similarity alone. Sooner or later this serves wrong answers: look at Similarity first.',
  },
]

export const RISKS: readonly Choice[] = [
  { value: 'careful', title: 'Careful', hint: 'The same words, but for number and place.' },
  {
    value: 'balanced',
    title: 'Balanced',
    hint: 'Also synonyms, and other words that an embedder of meaning finds close.',
  },
  { value: 'generous', title: 'Generous', hint: 'Also words that it finds less close.' },
]

export const JUDGE_MODES: readonly Choice[] = [
  { value: 'off', title: 'Off', hint: 'Only people give verdicts, under Matches and Near misses.' },
  {
    value: 'inline',
    title: 'During the request',
    hint: 'A model compares the two questions before the provider is asked. The request waits for its verdict.',
  },
  {
    value: 'learn',
    title: 'After the request',
    hint: 'No request waits. The model’s verdicts apply to later requests.',
  },
]

export const WORDINGS: readonly Choice[] = [
  { value: 'off', title: 'Not kept', hint: 'Matches show the similarity and the kinds of difference, but no text.' },
  {
    value: 'sealed',
    title: 'Kept for a week',
    hint: 'Encrypted, and shown to this project’s members under Matches and Near misses.',
  },
]

export const TIMES: Units = [
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', 86_400],
]

export const SIZES: Units = [
  ['bytes', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
]
