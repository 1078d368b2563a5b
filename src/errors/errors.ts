/** The errors that the rest of the program uses: the type, the catalogue's constructors, and ClientDisconnected. */

export { addErrorDetails, createError, createErrorOptions, invalidRequestError } from './create-error.ts'
export { createUpstreamError } from './create-upstream-error.ts'
export { ClientDisconnected, ProxyError, type ProxyErrorOptions } from './proxy-error.ts'
export { deserializeError, type SerializedError, serializeError } from './serialize-error.ts'
