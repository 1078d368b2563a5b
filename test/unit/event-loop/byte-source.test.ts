import { expect, test, vi } from 'vitest'
import { ENDED, sourceOf } from '../../../src/event-loop/byte-source.ts'

function openSource(parts: number) {
  let read = 0
  const cancel = vi.fn(async () => {})
  const source = sourceOf({
    read: async () => (read++ < parts ? { done: false, value: Uint8Array.of(read) } : ENDED),
    cancel,
  })
  return { source, cancel }
}

test('a loop reads a source to its end', async () => {
  const { source, cancel } = openSource(3)
  const seen: number[] = []
  for await (const part of source) seen.push(...part)
  expect(seen).toEqual([1, 2, 3])
  expect(cancel).not.toHaveBeenCalled()
})

test('a loop that is left cancels the source', async () => {
  const { source, cancel } = openSource(3)
  for await (const part of source) if (part[0] === 2) break
  expect(cancel).toHaveBeenCalledTimes(1)
})

test('a source is a body', async () => {
  const { source } = openSource(2)
  expect(await new Response(source).bytes()).toEqual(Uint8Array.of(1, 2))
})
