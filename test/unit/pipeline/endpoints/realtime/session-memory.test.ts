import { expect, test, vi } from 'vitest'
import { StreamMemory } from '../../../../../src/event-loop/stream-memory.ts'
import { MAX_UNSENT_BYTES, SessionMemory } from '../../../../../src/pipeline/endpoints/realtime/session-memory.ts'

const MIB = 1024 * 1024

function openSession(memory: StreamMemory) {
  const waiting = { toClient: 0, toProvider: 0 }
  const [onSlowClient, onSlowProvider] = [vi.fn(), vi.fn()]
  const session = new SessionMemory(memory, { countUnsentBytes: () => waiting, onSlowClient, onSlowProvider })
  const wait = (bytes: Partial<typeof waiting>) => {
    Object.assign(waiting, bytes)
    session.measure()
  }
  return { session, waiting, wait, onSlowClient, onSlowProvider }
}

test('counts what waits in both directions, and releases it as it is read', () => {
  const memory = new StreamMemory(100 * MIB)
  const { session, wait } = openSession(memory)
  wait({ toClient: 3 * MIB, toProvider: 2 * MIB })
  expect(memory.heldBytes).toBe(5 * MIB)
  wait({ toClient: MIB })
  expect(memory.heldBytes).toBe(3 * MIB)
  session.close()
  expect(memory.heldBytes).toBe(0)
})

test('each direction has its own limit', () => {
  const memory = new StreamMemory(100 * MIB)
  const { wait, onSlowClient, onSlowProvider } = openSession(memory)
  wait({ toClient: MAX_UNSENT_BYTES, toProvider: MAX_UNSENT_BYTES })
  expect([onSlowClient.mock.calls.length, onSlowProvider.mock.calls.length]).toEqual([0, 0])
  wait({ toProvider: MAX_UNSENT_BYTES + 1 })
  expect([onSlowClient.mock.calls.length, onSlowProvider.mock.calls.length]).toEqual([0, 1])
  wait({ toClient: MAX_UNSENT_BYTES + 1 })
  expect(onSlowClient).toHaveBeenCalledTimes(1)
})

test('in a full budget, disconnects a client with much unread data at once, but not one that reads', () => {
  const memory = new StreamMemory(4 * MIB)
  const [slow, steady, talking] = [openSession(memory), openSession(memory), openSession(memory)]
  slow.wait({ toClient: 4 * MIB })
  steady.wait({ toClient: MIB })
  talking.wait({ toProvider: 2 * MIB })
  expect(memory.isFull).toBe(true)
  expect([steady.onSlowClient.mock.calls.length, talking.onSlowProvider.mock.calls.length]).toEqual([0, 1])
  slow.wait({ toClient: 5 * MIB })
  expect(slow.onSlowClient).toHaveBeenCalledTimes(1)
  expect(memory.disconnects).toBe(1)
  for (const { session } of [slow, steady, talking]) session.close()
})

test('data read by the runtime alone does not fill a budget', () => {
  const memory = new StreamMemory(4 * MIB)
  const [read, other] = [openSession(memory), openSession(memory)]
  read.wait({ toClient: 3 * MIB })
  read.waiting.toClient = 0
  other.wait({ toClient: 2 * MIB })
  expect([memory.isFull, memory.heldBytes]).toEqual([false, 2 * MIB])
  expect(other.onSlowClient).not.toHaveBeenCalled()
})
