import { expect, test } from 'vitest'
import { StatementScheduler } from '../../../src/postgres/statement-scheduler.ts'

/** Statements that were sent, in order; each gets its reply by `reply`. */
function watch(order: StatementScheduler) {
  const sent: string[] = []
  const replies = new Map<string, (error?: Error) => void>()
  return {
    sent,
    send(name: string, text: string, hasParameters = true) {
      return order.send({ text, hasParameters }, () => {
        sent.push(name)
        return new Promise<string>((resolve, reject) => {
          replies.set(name, error => (error ? reject(error) : resolve(name)))
        })
      })
    },
    reply: (name: string, error?: Error) => replies.get(name)?.(error),
  }
}

test('a text is first sent when it is alone, and then with others', async () => {
  const { sent, send, reply } = watch(new StatementScheduler(true))
  const first = send('plain', 'select now()', false)
  const described = send('described', 'select $1')
  const behind = send('behind', 'select now()', false)
  expect(sent).toEqual(['plain'])
  reply('plain')
  await first
  expect(sent).toEqual(['plain', 'described'])
  reply('described')
  await described
  expect(sent).toEqual(['plain', 'described', 'behind'])
  const known = send('known', 'select $1')
  const plain = send('again', 'select now()', false)
  expect(sent).toEqual(['plain', 'described', 'behind', 'known', 'again'])
  for (const name of sent) reply(name)
  expect(await Promise.all([behind, known, plain])).toEqual(['behind', 'known', 'again'])
})

test('a text that failed before it was prepared is alone again, and those behind it are sent', async () => {
  const { sent, send, reply } = watch(new StatementScheduler(true))
  const failed = send('failed', 'select $1')
  const plain = send('plain', 'select now()', false)
  reply('failed', new Error('no such function'))
  await expect(failed).rejects.toThrow('no such function')
  const again = send('again', 'select $1')
  expect(sent).toEqual(['failed', 'plain'])
  reply('plain')
  await plain
  reply('again')
  expect(await again).toBe('again')
})

test('of several with a new text, the first is alone', async () => {
  const { sent, send, reply } = watch(new StatementScheduler(true))
  const texts = ['one', 'two', 'three'].map(name => send(name, 'select $1'))
  expect(sent).toEqual(['one'])
  reply('one')
  await texts[0]
  expect(sent).toEqual(['one', 'two', 'three'])
  for (const name of sent) reply(name)
  await Promise.all(texts)
})

test('none is sent before one that waits to be alone', async () => {
  const { sent, send, reply } = watch(new StatementScheduler(true))
  const all = [send('one', 'select 1', false), send('two', 'select $1'), send('three', 'select 1', false)]
  expect(sent).toEqual(['one'])
  for (const [n, name] of ['one', 'two', 'three'].entries()) {
    reply(name)
    await all[n]
  }
  expect(sent).toEqual(['one', 'two', 'three'])
})

test('where nothing is kept prepared, each statement with parameters is alone, and those without are not', async () => {
  const { sent, send, reply } = watch(new StatementScheduler(false))
  const texts = ['one', 'two', 'three'].map(name => send(name, 'select $1'))
  for (const [n, name] of ['one', 'two', 'three'].entries()) {
    expect(sent.at(-1)).toBe(name)
    reply(name)
    await texts[n]
  }
  const plain = [send('four', 'select now()', false), send('five', 'select now()', false)]
  expect(sent).toEqual(['one', 'two', 'three', 'four', 'five'])
  for (const name of sent) reply(name)
  await Promise.all(plain)
})
