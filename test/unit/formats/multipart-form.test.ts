import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findFormFields, parseMultipartForm, readFormValue, setFormValue } from '../../../src/formats/multipart-form.ts'

/** Encodes a form as `fetch` does. */
async function write(form: FormData): Promise<{ bytes: Uint8Array; type: string }> {
  const written = new Response(form)
  const type = written.headers.get('content-type') ?? ''
  return { bytes: await written.bytes(), type }
}

const parse = (bytes: Uint8Array, type: string) => new Response(bytes, { headers: { 'content-type': type } }).formData()

const form = (...parts: string[]) => Buffer.from(`${parts.map(part => `--b\r\n${part}\r\n`).join('')}--b--\r\n`)
const field = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`
const read = (bytes: Uint8Array, type = 'multipart/form-data; boundary=b') => parseMultipartForm(bytes, type)

test('finds names, values and files at their positions', async () => {
  const given = new FormData()
  given.append('file', new Blob([new Uint8Array([0, 13, 10, 45, 45, 255])]), 'a;b".wav')
  given.append('model', 'whisper-1')
  given.append('prompt', 'Zürich\r\n--')
  given.append('include[]', 'a')
  given.append('include[]', 'b')
  const { bytes, type } = await write(given)
  const read = parseMultipartForm(bytes, type)
  expect(read.parts.map(part => [part.name, part.isFile])).toEqual([
    ['file', true],
    ['model', false],
    ['prompt', false],
    ['include[]', false],
    ['include[]', false],
  ])
  const [file] = read.parts
  expect([...bytes.subarray(file?.start, file?.end)]).toEqual([0, 13, 10, 45, 45, 255])
  expect(findFormFields(read, 'prompt').map(part => readFormValue(read, part))).toEqual(['Zürich\r\n--'])
})

test('inserts another value in the place of the first, or in front', async () => {
  const given = new FormData()
  given.append('file', new Blob(['sound']), 'a.wav')
  const { bytes, type } = await write(given)
  const added = setFormValue(parseMultipartForm(bytes, type), 'model', 'openai/whisper-1')
  expect((await parse(added, type)).get('model')).toBe('openai/whisper-1')
  const replaced = await parse(setFormValue(parseMultipartForm(added, type), 'model', 'tiny'), type)
  expect(replaced.getAll('model')).toEqual(['tiny'])
  expect(await (replaced.get('file') as File).text()).toBe('sound')
})

test('reads any form as fetch does', async () => {
  const value = fc.string({ unit: 'grapheme', maxLength: 20 }).filter(text => !/[\r\n]/.test(text))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.stringMatching(/^[\w[\]-]{1,8}$/), value)), async entries => {
      const given = new FormData()
      for (const [name, text] of entries) given.append(name, text)
      // No client sends a form without parts.
      given.append('last', 'x')
      const { bytes, type } = await write(given)
      const found = parseMultipartForm(bytes, type)
      expect(found.parts.map(part => [part.name, readFormValue(found, part)])).toEqual([...entries, ['last', 'x']])
    }),
  )
})

describe('rejects what could be read in two ways', () => {
  test.each([
    ['no boundary', form(field('model', 'a')), 'multipart/form-data'],
    ['two boundaries', form(field('model', 'a')), 'multipart/form-data; boundary=b; boundary=c'],
    ['another boundary', form(field('model', 'a')), 'multipart/form-data; boundary=c'],
    ['text before the first part', Buffer.concat([Buffer.from('x'), form(field('model', 'a'))]), undefined],
    ['text after the last part', Buffer.concat([form(field('model', 'a')), Buffer.from('x')]), undefined],
    ['no closing boundary', Buffer.from(`--b\r\n${field('model', 'a')}`), undefined],
    ['a boundary inside a value', form(field('model', 'a--b')), undefined],
    [
      'a boundary after a bare line feed',
      form(field('x', 'y\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nz')),
      undefined,
    ],
    ['a longer boundary', Buffer.from(`--bb\r\n${field('model', 'a')}\r\n--bb--`), undefined],
    ['padding after a boundary', Buffer.from(`--b \r\n${field('model', 'a')}\r\n--b--`), undefined],
    ['no disposition', form('Content-Type: text/plain\r\n\r\na'), undefined],
    ['two dispositions', form(`Content-Disposition: form-data; name="x"\r\n${field('model', 'a')}`), undefined],
    ['two names', form('Content-Disposition: form-data; name="x"; name="model"\r\n\r\na'), undefined],
    ['a name in several pieces', form('Content-Disposition: form-data; name*0=mo; name*1=del\r\n\r\na'), undefined],
    ['a folded header', form('Content-Disposition: form-data;\r\n name="model"\r\n\r\na'), undefined],
    ['an escaped name', form('Content-Disposition: form-data; name="mod\\el"\r\n\r\na'), undefined],
    ['an open quote', form('Content-Disposition: form-data; name="model\r\n\r\na'), undefined],
    ['no header', form('\r\na'), undefined],
    ['an empty body', Buffer.alloc(0), undefined],
  ])('%s', (_, bytes, type) => {
    expect(() => read(bytes, type)).toThrow(expect.objectContaining({ status: 400 }))
  })
})
