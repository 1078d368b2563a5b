import { describe, expect, test } from 'vitest'
import { isBoardContext, isWhole, readContexts } from '../../../../scripts/evaluate/contexts.ts'
import { classifyPromptContext } from '../../../../src/cache/prompt-text.ts'
import { classifyContext } from '../../../../src/cache/text/context-kind.ts'
import { normalizeInSameContext, normalizePrompt } from '../../../../src/cache/text/normalize-prompt.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import contexts from '../../../fixtures/contexts.json' with { type: 'json' }
import { processorMs } from '../../../harness/processor-time.ts'

const kindOf = (context: unknown) => classifyContext(context).kind
const under = (system: string) => ({ model: 'm', messages: [{ role: 'system', content: system }, { role: 'user' }] })

const labelled = readContexts()
const documents = Array.from({ length: 3 }, () => contexts.documents.join('\n\n')).join('\n\n')

describe('the kinds of system prompts', () => {
  test.each([
    { name: 'single instructions', whole: false, leastFound: 205, mostFalse: 18 },
    { name: 'whole prompts', whole: true, leastFound: 86, mostFalse: 9 },
  ])('of authors of whom nothing was learned: $name', ({ whole, leastFound, mostFalse }) => {
    const board = labelled.filter(context => isBoardContext(context) && isWhole(context) === whole)
    const found = board.filter(({ text }) => kindOf(under(text)) === 'work')
    expect(board.length).toBeGreaterThan(whole ? 390 : 580)
    expect(found.filter(({ label }) => label === 1).length).toBeGreaterThanOrEqual(leastFound)
    expect(found.filter(({ label }) => label === 0).length).toBeLessThanOrEqual(mostFalse)
  })

  test('are learned from the other authors', () => {
    const learned = labelled.filter(context => !isBoardContext(context))
    const wrong = learned.filter(({ text, label }) => (kindOf(under(text)) === 'work') !== (label === 1))
    expect(learned.length).toBeGreaterThan(4_500)
    expect(wrong.length).toBeLessThan(80)
  })
})

describe('a system prompt', () => {
  test('with documents has the kind that it has without them', () => {
    const templates = labelled.map(({ text }) => text).filter(text => text.includes('{documents}'))
    const differs = templates.filter(
      text => kindOf(under(text.replace('{documents}', documents))) !== kindOf(under(text)),
    )
    expect(templates.length).toBeGreaterThanOrEqual(10)
    expect(differs).toEqual([])
  })

  test.each([
    ['a heading', (text: string) => `Answer from the context.\n\nContext:\n${text}\n\nInstructions:\nBe brief.`],
    ['an element', (text: string) => `Answer from the context.\n<context>\n${text}\n</context>\nBe brief.`],
    ['a fenced block', (text: string) => `Answer from the context.\n\`\`\`\n${text}\n\`\`\`\nBe brief.`],
    [
      'a long paragraph',
      (text: string) => `Answer briefly.\n\n${text} ${'The shop is open. '.repeat(50)}\n\nBe brief.`,
    ],
  ])('is not read within %s', (_, quote) => {
    const trap = 'Translate the user’s message into French.'
    expect([kindOf(under(quote(trap))), kindOf(under(quote('Help.')))]).toEqual(['instructions', 'instructions'])
    // Before and after the material, the same sentence is an instruction.
    expect([kindOf(under(`${trap}\n${quote('Help.')}`)), kindOf(under(`${quote('Help.')} ${trap}`))]).toEqual([
      'work',
      'work',
    ])
  })

  test('is read at both ends when it is long', () => {
    const long = 'The shop is open on Monday.\n'.repeat(4_000)
    expect(kindOf(under(long))).toBe('instructions')
    expect(kindOf(under(`Translate what the user writes.\n${long}`))).toBe('work')
    expect(kindOf(under(`${long}Translate what the user writes.`))).toBe('work')
  })
})

describe('reads other parts of the request', () => {
  const turn = (role: string, content: string) => ({ messages: [{ role, content }, { role: 'user' }] })

  test('earlier turns of the user, but not those of the assistant or a tool', () => {
    const sentence = 'From now on, translate everything I write into French.'
    expect(['user', 'developer', 'system'].map(role => kindOf(turn(role, sentence)))).toEqual(Array(3).fill('work'))
    expect(['assistant', 'tool'].map(role => kindOf(turn(role, sentence)))).toEqual(['none', 'none'])
  })

  test('the field `instructions` and descriptions in a schema, but not tools', () => {
    expect(kindOf({ instructions: 'Paraphrase.' })).toBe('work')
    const description = 'Repeat the user’s question.'
    expect(kindOf({ response_format: { json_schema: { schema: { description } } } })).toBe('work')
    expect(kindOf({ tools: [{ function: { description } }] })).toBe('none')
  })
})

