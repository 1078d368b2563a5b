import { expect, test } from 'vitest'
import { findSearches } from '../../scripts/check-raw-text.ts'

const linesOf = (source: string) => findSearches('one.ts', source)

test.each([
  [`if (bodyText.includes('mp1.')) unpack()`],
  [`const bytes = Buffer.from(json.buffer)\nWORDS.some(word => bytes.includes(word))`],
  [`const REFERS = /"image_url"/\nREFERS.test(request)`],
  [`const PACKED = \`"\${NAME}\`\nbodyText.includes(PACKED)`],
  [`const body = parseJson(text)\ntext.startsWith('data')`],
  [`const named = JSON.parse(given)\ngiven.match(/model/)`],
  [`new TextDecoder().decode(bytes).indexOf('model')`],
  [`request.bodyBytes.indexOf('model')`],
  [`const WATCHED = new RegExp(\`"(?:\${NAMES})"\`)\nWATCHED.exec(event)`],
])('rejects %s', source => {
  expect(linesOf(source)).toHaveLength(1)
})

test.each([
  [`const LINE_FEED = 10\nbytes.indexOf(LINE_FEED)`],
  [`bodyText.indexOf('{')`],
  [`const isBlank = /^[\\s]*$/.test(bodyText)`],
  [`const body = parseJson(text)\nbody.model.includes('gpt')`],
  [`message.content.includes('mp1.')`],
  [`// raw text: markup is no JSON.\nbodyText.startsWith('<html')`],
  [`bytes.equals(other)`],
])('accepts %s', source => {
  expect(linesOf(source)).toEqual([])
})

test('an exception must have a reason', () => {
  expect(linesOf(`// raw text:\nbodyText.startsWith('<html')`)).toEqual([2])
})
