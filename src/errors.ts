/** The errors that the rest of the program uses: the type, the catalogue's constructors, and ClientGone. */

export { type CarriedError, carryError, restoreError } from './errors/carry-error.ts'
export { ClientGone, ProxyError, type ProxyErrorOptions } from './errors/proxy-error.ts'
export { quoteError } from './errors/quote-error.ts'
export { describeError, invalidRequest, refuse } from './errors/refuse.ts'
