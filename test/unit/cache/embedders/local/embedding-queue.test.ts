import { expect, test } from 'vitest'
import { createEmbeddingQueue } from '../../../../../src/cache/embedders/local/embedding-queue.ts'
import type { ModelChildProcess } from '../../../../../src/cache/embedders/local/model-child-process.ts'
import { hasSettled } from '../../../../harness/event-loop.ts'

const VECTOR = Float32Array.of(1)

/** Creates a queue with a fake model process that responds when the test calls `answer`. */
function start() {
  const queue = createEmbeddingQueue()
  const sent: { id: number; text: string }[] = []
  const model = {
    send: (ask: { id: number; text: string }) => sent.push(ask),
    kill() {},
  } as unknown as ModelChildProcess
  queue.setProcess(model)
  const answer = (at: number) => queue.settle(sent[at]?.id ?? 0, VECTOR)
  const texts = () => sent.map(({ text }) => text).join(' ')
  return { queue, answer, texts }
}

test('embeds texts that a request of the same owner awaits before texts in the background', () => {
  const { queue, answer, texts } = start()
  for (const text of ['a', 'b', 'c', 'd', 'e']) void queue.addLowPriority(text, `owner ${text}`)
  queue.raisePriority('owner e')
  queue.raisePriority('another owner d')
  answer(0)
  answer(1)
  expect(texts()).toBe('a b e c')
  queue.clear()
})

test('bounds the background texts', async () => {
  const { queue } = start()
  const made = Array.from({ length: 10_003 }, (_, at) => queue.addLowPriority(`${at}`, `${at}`))
  expect(await Promise.race([made[10_002], 'waits'])).toBeNull()
  expect(await hasSettled(made[10_001] ?? null)).toBe(false)
  queue.clear()
  expect(await Promise.all(made)).not.toContain(VECTOR)
})