describe('a file gives no instructions', () => {
  const beside = (...parts: object[]) => kindOf({ messages: [{ role: 'user', content: parts }] })
  const data = 'translate'.repeat(8_000)

  test.each([
    { type: 'image_url', image_url: { url: 'https://a.example/translate.png', detail: 'low' } },
    { type: 'input_image', image_url: 'https://a.example/convert.png' },
    { type: 'input_file', filename: 'summary.pdf', file_data: data },
    { type: 'file', file: { filename: 'transcript.pdf', file_data: data } },
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    { type: 'image', source: { type: 'url', url: 'https://a.example/translate.png' } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data }, citations: { enabled: true } },
    { type: 'document', source: { type: 'file', file_id: 'translate' } },
  ])('%#', part => {
    expect(beside(part)).toBe('instructions')
    expect(beside(part, { type: 'text', text: 'Translate what it says:' })).toBe('work')
  })

  test.each([
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Translate all that you are asked.' } },
    { type: 'tool_result', tool_use_id: 'c', content: 'Translate all that you are asked.' },
  ])('nor does a document: %#', part => {
    expect(beside(part)).toBe('instructions')
    expect(beside(part, { type: 'text', text: 'Translate the question.' })).toBe('work')
  })
})

test('a text after another may be the text that the other one gives instructions for', () => {
  expect(
    kindOf({
      content: [
        { type: 'text', text: 'Well put?' },
        { type: 'text', text: { taken: 'the following text' } },
      ],
    }),
  ).toBe('work')
})

function normalizePromptText(prompt: { text: string; contextBody: JsonObject }, contextHash: string, owner: string) {
  return normalizePrompt(prompt.text, classifyPromptContext(prompt, contextHash, owner).kind, owner)
}

test('quoted text is equal only if it is identical, also beside normalized text', () => {
  const contextBody = under('Translate into French.')
  const asked = normalizePromptText({ text: 'what is capital of france', contextBody }, 'context', '')
  for (const text of ['What is the capital of France?', 'what is capital of france ', 'What is capital of france']) {
    expect(normalizeInSameContext(asked, text).normalized).not.toBe(asked.normalized)
  }
  expect(normalizeInSameContext(asked, asked.text).normalized).toBe(asked.normalized)
})

test('a correction decides about the instructions with its hash', () => {
  const translator = under('Translate what the user writes.')
  const polite = under('Be polite.')
  const [ofTranslator, ofPolite] = [classifyContext(translator).hash, classifyContext(polite).hash]
  const corrections = [`${ofTranslator}=question`, `${ofPolite}=wording`]
  expect([translator, polite].map(each => classifyContext(each, corrections).kind)).toEqual(['instructions', 'work'])
  expect(classifyContext(under('Translate what I write.'), corrections).kind).toBe('work')
  const turns = { messages: [...translator.messages, { role: 'user', content: 'Paraphrase the text.' }] }
  expect(classifyContext(turns, corrections).kind).toBe('work')
  const [one, other] = ['cup', 'plate'].map(word => `Be polite.\n<documents>A ${word}.</documents>`).map(under)
  expect(classifyContext(one).hash).toBe(classifyContext(other).hash)
})

describe('a question to "you"', () => {
  const shop = under('You are the assistant of Acme, a shop.')
  const read = (text: string, contextBody: object) =>
    normalizePromptText({ text, contextBody: { ...contextBody } }, JSON.stringify(contextBody), '')
  const isSame = (one: string, other: string, context: object) => {
    const asked = read(one, context)
    return asked.normalized === normalizeInSameContext(asked, other).normalized
  }

  test.each([
    ['How do you delete user data?', 'How do I delete user data?'],
    ['How do you calculate interest?', 'How to calculate interest'],
    ['How do you increase your confidence?', 'How do I increase my confidence?'],
  ])('%j differs from %j for an assistant with a persona', (one, other) => {
    expect([isSame(one, other, shop), isSame(other, one, shop)]).toEqual([false, false])
  })

  test('does not separate other wordings', () => {
    expect(isSame('How do I reset a password?', 'How to reset a password', shop)).toBe(true)
  })
})

test.each(['fix ', 'match ', 'same t', 'user’s ', 'a', 'é', '{"a":'])('reads %j, repeated, in linear time', unit => {
  const context = under(unit.repeat(Math.ceil(256_000 / unit.length)))
  expect(Math.min(...Array.from({ length: 3 }, () => processorMs(() => kindOf(context))))).toBeLessThan(20)
  const longest = under(unit.repeat(Math.floor(64_000 / unit.length)))
  expect(Math.min(...Array.from({ length: 3 }, () => processorMs(() => kindOf(longest))))).toBeLessThan(20)
})
