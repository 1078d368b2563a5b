import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import { findVeto, type MatchEvidence, type SemanticRisk } from '../../../../src/cache/verify/verify.ts'
import { pairs } from '../text/pairs.ts'

/** Evidence with the highest similarity of two different texts. */
const near = (risk: SemanticRisk = 'balanced', isSemantic = true): MatchEvidence => ({
  similarity: 0.9999,
  threshold: 0.95,
  risk,
  isSemantic,
})
const veto = (one: string, other: string, risk?: SemanticRisk) =>
  findVeto(normalizePrompt(one), normalizePrompt(other), near(risk))
const isServed = (one: string, other: string, risk?: SemanticRisk) =>
  normalizePrompt(one).normalized === normalizePrompt(other).normalized || veto(one, other, risk) === null

describe('accepts other forms of one question', () => {
  test.each([
    ['How do I lower my blood pressure?', 'What is the best way to lower blood pressure?'],
    ['How do I find a cheap flight?', 'What are the best ways to find cheap flights?'],
    ['What is the return policy of the shop?', 'What is the shop return policy?'],
    ['What are the causes of heart failure?', 'What are some causes of heart failure?'],
    ['What is the difference between cats and dogs?', 'What is the difference between dogs and cats?'],
    ['What is it like to live in Norway?', 'How does it feel to live in Norway?'],
    ['What is winter like in Norway?', 'How is winter in Norway?'],
    ['Which hiking boot is the best for winter?', 'What is the best hiking boot for winter?'],
    ['What is the best novel by Tolstoy?', 'What is the best Tolstoy novel?'],
    ['What causes migraines at night?', 'What are the causes of migraines at night?'],
    ['How do I repair a flat tire?', 'How do I fix a flat tire?'],
    ['What is your favourite sports team?', 'What is your favorite sports team?'],
    ['How do I organise a birthday party?', 'How do I organize a birthday party?'],
    ['What do you think of electric cars?', 'What is your opinion on electric cars?'],
    ['Do you think robots will replace doctors?', 'Will robots replace doctors?'],
    ['If I lose my passport, what should I do?', 'What should I do if I lose my passport?'],
    ['In Norway, how do I register a car?', 'How do I register a car in Norway?'],
    ['What will happen if I mix bleach and vinegar?', 'What happens if I mix bleach and vinegar?'],
    ['How much does a new roof cost?', 'What is the cost of a new roof?'],
    ['How does butter differ from margarine?', 'What is the difference between butter and margarine?'],
    ['Who is the author of Don Quixote?', 'Who wrote Don Quixote?'],
    ['Which country has the best schools?', 'Which countries have the best schools?'],
    ['What is it like to be rich?', 'What does it feel like to be rich?'],
    ['Is it safe to eat raw eggs?', 'Is it safe to eat a raw egg?'],
    ['How many people live in Japan?', 'What is the population of Japan?'],
    ['Why do cats purr at night?', 'What is the reason cats purr at night?'],
    ['How do I boil an egg?', 'How do you boil eggs?'],
    ['who won world war ii', 'Who won World War II?'],
    ['What is your New Year wish for work?', 'What is your new year wish for work?'],
    ['What is the best Photo Editor?', 'What is the best photo editor?'],
    ['What are some tips for carving a melon?', 'How do you carve a melon?'],
    ['How do I cancel a phone contract?', 'How do I end a phone contract?'],
    ['flu symptoms', 'What are the symptoms of the flu?'],
    ['difference between jam and jelly', 'What is the difference between jelly and jam?'],
    ['best time to visit Japan', 'What is the best time to visit Japan?'],
    ['In Go, how do I reverse a string?', 'How can I reverse a string in Go?'],
    ['Quick question: how do I boil an egg?', 'What is the best way to boil an egg?'],
    ['I have a question. How do I knit warm socks?', 'How can I knit warm socks?'],
    ['I am new to Python. How do I read a file?', "Hi! I'm new to Python. What is the best way to read files?"],
    ['My daughter is shy. How do I help her?', 'My daughter is shy. How can I help her?'],
    ['How do I cook rice for three people?', 'How do I cook rice for 3 people?'],
    ['How do I set a twenty-five minute timer?', 'How do I set a 25-minute timer?'],
    ['What is the 1st law of motion?', 'What is the first law of motion?'],
    ['What happened to China in the 21st century?', 'What happened to China in the twenty-first century?'],
    ['What did the twelfth amendment change?', 'What did the 12th amendment change?'],
    ['How do I treat a third-degree burn?', 'How do I treat a third degree burn?'],
    ['How do I comfort somebody in pain?', 'How do I comfort someone in pain?'],
    ['Why does no one live on the moon?', 'Why does nobody live on the moon?'],
    ['What are the fish that are high in mercury?', 'Which fish are high in mercury?'],
    ['Is it a good idea to learn Latin?', 'Should I learn Latin?'],
    ['Is painting a rented house legal?', 'Is it legal to paint a rented house?'],
    ['Why did my payment get declined?', 'Why was my payment declined?'],
    ['Why has my payment been declined?', 'Why was my payment declined?'],
    ['How do I copy a PostgreSQL table?', 'How do I copy a Postgres table?'],
    ['How far is Oslo from Bergen?', 'What is the distance between Bergen and Oslo?'],
    ['How far is it from the sun to Mars?', 'What is the distance from Mars to the sun?'],
  ])('%j, %j', (one, other) => {
    expect(veto(one, other)).toBeNull()
    expect(veto(other, one)).toBeNull()
  })
})

