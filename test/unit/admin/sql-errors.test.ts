import { expect, test } from 'vitest'
import { toClientError } from '../../../src/admin/sql-errors.ts'

const raised = (code: string, message: string) => Object.assign(new Error(message), { code })

test.each([
  ['P0002', 404, 'not_found'],
  ['42501', 403, 'permission_denied'],
  ['22023', 400, 'invalid_request_error'],
  // A value that violates a table constraint is a client error, unless a function raised a more specific one.
  ['23514', 400, 'invalid_request_error'],
  ['23505', 409, 'already_exists'],
  ['55000', 400, 'not_possible'],
])('maps %s to %i', (state, status, code) => {
  expect(toClientError(raised(state, 'it is so'))).toMatchObject({ status, code, message: 'It is so.' })
})

test('hides the cause of an internal error', () => {
  expect(toClientError(raised('42703', 'column "x" does not exist'))).toBeNull()
  expect(toClientError(new Error('anything'))).toBeNull()
})
