/** What reads text that a client or a provider chose takes time in proportion to its length. `any-place.test.ts` tries whole requests. */
import { expect, test } from 'vitest'
import { kindOf } from '../../src/formats/kept-references.ts'
import { namesEvent } from '../../src/formats/sse/sse.ts'
import { notFound } from '../../src/http/elsewhere.ts'
import { readPath } from '../../src/http/paths.ts'
import { createTextStopper } from '../../src/providers/anthropic/answer/stop-text.ts'
import { createUnfencer, unfence } from '../../src/providers/anthropic/answer/unfence.ts'
import { hidePerson } from '../../src/providers/anthropic/request/hide-person.ts'
import { findGrowth } from '../harness/growth.ts'
import { HOSTILE_SHAPES } from '../harness/hostile-texts.ts'

const CHARS = 20_000

/** In pieces, as a stream brings it. */
function pushAll(push: (piece: string) => unknown, text: string): void {
  for (let at = 0; at < text.length; at += 8) push(text.slice(at, at + 8))
}

const READERS: Record<string, (text: string) => unknown> = {
  'the name of a field': text => kindOf(text),
  'the name of an event': text => namesEvent(Buffer.from(`event:${text}`), ['error']),
  'a path': text => [readPath(`/${text}`), notFound(`/v1beta/models/${text}/`)],
  'a user’s id': text => [hidePerson(text), hidePerson(`a@a${text} a`), hidePerson(`+1${text}x`)],
  'a fenced answer': text => [unfence(text), unfence(`\`\`\`json\n${text}`)],
  'a fenced stream': text => pushAll(createUnfencer().push, text),
  'a fenced stream’s inside': text => pushAll(createUnfencer().push, `\`\`\`json\n${text}`),
  'a stream with stop sequences': text =>
    pushAll(createTextStopper([`${' '.repeat(99)}\n`, `${'\n'.repeat(99)}\t`]).push, text),
}

test.each(Object.entries(READERS))('%s', (_, read) => {
  for (const { name, write } of HOSTILE_SHAPES) {
    const growth = findGrowth(CHARS, chars => read(write(chars)))
    if (growth !== null) expect.fail(`${name}: ${growth}`)
  }
})
