/** Reads the header Proxy-Status as RFC 9651 defines lists: strictly, so that a wrong escape is an error. */

/** The parameters of each member. Tokens and strings are texts. */
export type ProxyStatus = Record<string, string | number>[]

const MEMBER = /^[A-Za-z*][\w!#$%&'*+\-.^`|~:/]*/
const PARAMETER =
  /^ *; *([a-z*][a-z0-9_\-.*]*)=(?:"((?:[ !#-[\]-~]|\\["\\])*)"|(-?\d{1,15})|([A-Za-z*][\w!#$%&'*+\-.^`|~:/]*))/
const COMMA = /^[ \t]*,[ \t]*(?=.)/

/** Returns an empty list for no header. Throws if the header is not a list of tokens with parameters. */
export function readProxyStatus({ headers }: { headers: Headers }): ProxyStatus {
  let rest = headers.get('proxy-status') ?? ''
  const members: ProxyStatus = []
  const take = (pattern: RegExp) => {
    const found = pattern.exec(rest)
    if (found) rest = rest.slice(found[0].length)
    return found
  }
  while (rest !== '') {
    if (members.length > 0 && !take(COMMA)) throw new Error(`Proxy-Status has no comma before: ${rest}`)
    if (take(MEMBER)?.[0] !== 'model-proxy') throw new Error(`Proxy-Status has no token at: ${rest}`)
    const member: ProxyStatus[number] = {}
    for (let found = take(PARAMETER); found; found = take(PARAMETER)) {
      const [, name = '', text, number, token] = found
      member[name] = number === undefined ? (token ?? (text ?? '').replace(/\\(.)/g, '$1')) : Number(number)
    }
    members.push(member)
  }
  return members
}