describe('names the reason against a pair', () => {
  test.each([
    ['negation', 'turn', 'How do I travel with a passport?', 'How do I travel without a passport?'],
    ['direction', 'turn', 'How do I move files from Linux to Windows?', 'How do I move files to Linux from Windows?'],
    ['place and direction', 'turn', 'What does a train in Japan cost?', 'What does a train to Japan cost?'],
    ['roles', 'order', 'When can a landlord sue a tenant?', 'When can a tenant sue a landlord?'],
    ['names', 'words', 'What is the average rent in Berlin?', 'What is the average rent in Hamburg?'],
    ['numbers', 'words', 'How do I run 5 miles fast?', 'How do I run 10 miles fast?'],
    ['opposites', 'opposite', 'How do I increase the volume of my phone?', 'How do I decrease the volume of my phone?'],
    ['tense', 'turn', 'Did the company pay taxes in Ireland?', 'Does the company pay taxes in Ireland?'],
    ['persons', 'turn', 'How do I raise my credit limit?', 'How do I raise your credit limit?'],
    ['more words', 'added-words', 'How do I train a dog at home?', 'How do I train a deaf dog at home?'],
    ['plural of another word', 'inflection', 'How do I clean the dirty glass?', 'How do I clean the dirty glasses?'],
    ['superlatives of one', 'inflection', 'What is the oldest city of Italy?', 'What are the oldest cities of Italy?'],
    ['some', 'turn', 'Why do some people hate old cats?', 'Why do people hate old cats?'],
    ['whose', 'question', 'How can someone read my old messages?', 'How can I read my old messages?'],
    ['whose it is', 'turn', 'How do I find my lost phones?', 'How do I find lost phones?'],
    ['owners', 'turn', 'What is my public IP address?', 'What is a public IP address?'],
    ['a wish for one', 'question', 'Suggest a strong password', 'What is a strong password?'],
    ['a state', 'question', 'Why is the window open?', 'Why does the window open?'],
    ['a name', 'letter-case', 'How do I use Time Machine at work?', 'How do I use time machine at work?'],
    ['another war', 'neighbour', 'When did World War II end?', 'When did World War III end?'],
    ['an order', 'order', 'What is the ratio between width and height?', 'What is the ratio between height and width?'],
    [
      'an order of numbers',
      'order',
      'What is the difference between 9 and 4?',
      'What is the difference between 4 and 9?',
    ],
    ['what is caused', 'question', 'What causes water to boil?', 'What are the causes of water to boil?'],
    ['a practice', 'question', 'How do you handle returns?', 'How do I handle returns?'],
    ['a plural of its own', 'inflection', 'What is the custom of Japan?', 'What are the customs of Japan?'],
    ['a lead', 'question', 'I am new to Python. How do I read a file?', 'I am new to Java. How do I read a file?'],
    [
      'what follows a lead',
      'words',
      'I live in Texas. How do I register a car?',
      'I live in Texas. How do I paint a car?',
    ],
    ['a wish for some', 'prose', 'dad jokes', 'What are dad jokes?'],
    ['a wish for a change', 'prose', 'increase height', 'What is increase height?'],
    ['good wishes', 'question', 'best wishes for you', 'What are the best wishes for you?'],
    ['there is', 'turn', 'Is there a gold standard?', 'Is gold a standard?'],
    ['two acts', 'words', 'How do I prevent injection in SQL?', 'How do I perform injection in SQL?'],
    ['two kinds', 'neighbour', 'How do I make soft vegan pancakes?', 'How do I make soft vegetarian pancakes?'],
    ['a title', 'added-words', 'Is The Office a good show?', 'Is the office a good show?'],
    ['your own', 'turn', 'How do I add a page to your website?', 'How do I add a page to my website?'],
    ['a list', 'question', 'What are some logical fallacies?', 'What is a logical fallacy?'],
    ['a shop', 'question', 'What is Whole Foods?', 'What are Whole Foods?'],
    ['advice', 'question', 'What are some tips for travel to Japan?', 'How do I travel to Japan?'],
    ['a thing to drink', 'turn', 'Is drinking water safe?', 'Is it safe to drink water?'],
    ['what became of her', 'question', 'Why did she get married to him?', 'Why was she married to him?'],
    ['advice for you', 'added-words', 'Should I wash my hair every day?', 'Is it good to wash your hair every day?'],
    ['a figure', 'added-words', 'What can one person carry?', 'What can 1 person carry?'],
    ['a figure with another', 'words', 'How do I run five miles fast?', 'How do I run 50 miles fast?'],
    ['a rank', 'words', 'What is the 4th amendment about?', 'What is the fourteenth amendment about?'],
    ['who eats whom', 'added-words', 'Where do man-eating sharks live?', 'Where do man eating sharks live?'],
    ['more of them', 'turn', 'Where do I buy more-modern machines?', 'Where do I buy more modern machines?'],
    ['a small loan', 'added-words', 'How do I get a small business-loan?', 'How do I get a small business loan?'],
    ['a title of a book', 'turn', 'Who wrote everybody poops?', 'Who wrote everyone poops?'],
    ['a program’s text', 'words', 'How does a shell script print 5?', 'How does a shell script print five?'],
    ['a program', 'added-words', 'How do I use node-fetch in tests?', 'How do I use node fetch in tests?'],
    ['another distance', 'words', 'How far is Oslo from Bergen?', 'How far is Oslo from Hamar?'],
    ['code', 'prose', 'How do I use f(a) in tests?', 'How do I use f(b) in tests?'],
  ])('%s: %s', (_, expected, one, other) => {
    expect(veto(one, other)).toBe(expected)
    expect(veto(other, one)).toBe(expected)
  })
})

