/** The errors that the rest of the program uses: the type, the catalogue's constructors, and ClientGone. */

export { type CarriedError, carryError, restoreError } from './carry-error.ts'
export { ClientGone, ProxyError, type ProxyErrorOptions } from './proxy-error.ts'
export { quoteError } from './quote-error.ts'
export { describeError, invalidRequest, refuse, withDetails } from './refuse.ts'
