/** Contains every error that the proxy itself sends to clients, by name. docs/errors.md is generated from it. */
import { ADMIN_ERRORS } from './admin-errors.ts'
import { CLIENT_ERRORS } from './client-errors.ts'
import { ROUTING_ERRORS } from './routing-errors.ts'
import { SERVER_ERRORS } from './server-errors.ts'

export const ERROR_CATALOGUE = { ...CLIENT_ERRORS, ...ROUTING_ERRORS, ...SERVER_ERRORS, ...ADMIN_ERRORS } as const

export type ErrorName = keyof typeof ERROR_CATALOGUE
