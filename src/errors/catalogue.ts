/** Every error of the proxy's own that a client can get, by name. docs/errors.md is written from it. */
import { CLIENT_ERRORS } from './client-errors.ts'
import { SERVER_ERRORS } from './server-errors.ts'

export const ERRORS = { ...CLIENT_ERRORS, ...SERVER_ERRORS } as const

export type ErrorName = keyof typeof ERRORS
