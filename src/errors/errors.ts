/** Exports the error classes and the functions that create errors. */

export { addErrorDetails, createError, createErrorOptions, invalidRequestError } from './create-error.ts'
export { createUpstreamError } from './create-upstream-error.ts'
export { ClientDisconnected, ProxyError, type ProxyErrorOptions } from './proxy-error.ts'
export { deserializeError, type SerializedError, serializeError } from './serialize-error.ts'
