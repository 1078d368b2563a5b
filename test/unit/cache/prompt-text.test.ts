import { describe, expect, test } from 'vitest'
import { classifyPromptContext, extractPromptText } from '../../../src/cache/prompt-text.ts'
import { normalizePrompt } from '../../../src/cache/text/normalize-prompt.ts'
import type { JsonObject } from '../../../src/formats/json/canonical.ts'
import applicationPrompts from '../../fixtures/application-prompts.json' with { type: 'json' }
import { processorMs } from '../../harness/processor-time.ts'

const chat = (...messages: unknown[]) => extractPromptText('chat', { model: 'm', messages })

function normalizePromptText(prompt: { text: string; contextBody: JsonObject }, contextHash: string, owner: string) {
  return normalizePrompt(prompt.text, classifyPromptContext(prompt, contextHash, owner).kind, owner)
}

test('the last user message’s text is the question; everything else is context', () => {
  const system = { role: 'system', content: 'Be brief.' }
  const one = chat(system, { role: 'user', content: 'What is it?' })
  const other = chat(system, { role: 'user', content: 'What was it?' })
  expect(one?.text).toBe('What is it?')
  expect(one?.contextBody).toEqual(other?.contextBody)
  expect(JSON.stringify(one?.contextBody)).not.toContain('What is it')
})

test('images stay in the context, texts beside them are the question', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })
  const asked = (url: string) => chat({ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image(url)] })
  expect(asked('a')?.text).toBe('What is this?')
  expect(asked('a')?.contextBody).not.toEqual(asked('b')?.contextBody)
})

test('does not join texts: earlier ones are context, and may contain instructions for the last', () => {
  const texts = (...all: string[]) => chat({ role: 'user', content: all.map(text => ({ type: 'text', text })) })
  const [one, other] = [texts('Count words.', 'One\nTwo'), texts('Count words.\nOne', 'Two')]
  expect([one?.text, other?.text, one?.message]).toEqual(['One\nTwo', 'Two', other?.message])
  expect(one?.contextBody).not.toEqual(other?.contextBody)
  const beside = texts('Is this a good headline?', 'How do I bake bread?')
  expect(beside && normalizePromptText(beside, 'after a text', '').normalized).toBe('How do I bake bread?')
})

test('a name, or another role beside the text, is context', () => {
  expect(chat({ role: 'user', content: 'x', name: 'a' })?.contextBody).not.toEqual(
    chat({ role: 'user', content: 'x', name: 'b' })?.contextBody,
  )
})

test.each([
  ['the last message is the assistant’s', [{ role: 'assistant', content: 'x' }]],
  ['the last message is a tool’s result', [{ role: 'tool', tool_call_id: 'c', content: 'x' }]],
  ['there is only an image', [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'a' } }] }]],
  ['the text is blank', [{ role: 'user', content: ' \n' }]],
  ['the text is a document', [{ role: 'user', content: 'x'.repeat(16_001) }]],
  ['the database cannot store the text', [{ role: 'user', content: 'a\0b' }]],
  [
    'the message also contains a document',
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x'.repeat(16_001) },
          { type: 'text', text: 'x' },
        ],
      },
    ],
  ],
  ['the text contains half a surrogate pair', [{ role: 'user', content: 'a\ud800b' }]],
])('matches nothing by similarity if %s', (_, messages) => {
  expect(chat(...messages)).toBeNull()
})

