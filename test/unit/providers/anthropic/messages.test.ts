import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../../../src/providers/anthropic/request/translate-request.ts'

type Message = Record<string, unknown>

const PIXEL = 'iVBORw0KGgo='
const PDF = 'JVBERi0xLjQ='
const MARK = { type: 'ephemeral' }

function translate(messages: unknown[], fields: Record<string, unknown> = {}) {
  return translateRequest({ model: 'claude-opus-5-5', messages, ...fields }, { maxOutputTokens: null })
}

function text(content: string, extra: object = {}) {
  return { type: 'text', text: content, ...extra }
}

function user(...content: object[]) {
  return { role: 'user', content }
}

function assistant(...content: object[]) {
  return { role: 'assistant', content }
}

function call(id: string, name = 'f', args: unknown = '{}') {
  return { id, type: 'function', function: { name, arguments: args } }
}

function use(id: string, name = 'f', input: unknown = {}) {
  return { type: 'tool_use', id, name, input }
}

function result(id: string, content?: string) {
  return { type: 'tool_result', tool_use_id: id, ...(content === undefined ? {} : { content: [text(content)] }) }
}

function refused(messages: unknown[], param: string) {
  expect(() => translate(messages)).toThrow(expect.objectContaining({ status: 400, param }))
}

describe('system and developer messages', () => {
  test('move to the front, in their order', () => {
    const { system, messages } = translate([
      { role: 'system', content: 'One' },
      { role: 'user', content: 'Hi' },
      { role: 'developer', content: [text('Two'), text('Three')] },
    ])
    expect(system).toEqual([text('One'), text('Two'), text('Three')])
    expect(messages).toEqual([user(text('Hi'))])
  })

  test('contain only text', () => {
    const image = { type: 'image_url', image_url: { url: 'https://x.test/a.png' } }
    refused(
      [
        { role: 'system', content: [image] },
        { role: 'user', content: 'Hi' },
      ],
      'messages[0].content[0].type',
    )
  })
})

describe('turns', () => {
  test.each<[string, Message[], object[]]>([
    [
      'of one role are merged',
      [
        { role: 'user', content: 'a' },
        { role: 'user', content: [text('b')] },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'e' },
      ],
      [user(text('a'), text('b')), assistant(text('c'), text('d')), user(text('e'))],
    ],
    [
      'without content are omitted',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: '' },
        { role: 'user', content: ' \n' },
        { role: 'assistant', content: null },
        { role: 'user', content: [text(''), text('b')] },
      ],
      [user(text('a'), text('b'))],
    ],
    [
      'begin with the user, even if a greeting came first',
      [
        { role: 'assistant', content: 'Welcome!' },
        { role: 'user', content: 'Hi' },
      ],
      [user(text('(The conversation begins.)')), ...[assistant(text('Welcome!')), user(text('Hi'))]],
    ],
    [
      'are added after instructions alone',
      [{ role: 'system', content: 's' }],
      [user(text('(The conversation begins.)'))],
    ],
    [
      'with refusals contain their text',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'user', content: 'b' },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'Never.' }] },
        { role: 'user', content: 'c' },
      ],
      [user(text('a')), assistant(text('No.')), user(text('b')), assistant(text('Never.')), user(text('c'))],
    ],
    [
      'of the assistant may come last, for models that can continue them',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'Once upon' },
      ],
      [user(text('a')), assistant(text('Once upon'))],
    ],
  ])('%s', (_name, messages, turns) => expect(translate(messages).messages).toEqual(turns))

  test.each<[Message[], string]>([
    [[{ role: 'user', content: '' }], 'messages'],
    [[], 'messages'],
    [[{ role: 'critic', content: 'x' }], 'messages[0].role'],
    [[{ role: 'constructor', content: 'x' }], 'messages[0].role'],
    [[{ role: 'user', content: [{ type: 'video' }] }], 'messages[0].content[0].type'],
    [[{ role: 'user', content: ['x'] }], 'messages[0].content[0]'],
    [[{ role: 'user', content: [{ type: 'text' }] }], 'messages[0].content[0]'],
    [[{ role: 'user', content: 7 }], 'messages[0].content'],
  ])('rejects %j', (messages, param) => refused(messages, param))
})

