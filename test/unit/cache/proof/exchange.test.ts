import { expect, test } from 'vitest'
import { indexExchanges } from '../../../../src/cache/learned-equivalences.ts'
import { alignDifferences } from '../../../../src/cache/proof/align.ts'
import { findExchange } from '../../../../src/cache/proof/exchange.ts'
import { prove } from '../../../../src/cache/proof/prove.ts'
import { readPrompt } from '../../../../src/text/read-prompt.ts'

const between = (asked: string, cached: string) => findExchange(readPrompt(asked), readPrompt(cached))
const words = (asked: string, cached: string) => {
  const found = between(asked, cached)
  return found && [found.one, found.other]
}

test.each([
  ['What is the best laptop for students?', 'what is the best notebook for students', ['laptop', 'notebook']],
  ['How do I start a fire in the rain?', 'How can I light a fire in the rain?', null],
  ['How do I reset a password?', 'How do I recover a lost password?', null],
  ['How do I feed a cat?', 'How do I feed a young cat?', ['', 'young']],
  ['What are good gifts for teachers?', 'What are good presents for teachers, please?', ['gifts', 'presents']],
  ['How to mend bicycle tyres', 'How to mend bike tyres', ['bicycle', 'bike']],
])('%j and %j', (asked, cached, expected) => {
  expect(words(asked, cached)).toEqual(expected)
  expect(words(cached, asked)).toEqual(expected)
})

test('names all words around it', () => {
  expect(between('Is a laptop better than a phone?', 'Is a notebook better than a phone?')?.around).toEqual([
    'a',
    'better',
    'is',
    'phone',
    'than',
  ])
})

test.each([
  ['a number', 'Which car has six doors?', 'Which car has seven doors?'],
  ['a negation', 'Why do cats like water?', 'Why do cats not like water?'],
  ['a modal verb', 'What must a tenant pay for?', 'What may a tenant pay for?'],
  ['a person', 'How do I feed your cat?', 'How do I feed their cat?'],
  ['a quotation', 'What does the sign "stop" ask for?', 'What does the sign "go" ask for?'],
  ['code', 'What does `ls` do in a folder?', 'What does `rm` do in a folder?'],
  ['letter case', 'Which Turkey is the best?', 'Which turkey is the best?'],
  ['a name with digits', 'Which foods have vitamin B12?', 'Which foods have vitamin C?'],
  ['a preposition', 'What is on the table of contents?', 'What is under the table of contents?'],
  ['a tense', 'What is the population of Rome?', 'What was the population of Rome?'],
  ['a question word', 'When did Rome fall?', 'Why did Rome fall?'],
  ['a word whose meaning is asked for', 'What does laptop mean?', 'What does notebook mean?'],
  ['the order', 'Does a lion eat a zebra?', 'Does a zebra eat a lion?'],
  ['two places', 'Is a laptop better than a phone?', 'Is a notebook better than a tablet?'],
  ['nothing', 'Is a laptop better?', 'is a laptop better'],
  ['a text to be worked on', 'Translate: the laptop is here', 'Translate: the notebook is here'],
  ['everything', 'Explain cats', 'Describe dogs'],
])('%s teaches nothing', (_, asked, cached) => {
  expect(between(asked, cached)).toBeNull()
})

const learned = (one: string, other: string, ...around: string[]) =>
  indexExchanges([{ one, other, around, pairs: 3, learned_at: '' }])

test('proof takes a learned exchange for harmless, in either direction, and says so', () => {
  const known = learned('notebook', 'laptop')
  const [one, other] = [readPrompt('Is a laptop better?'), readPrompt('Is a notebook better')]
  for (const [asked, cached] of [
    [one, other],
    [other, one],
  ] as const) {
    expect(prove(asked, cached)).toMatchObject({ proved: false, kind: 'words' })
    expect(prove(asked, cached, known)).toMatchObject({ proved: true, harmless: expect.arrayContaining(['learned']) })
    expect(alignDifferences(asked, cached, known)[0]).toMatchObject({ kind: null, harmless: ['learned'] })
  }
  expect(prove(one, readPrompt('Is a tablet better?'), known).proved).toBe(false)
  expect(prove(one, readPrompt('Is a notebook worse?'), known).proved).toBe(false)
})

test('it holds only among the words that stood around it whenever it was confirmed', () => {
  const known = learned('change', 'reset', 'password')
  const proved = (asked: string, cached: string) => prove(readPrompt(asked), readPrompt(cached), known).proved
  expect(proved('How do I reset the password of a router?', 'How do I change the password of a router?')).toBe(true)
  expect(proved('How do I reset the clock of a router?', 'How do I change the clock of a router?')).toBe(false)
})
