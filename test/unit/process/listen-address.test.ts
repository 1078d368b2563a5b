import { expect, test } from 'vitest'
import { portUnavailableError } from '../../../src/process/listen-address.ts'

test('rejects a port in use by the name of its setting', () => {
  const taken = Object.assign(new Error(), { code: 'EADDRINUSE' })
  expect(portUnavailableError('127.0.0.1', 3000, taken).message).toMatch(/PORT must be free .* Example: PORT=3001/)
  expect(portUnavailableError('127.0.0.1', 3797, taken, 'DASHBOARD').message).toMatch(
    /DASHBOARD must be free .* DASHBOARD=3001/,
  )
})
