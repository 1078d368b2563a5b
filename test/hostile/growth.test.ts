/** Functions that read text of clients or providers take time in proportion to its length. `any-place.test.ts` tests whole requests. */
import { expect, test } from 'vitest'
import { hasEventName } from '../../src/formats/sse/sse.ts'
import { createStopSequenceFilter } from '../../src/formats/stop-sequence-filter.ts'
import { referenceKindOf } from '../../src/formats/stored-object-references.ts'
import { createNotFoundError, resolveTarget } from '../../src/http/paths.ts'
import { hashPersonalId } from '../../src/providers/anthropic/request/translate-request.ts'
import { createCodeFenceRemover, removeCodeFence } from '../../src/providers/anthropic/response/remove-code-fence.ts'
import { findGrowth } from '../harness/growth.ts'
import { HOSTILE_SHAPES } from '../harness/hostile-texts.ts'
import { SEEDED_DETECTOR } from '../harness/vendors.ts'

const CHARS = 20_000

/** In pieces, as in a stream. */
function pushAll(push: (piece: string) => unknown, text: string): void {
  for (let at = 0; at < text.length; at += 8) push(text.slice(at, at + 8))
}

const READERS: Record<string, (text: string) => unknown> = {
  'the name of a field': text => referenceKindOf(text),
  'the name of an event': text => hasEventName(Buffer.from(`event:${text}`), ['error']),
  'a path': text => [resolveTarget(`/${text}`, SEEDED_DETECTOR), createNotFoundError(`/v1beta/models/${text}/`)],
  'a user’s id': text => [hashPersonalId(text), hashPersonalId(`a@a${text} a`), hashPersonalId(`+1${text}x`)],
  'a fenced answer': text => [removeCodeFence(text), removeCodeFence(`\`\`\`json\n${text}`)],
  'a fenced stream': text => pushAll(createCodeFenceRemover().push, text),
  'a fenced stream’s inside': text => pushAll(createCodeFenceRemover().push, `\`\`\`json\n${text}`),
  'a stream with stop sequences': text =>
    pushAll(createStopSequenceFilter([`${' '.repeat(99)}\n`, `${'\n'.repeat(99)}\t`]).push, text),
}

test.each(Object.entries(READERS))('%s', (_, read) => {
  for (const { name, write } of HOSTILE_SHAPES) {
    const growth = findGrowth(CHARS, chars => read(write(chars)))
    if (growth !== null) expect.fail(`${name}: ${growth}`)
  }
})