describe('the project’s own pairs', () => {
  const different = pairs.filter(({ label }) => label === 0)
  const same = pairs.filter(({ label }) => label === 1)

  test('exist', () => {
    expect(different.length).toBeGreaterThan(2_500)
    expect(same.length).toBeGreaterThan(450)
  })

  test.each(different)('normalization separates $a | $b', ({ a, b }) => {
    expect(normalizePrompt(a).normalized).not.toBe(normalizePrompt(b).normalized)
  })

  test.each(same.filter(({ category }) => category === 'specified' || category === 'courtesy'))(
    'normalization equates $a | $b',
    ({ a, b }) => {
      expect(normalizePrompt(a).normalized).toBe(normalizePrompt(b).normalized)
    },
  )

  /** These pairs were written to fool the rules. At real similarities, far fewer of them reach the rules. */
  test('changed in one small place, few pass the rules, whatever their similarity', () => {
    const served = (isSemantic: boolean) =>
      different.filter(
        ({ a, b }) => findVeto(normalizePrompt(a), normalizePrompt(b), near('balanced', isSemantic)) === null,
      )
    expect(served(false).length).toBeLessThan(0.09 * different.length)
    expect(served(true).length).toBeLessThan(0.12 * different.length)
  })

  test('most equal questions are served', () => {
    expect(same.filter(({ a, b }) => isServed(a, b)).length).toBeGreaterThan(0.6 * same.length)
  })
})

