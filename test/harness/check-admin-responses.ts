/**
 * Compares each response of the admin API that a test receives with its description. A response that differs fails the test and its file.
 */
import { afterAll, expect } from 'vitest'
import { findUndescribed } from './description.ts'

declare global {
  /** The differences found in this worker. Its files share them. */
  var undescribedAnswers: string[] | undefined
}

const PREFIXES = /^\/(v1\/(organization|usage|requests|cache)|dashboard\/api)(\/|$)/

function holdAnswers(found: string[]): void {
  const send = globalThis.fetch
  const held = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await send(input, init)
    const { method, url } = typeof input === 'object' && 'url' in input ? input : { method: 'GET', url: String(input) }
    const { hostname, pathname } = new URL(url)
    if (hostname !== '127.0.0.1' || !PREFIXES.test(pathname)) return response
    const undescribed = await findUndescribed((init?.method ?? method).toUpperCase(), pathname, response)
    if (undescribed === null) return response
    found.push(undescribed)
    throw new Error(undescribed)
  }
  globalThis.fetch = Object.assign(held, { preconnect: send.preconnect })
}

if (globalThis.undescribedAnswers === undefined) {
  globalThis.undescribedAnswers = []
  holdAnswers(globalThis.undescribedAnswers)
}

afterAll(() => {
  expect(globalThis.undescribedAnswers?.splice(0)).toEqual([])
})
