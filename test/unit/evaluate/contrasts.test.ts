import { expect, test } from 'vitest'
import { KIND_CAP, makeContrasts } from '../../../scripts/evaluate/contrasts.ts'
import { readPairs } from '../../../scripts/evaluate/pairs.ts'

const ownQuestions = [...readPairs([])].flatMap(({ a, b }) => [a, b]).filter((_, at) => at % 9 === 0)

test('makes the same pairs for a seed, each once, with both labels and no more of a kind than its cap', () => {
  const [pairs, again] = [[...makeContrasts(ownQuestions, 7)], [...makeContrasts(ownQuestions, 7)]]
  expect(again).toEqual(pairs)
  expect(new Set(pairs.map(({ a, b }) => [a, b].sort().join('\n'))).size).toBe(pairs.length)
  const same = pairs.filter(({ label }) => label === 1).length / pairs.length
  expect(same).toBeGreaterThan(0.3)
  expect(same).toBeLessThan(0.6)
  for (const ofKind of Map.groupBy(pairs, ({ category }) => category).values()) {
    expect(new Set(ofKind.map(({ label }) => label)).size).toBe(1)
    expect(ofKind.length).toBeLessThanOrEqual(2 * KIND_CAP)
  }
})

/** Questions, and what a kind makes of them. */
const examples: Readonly<Record<string, [category: string, other: RegExp]>> = {
  'Where is my membership card?': ['owner', /^Where is (?!my member)[\w' ]+ membership card\?$/],
  'What is a wifi password?': ['article', /^What is the wifi password\?$/],
  'What is the exchange rate of Peru?': ['tense', /^What (?:was|will|has) the exchange rate of Peru(?: be| been)?\?$/],
  'Can I freeze cooked rice at home?': ['question form', /^(?:How|Why|When|Where) can I freeze cooked rice at home\?$/],
  'How do I bake bread with yeast?': ['negation', /^How do I bake bread without yeast\?$/],
  'What is the oldest museum in Oslo?': ['superlative', /^What is the (?!oldest)[\w ]+ museum in Oslo\?$/],
  'How far away is Berlin from here?': ['name', /^How far away is (?!Berlin)[A-Z]\w+ from here\?$/],
  'Can I eat before the operation?': ['preposition', /^Can I eat (?:after|during) the operation\?$/],
  'How do I fly from Bern to Rome?': ['order', /^How do I fly from Rome to Bern\?$/],
  'Is the river dangerous for dogs?': ['qualifier dropped', /^Is the river dangerous\?$/],
  'How do I enable the firewall?': ['opposite verb', /^How do I (?:disable|turn off) the firewall\?$/],
  'Is a train to Bern faster than a bus?': [
    'thing',
    /^Is a (?:train|ferry|plane|taxi|bus) to Bern faster than a bus\?$/,
  ],
  'How do I sharpen a chisel?': ['how to', /\b(?:sharpen a chisel[.?]$|sharpen a chisel(?:, how\?|\. How))/],
  'What is the dew point?': [
    'what is',
    /\bwhat (?:exactly )?(?:is the dew point\?|the dew point is[.?])$|^What(?:'s| is) the dew point\?$/i,
  ],
  'What is the difference between rum and gin?': ['difference', /\b(?:rum|gin)\b.*\b(?:gin|rum)\b/i],
  'How do I swim in winter?': ['fronted clause', /^In winter, how do I swim\?$/],
  'Who invented the telephone?': [
    'passive',
    /^Who was the telephone invented by|by whom|^Who was it that|^Do you know who/i,
  ],
  'Where can I buy a chisel?': ['verb synonym', /^Where can I purchase a chisel\?$/],
  'Which color has the banana?': ['spelling', /^Which colour has the banana\?$/],
}
const notChanged = ['How do I insert a page in Word?', "What does 'in my opinion' mean?"]
/** Two kinds may make the same pair, of which each seed gives it to one. */
const pairs = [1, 2, 3].flatMap(seed => [...makeContrasts([...Object.keys(examples), ...notChanged], seed)])
const contrastsOf = (question: string) => pairs.filter(({ a, b }) => a === question || b === question)

test.each(Object.entries(examples))('%s is paired by its kind', (question, [category, other]) => {
  const found = contrastsOf(question).filter(pair => pair.category === category)
  expect(found).not.toEqual([])
  for (const { a, b } of found) expect(a === question ? b : a).toMatch(other)
})

test('does not change the case where a word becomes a name, nor a quotation', () => {
  const [program = '', quotation = ''] = notChanged
  expect(contrastsOf(program).filter(({ category }) => category === 'letter case')).toEqual([])
  expect(contrastsOf(program)).not.toEqual([])
  expect(contrastsOf(quotation)).toEqual([])
})