/** Pairs that were written before the rules. The rules were tuned on `everyday-1` only, so `everyday-2` shows how well they generalize. */
describe('pairs written before the rules', () => {
  const served = (set: string, label: 0 | 1) => {
    const all = pairs.filter(pair => pair.set === `${set}.jsonl` && pair.label === label)
    const hits = all.filter(
      ({ a, b }) =>
        normalizePrompt(a).normalized === normalizePrompt(b).normalized ||
        findVeto(normalizePrompt(a), normalizePrompt(b), near('balanced', false)) === null,
    )
    return { share: hits.length / all.length, texts: hits.map(({ a, b }) => `${a} ${b}`) }
  }

  test('rejects another preposition of a verb, and a word that moves to another head', () => {
    expect(served('roles', 0).texts).toEqual([
      "What was the criticism of Marx about religion? What was Marx's criticism about religion?",
      'What is the best rice wine? What is the best wine for rice?',
    ])
  })

  test.each(['everyday-1', 'everyday-2'])('for %s, serves most equal questions and few others', set => {
    expect(served(set, 1).share).toBeGreaterThan(0.55)
    expect(served(set, 0).share).toBeLessThan(0.07)
  })

  test('in other languages, serves only questions that differ in courtesy', () => {
    expect(served('languages-2', 1).share).toBe(1)
    expect(served('languages-2', 0).texts).toEqual([])
  })
})

const words = fc.constantFrom(
  ...'how what is are the a do does I you to from not without best way of in on and Paris dog dogs 5 6 kg mW buy sell price my your ? , it can'.split(
    ' ',
  ),
)
const questions = fc.array(words, { minLength: 3, maxLength: 12 }).map(parts => parts.join(' '))

test('raises the threshold and requires vectors of meaning if one of two words differs', () => {
  const [one, other] = [normalizePrompt('How do I repair a tire?'), normalizePrompt('How do I fix a tire?')]
  const vetoAt = (similarity: number, isSemantic = true) =>
    findVeto(one, other, { ...near('balanced', isSemantic), similarity })
  // The threshold is 0.95.
  expect([0.9501, 0.9649, 0.9651].map(each => vetoAt(each))).toEqual(['words', 'words', null])
  expect(vetoAt(0.9999, false)).toBe('words')
  // One different word of three does not raise the threshold.
  expect(veto('How do I repair a flat tire?', 'How do I fix a flat tire?')).toBeNull()
})

test('the verdict is symmetric, and a text equals itself', () => {
  fc.assert(
    fc.property(questions, questions, (one, other) => {
      expect(veto(one, other)).toBe(veto(other, one))
      expect(isServed(one, one)).toBe(true)
    }),
  )
})

describe('never serves a changed word that changes the meaning', () => {
  const topics = fc.constantFrom(
    'a cheap phone plan',
    'green tea leaves',
    'the old harbour bridge',
    'wild mountain flowers',
  )
  const frames = fc.constantFrom(
    (topic: string) => `How do I buy ${topic} %s?`,
    (topic: string) => `What is the best way to find ${topic} %s?`,
    (topic: string) => `Why are ${topic} popular %s?`,
  )
  const swaps = fc.constantFrom(
    ['for 5 dollars', 'for 6 dollars'],
    ['with milk', 'without milk'],
    ['in Oslo', 'in Bergen'],
    ['before dinner', 'after dinner'],
    ['5 mg a day', '5 g a day'],
    ['from Rome to Bern', 'from Bern to Rome'],
    ['for him', 'for her'],
    ['if it rains', 'if it does not rain'],
    ['more than once', 'less than once'],
    ['every week', 'every month'],
  )
  test('numbers, units, names, negations, directions, persons', () => {
    fc.assert(
      fc.property(topics, frames, swaps, (topic, frame, [one = '', other = '']) => {
        const [asked, cached] = [frame(topic).replace('%s', one), frame(topic).replace('%s', other)]
        expect([asked, cached, isServed(asked, cached, 'generous')]).toEqual([asked, cached, false])
      }),
    )
  })
})