describe('images and files', () => {
  test.each<[string, object, object]>([
    ['a URL', { image_url: { url: 'https://x.test/a.png' } }, { type: 'url', url: 'https://x.test/a.png' }],
    ['a URL without an object', { image_url: 'https://x.test/a.png' }, { type: 'url', url: 'https://x.test/a.png' }],
    [
      'base64',
      { image_url: { url: `data:image/png;base64,${PIXEL}` } },
      { type: 'base64', media_type: 'image/png', data: PIXEL },
    ],
    [
      'base64 with a parameter, in capitals, of an unknown type',
      { image_url: { url: 'DATA:image/JPG;name=x;BASE64,AAAA' } },
      { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' },
    ],
    ...[
      ['image/png', PIXEL],
      ['image/jpeg', '/9j/4AAQSkZJRg=='],
      ['image/gif', btoa('GIF89a..........')],
      ['image/webp', btoa('RIFF\x24\x00\x00\x00WEBPVP8 ')],
    ].map(([media_type, data]): [string, object, object] => [
      `base64 that says another type than its bytes: ${media_type}`,
      {
        image_url: {
          url: `data:${media_type === 'image/png' ? 'image/jpeg' : 'application/octet-stream'};base64,${data}`,
        },
      },
      { type: 'base64', media_type, data },
    ]),
  ])('an image by %s', (_name, part, source) => {
    const { messages } = translate([{ role: 'user', content: [{ type: 'image_url', ...part }] }])
    expect(messages).toEqual([user({ type: 'image', source })])
  })

  test.each([
    'data:image/tiff;base64,AAAA',
    'data:image/png,AAAA',
    'data:;base64,AAAA',
    'ftp://x.test/a.png',
    'AAAA',
    '',
    'http://x.test/a.png',
  ])('rejects %s for an image', url => {
    refused(
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      'messages[0].content[0].image_url.url',
    )
  })

  test.each([
    [
      'a PDF',
      { file_data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' },
      { type: 'base64', media_type: 'application/pdf', data: PDF },
      'a.pdf',
    ],
    [
      'a PDF without a header',
      { file_data: PDF },
      { type: 'base64', media_type: 'application/pdf', data: PDF },
      undefined,
    ],
    [
      'text',
      { file_data: `data:text/markdown;base64,${btoa('# Hi')}` },
      { type: 'text', media_type: 'text/plain', data: '# Hi' },
      undefined,
    ],
    ['a URL', { file_data: 'https://x.test/a.pdf' }, { type: 'url', url: 'https://x.test/a.pdf' }, undefined],
    ['an id', { file_id: 'file_1' }, { type: 'file', file_id: 'file_1' }, undefined],
  ])('a file that is %s', (_name, file, source, title) => {
    const { messages } = translate([{ role: 'user', content: [{ type: 'file', file }] }])
    expect(messages).toEqual([user({ type: 'document', source, ...(title ? { title } : {}) })])
  })

  test.each([
    { file_data: 'data:application/zip;base64,AAAA' },
    { file_data: 'AAAA' },
    { file_data: 'data:text/plain;base64,/w==' },
    { file_data: 'data:text/plain;base64,*' },
    {},
  ])('rejects the file %j', file => {
    refused([{ role: 'user', content: [{ type: 'file', file }] }], 'messages[0].content[0].file.file_data')
  })
})

describe('calls and their results', () => {
  const ask = { role: 'user', content: 'a' }

  test.each(['{"n":', '[1]', '"x"', 'null'])('sends legacy arguments that are no object as their text: %s', args => {
    const { messages } = translate([
      ask,
      { role: 'assistant', tool_calls: [call('x', 'f', args)] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ])
    expect(messages[1]?.content).toMatchObject([{ type: 'tool_use', name: 'f', input: { arguments: args } }])
  })

  test('become one user turn, results first', () => {
    const { messages } = translate([
      ask,
      { role: 'assistant', content: 'I look', tool_calls: [call('x', 'f', '{"n": 1}'), call('y', 'g')] },
      { role: 'tool', tool_call_id: 'y', content: 'two' },
      { role: 'tool', tool_call_id: 'x', content: [text('one')] },
      { role: 'user', content: 'and?' },
    ])
    expect(messages).toEqual([
      user(text('a')),
      assistant(text('I look'), use('x', 'f', { n: 1 }), use('y', 'g')),
      user(result('y', 'two'), result('x', 'one'), text('and?')),
    ])
  })

  test('may be empty, on both sides', () => {
    const { messages } = translate([
      ask,
      { role: 'assistant', tool_calls: [call('x', 'f', '')] },
      { role: 'tool', tool_call_id: 'x', content: '' },
    ])
    expect(messages.slice(1)).toEqual([assistant(use('x')), user(result('x'))])
  })

  test('keep each digit of their numbers', () => {
    const args = '{"id":12345678901234567890,"share":0.10,"tiny":1e-400}'
    const request = translate([
      ask,
      { role: 'assistant', tool_calls: [call('x', 'f', args)] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ])
    expect(JSON.stringify(request.messages)).toContain('"input":{"id":12345678901234567890,"share":0.1,"tiny":1e-400}')
  })

  test('get distinct ids that Anthropic accepts', () => {
    const { messages } = translate([
      ask,
      { role: 'assistant', tool_calls: [call('call|0/ä'), call('same')] },
      { role: 'tool', tool_call_id: 'same', content: '1' },
      { role: 'tool', tool_call_id: 'call|0/ä', content: '2' },
      { role: 'assistant', tool_calls: [call('same')] },
      { role: 'tool', tool_call_id: 'same', content: '3' },
    ])
    const ids = messages.flatMap(({ content }) =>
      (content as { id?: string; tool_use_id?: string }[]).flatMap(block => block.id ?? block.tool_use_id ?? []),
    )
    const [odd, same, ...rest] = ids
    expect(odd).toMatch(/^call_[0-9a-f]{32}$/)
    expect([same, ...rest]).toEqual(['same', 'same', odd, 'same_2', 'same_2'])
  })

  test('of legacy functions are matched by their names', () => {
    const { messages } = translate(
      [
        ask,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"n":1}' } },
        { role: 'function', name: 'f', content: 'one' },
      ],
      { functions: [{ name: 'f' }] },
    )
    const [called] = (messages[1]?.content ?? []) as { id: string }[]
    const id = called?.id ?? ''
    expect(id).toMatch(/^[\w-]+$/)
    expect(messages.slice(1)).toEqual([assistant(use(id, 'f', { n: 1 })), user(result(id, 'one'))])
  })

  test('tolerate system messages between them', () => {
    const { messages } = translate([
      ask,
      { role: 'assistant', tool_calls: [call('x')] },
      { role: 'system', content: 's' },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ])
    expect(messages.slice(1)).toEqual([assistant(use('x')), user(result('x', '1'))])
  })

  const called = { role: 'assistant', tool_calls: [call('x'), call('y')] }
  const answered = { role: 'tool', tool_call_id: 'x', content: '1' }

  test.each<[string, Message[], string]>([
    ['a call without a result', [ask, called, answered], 'messages[1]'],
    ['a call without a result before the next turn', [ask, called, answered, ask], 'messages[1]'],
    ['a result without a call', [ask, answered], 'messages[1].tool_call_id'],
    ['a result given twice', [ask, called, answered, answered], 'messages[3].tool_call_id'],
    ['a result without an id', [ask, called, { role: 'tool', content: '1' }], 'messages[2].tool_call_id'],
    ['a legacy result of another', [ask, called, { role: 'function', name: 'z', content: '1' }], 'messages[2].name'],
    [
      'arguments that are not text',
      [ask, { role: 'assistant', tool_calls: [call('x', 'f', {})] }],
      'messages[1].tool_calls[0].function.arguments',
    ],
    [
      'a custom call',
      [ask, { role: 'assistant', tool_calls: [{ id: 'x', type: 'custom', custom: {} }] }],
      'messages[1].tool_calls[0]',
    ],
  ])('rejects %s', (_name, messages, param) => refused(messages, param))
})

describe('marks of the prompt cache', () => {
  test('stay with parts, messages, calls and results', () => {
    const { system, messages } = translate([
      { role: 'system', content: 's', cache_control: MARK },
      { role: 'user', content: [text('a', { cache_control: MARK }), text('b')] },
      { role: 'assistant', content: 'c', tool_calls: [call('x')], cache_control: MARK },
      { role: 'tool', tool_call_id: 'x', content: '1', cache_control: MARK },
    ])
    expect(system).toEqual([text('s', { cache_control: MARK })])
    expect(messages).toEqual([
      user(text('a', { cache_control: MARK }), text('b')),
      assistant(text('c'), { ...use('x'), cache_control: MARK }),
      user({ ...result('x', '1'), cache_control: MARK }),
    ])
  })

  test.each([
    [{ type: 'forever' }, 'messages[0].content[0].cache_control.type'],
    [{ type: 'ephemeral', ttl: '2d' }, 'messages[0].content[0].cache_control.ttl'],
    [true, 'messages[0].content[0].cache_control'],
  ])('rejects %j', (cache_control, param) => {
    refused([{ role: 'user', content: [text('a', { cache_control })] }], param)
  })
})

describe('reasoning', () => {
  const thought = { type: 'thinking', thinking: 'Hm', signature: 's' }
  const hidden = { type: 'redacted_thinking', data: 'd' }
  const ask = { role: 'user', content: 'a' }
  const thoughtful = {
    role: 'assistant',
    content: 'I look',
    tool_calls: [call('x')],
    thinking_blocks: [
      { ...hidden, index: 2 },
      { ...thought, index: 0 },
    ],
  }
  const answer = { role: 'tool', tool_call_id: 'x', content: '1' }
  const withThoughts = assistant(thought, text('I look'), hidden, use('x'))
  const without = assistant(text('I look'), use('x'))

  test('is returned to its place while its calls are answered', () => {
    expect(translate([ask, thoughtful, answer]).messages[1]).toEqual(withThoughts)
  })

  test('of the whole exchange of calls and results is returned', () => {
    const again = { ...thoughtful, tool_calls: [call('z')] }
    const { messages } = translate([ask, thoughtful, answer, again, { ...answer, tool_call_id: 'z' }])
    expect(messages[1]).toEqual(withThoughts)
    expect(messages[3]).toEqual(assistant(thought, text('I look'), hidden, use('z')))
  })

  test.each<[string, Message[], Record<string, unknown>]>([
    ['a finished turn', [ask, thoughtful, answer, { role: 'assistant', content: 'b' }, ask], {}],
    ['another system prompt', [ask, thoughtful, { role: 'system', content: 's' }, answer], {}],
    ['a request without reasoning', [ask, thoughtful, answer], { model: 'claude-haiku-5-5', reasoning_effort: 'none' }],
    ['a model that does not think by default', [ask, thoughtful, answer], { model: 'claude-opus-4-8' }],
    [
      'another vendor, without a signature',
      [ask, { ...thoughtful, thinking_blocks: [{ type: 'thinking', thinking: 'x' }, 7] }, answer],
      {},
    ],
  ])('is omitted in %s', (_name, messages, fields) => {
    expect(translate(messages, fields).messages[1]).toEqual(without)
  })

  test('alone is no turn', () => {
    const { messages } = translate([ask, { role: 'assistant', content: null, thinking_blocks: [thought] }, ask])
    expect(messages).toEqual([user(text('a'), text('a'))])
  })

  test('that a client lost is omitted for a model with a reasoning budget', () => {
    const fields = { model: 'claude-haiku-4-5', reasoning_effort: 'low' }
    const lost = { ...thoughtful, thinking_blocks: undefined }
    expect(translate([ask, lost, answer], fields)).not.toHaveProperty('thinking')
    expect(translate([ask, thoughtful, answer], fields)).toHaveProperty('thinking')
    expect(translate([ask, lost, answer, { role: 'assistant', content: 'b' }, ask], fields)).toHaveProperty('thinking')
  })
})
