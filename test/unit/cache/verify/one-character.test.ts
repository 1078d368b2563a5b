import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import { verifyPair } from '../../../../src/cache/verify/verify.ts'

function isServed(asked: string, cached: string): boolean {
  const [one, other] = [normalizePrompt(asked), normalizePrompt(cached)]
  if (one.normalized === other.normalized) return true
  const { score, veto } = verifyPair(one, other, 'balanced')
  return veto === null && score > 0.95
}

const name = fc.string({ unit: fc.constantFrom(...'abcdefghxyzABCXYZ_'), minLength: 2, maxLength: 7 })
const whole = fc.integer({ min: 2, max: 99_999 })
const units = fc.constantFrom('mW', 'MW', 'kg', 'Kg', '%', '°C', 'mg', 'µg', 'GB', 'Gb', 'm/s', 'ml', 'h', 'px')
const money = fc.constantFrom('$', '€', '£')

/** Texts in which every character matters, wherever they stand in the question. */
const payloads: Readonly<Record<string, fc.Arbitrary<string>>> = {
  code: fc.tuple(name, name, whole).map(([a, b, n]) => `\`${a}.${b}(${n})\``),
  call: fc.tuple(name, name).map(([a, b]) => `${a}(${b})`),
  comparison: fc.tuple(name, fc.constantFrom('==', '!=', '<=', '=>', '=', '&&'), name).map(parts => parts.join(' ')),
  flag: fc.tuple(fc.constantFrom('git', 'rm', 'tar'), name).map(([command, flag]) => `${command} -${flag}`),
  path: fc.tuple(name, name).map(([a, b]) => `/${a}/${b}.txt`),
  json: fc.tuple(name, whole).map(([a, n]) => `{"${a}": ${n}}`),
  rows: fc.tuple(name, whole, name).map(([a, n, b]) => `${a},${n},${b}`),
  quotation: fc.tuple(name, name).map(([a, b]) => `"${a} ${b}"`),
  measure: fc.tuple(whole, units).map(([n, unit]) => `${n}${unit}`),
  decimal: fc.tuple(whole, whole).map(([n, m]) => `${n}.${m}`),
  price: fc.tuple(money, whole).map(([sign, n]) => `${sign}${n}`),
  version: fc.tuple(whole, whole, whole).map(parts => `v${parts.join('.')}`),
  date: fc
    .tuple(fc.integer({ min: 10, max: 28 }), fc.integer({ min: 10, max: 12 }), fc.integer({ min: 1900, max: 2099 }))
    .map(parts => parts.join('/')),
  time: fc.tuple(fc.integer({ min: 10, max: 23 }), fc.integer({ min: 10, max: 59 })).map(parts => parts.join(':')),
  acronym: fc.string({ unit: fc.constantFrom(...'BCDFGHJKLMQ'), minLength: 3, maxLength: 5 }),
  formula: fc.constantFrom('H2SO4', 'NaCl', 'C6H12O6', 'Fe2O3', 'CuSO4'),
  address: fc.tuple(name, name).map(([a, b]) => `${a}@${b}.org`),
  emoji: fc.constantFrom('👍🏿', '😀', '🇩🇪', '❤️'),
  foreign: fc.constantFrom('naïve', 'straße', 'łaska', 'señor', 'привет', '你好', 'なに', 'مرحبا', 'कल'),
}

const frames = fc.constantFrom(
  (payload: string) => `What is ${payload}?`,
  (payload: string) => `Hi, what is ${payload}? Thanks!`,
  (payload: string) => `How do I use ${payload} with tea?`,
  (payload: string) => `Could you please explain ${payload}`,
  (payload: string) => `What does ${payload} mean?`,
  (payload: string) => `What is the difference between ${payload} and water?`,
  (payload: string) => `Which is the best ${payload} for kids?`,
  (payload: string) => `How much does ${payload} cost in the US?`,
  (payload: string) => `Is ${payload} safe or not?`,
  (payload: string) => `Write a poem about ${payload}, please.`,
  (payload: string) => `Who invented ${payload}?`,
  (payload: string) => `Translate: ${payload}`,
  (payload: string) => `Fix this:\n${payload}`,
  (payload: string) => `Was ist ${payload}?`,
  (payload: string) => `Qu'est-ce que ${payload} ?`,
  (payload: string) => `¿Qué es ${payload}?`,
  (payload: string) => `${payload} 是什么？`,
)

/** Changes of one character: replace, delete, insert, swap with the next, change the case, and double. */
const changes: ReadonlyArray<(text: string, at: number, character: string) => string> = [
  (text, at, character) => text.slice(0, at) + character + text.slice(at + 1),
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at, character) => text.slice(0, at) + character + text.slice(at),
  (text, at) => text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2),
  (text, at) => text.slice(0, at) + swapCase(text[at] ?? '') + text.slice(at + 1),
  (text, at) => text.slice(0, at) + (text[at] ?? '') + text.slice(at),
]

function swapCase(character: string): string {
  return character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase()
}

/** Removes the differences that never matter: the amount of white space, and punctuation at the end. */
const gist = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\s?!.,]+$/, '')

describe('rejects questions that differ in one character', () => {
  test.each(Object.entries(payloads))('in %s', (_, payload) => {
    const character = fc.constantFrom(...'aZ07-_.,:\'"/ é’́\u200b')
    fc.assert(
      fc.property(
        frames,
        payload,
        fc.nat(),
        character,
        fc.constantFrom(...changes),
        (frame, written, place, other, change) => {
          const changed = change(written, place % written.length, other)
          fc.pre(changed.trim() !== '' && gist(changed) !== gist(written))
          expect([frame(written), frame(changed), isServed(frame(written), frame(changed))]).toEqual([
            frame(written),
            frame(changed),
            false,
          ])
        },
      ),
    )
  })
})