describe('a prompt of an application', () => {
  const { templates, rewordings, nearMisses } = applicationPrompts
  const read = (content: string) => {
    const prompt = chat({ role: 'user', content })
    const context = JSON.stringify(prompt?.contextBody)
    return { context, normalized: prompt && normalizePromptText(prompt, context, '').normalized, prompt }
  }
  const isEqual = ([one = '', other = '']: string[]) => {
    const [ours, theirs] = [read(one), read(other)]
    return ours.context === theirs.context && ours.normalized === theirs.normalized
  }

  test.each(templates)('has one question, whose rewordings are equal: %j', template => {
    const prompts = rewordings.map(pair => pair.map(question => template.replace('{q}', () => question)))
    expect(prompts.filter(pair => !isEqual(pair))).toEqual([])
    for (const [asked = ''] of prompts) {
      const { prompt, context } = read(asked)
      // Nothing of the message is lost.
      const [, parts = ''] = /"template":(\[.*?"\])\}/.exec(context) ?? []
      expect(JSON.parse(parts).join(prompt?.text)).toBe(asked)
    }
  })

  test.each(nearMisses)('is not equal with another template, wording or question: %j, %j', (...pair) => {
    expect(isEqual(pair)).toBe(false)
  })

  test.each([
    ['several questions', 'You are a bot.\nQuestion: How long?\nQuestion: How wide?\nAnswer briefly.'],
    ['several texts that are no questions', 'You are a bot.\nQuery: boil an egg\nQuery: fry an egg\nAnswer briefly.'],
    ['several enclosed texts', 'You are a bot.\n<user>boil an egg</user>\n<user>fry an egg</user>\nAnswer briefly.'],
    ['a question beside the enclosed one', 'What is asked here?\n<question>How long?</question>\nAnswer briefly.'],
    ['a question that is a document', `You are a bot.\nQuestion: ${'a '.repeat(400)}\nAnswer briefly.`],
    ['no instruction', 'My dog is ill.\nHow do I boil an egg?\nIt barks.'],
    ['a label alone', 'Question: How do I boil an egg?'],
    ['a question about the text beside it', 'You are a bot. What does this mean: a b c? Answer in the following form.'],
    ['an instruction that refers to the text beside it', 'Answer in the following form. How do I boil an egg?'],
    ['a question named as a text', 'You are a bot. Say more about this text.\n"""How long?"""'],
  ])('with %s stays whole', (_, content) => {
    expect(chat({ role: 'user', content })).toMatchObject({ text: content, message: content })
  })

  test.each(['\n', ' ', '"""', '<question>a', 'question ', 'q:\n', '. ', 'answer: ', '# question\n', 'a?', '? '])(
    'of %j, repeated, is read in linear time',
    unit => {
      const content = unit.repeat(16_000 / unit.length)
      const times = Array.from({ length: 3 }, () => processorMs(() => chat({ role: 'user', content })))
      expect(Math.min(...times)).toBeLessThan(20)
    },
  )
})

describe('of a Responses request', () => {
  test('reads an input that is one text, and the last text of a last user message', () => {
    expect(extractPromptText('responses', { model: 'm', input: 'x' })).toEqual({
      text: 'x',
      message: 'x',
      template: null,
      contextBody: { model: 'm', input: [{ role: 'user', content: { taken: true } }] },
    })
    const first = { role: 'user', content: 'a' }
    const image = { type: 'input_image', image_url: 'u' }
    const last = {
      role: 'user',
      content: [{ type: 'input_text', text: 'b' }, image, { type: 'input_text', text: 'c' }],
    }
    const content = [{ type: 'text', text: 'b' }, image, { type: 'text', text: { taken: true } }]
    expect(extractPromptText('responses', { model: 'm', input: [first, last] })).toEqual({
      text: 'c',
      message: 'b\nc',
      template: null,
      contextBody: { model: 'm', input: [first, { role: 'user', content }] },
    })
  })

  test.each([
    [[{ role: 'assistant', content: 'x' }]],
    [[{ type: 'function_call_output', call_id: 'c', output: 'x', role: 'user' }]],
    [[{ type: 'of the future', role: 'user', content: 'x' }]],
    [[{ role: 'user', content: [{ type: 'input_image', image_url: 'u' }] }]],
    [[]],
    [null],
  ])('finds none in %j', input => {
    expect(extractPromptText('responses', { model: 'm', input })).toBeNull()
  })
})
