/** The encodings in which a provider can echo a credential, and a check whether a text contains it in any of them. */

const inJson = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const percent = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`
const inBase64 = (text: string) => Buffer.from(text).toString('base64')
const everyOther = (text: string, write: (character: string) => string) =>
  [...text].map((character, at) => (at % 2 === 0 ? write(character) : character)).join('')

/** Each encoding is valid within a JSON string. */
export const ENCODINGS: Record<string, (secret: string) => string> = {
  plain: secret => secret,
  'behind Bearer': secret => `Bearer ${secret}`,
  'escaped in part': secret => everyOther(secret, inJson),
  'escaped whole': secret => [...secret].map(inJson).join(''),
  'JSON in JSON': secret => JSON.stringify(`{"key":"${everyOther(secret, inJson)}"}`).slice(1, -1),
  'for an address': secret => everyOther(secret, percent),
  'for an address, in small letters': secret => [...secret].map(percent).join('').toLowerCase(),
  'for an address, twice': secret => encodeURIComponent([...secret].map(percent).join('')),
  hex: secret => Buffer.from(secret).toString('hex'),
  'hex of Bearer, in capitals': secret => Buffer.from(`Bearer ${secret}`).toString('hex').toUpperCase(),
  'entities of HTML': secret => [...secret].map(character => `&#${character.charCodeAt(0)};`).join(''),
  'hex entities of HTML, in part': secret =>
    everyOther(secret, character => `&#x${character.charCodeAt(0).toString(16).padStart(4, '0')};`),
  'entities of HTML, as Go writes JSON': secret =>
    everyOther(secret, character => `\\u0026#${character.charCodeAt(0)};`),
  base64: inBase64,
  'base64 of Bearer': secret => inBase64(`Bearer ${secret}`),
  'base64 of user and key': secret => inBase64(`user:${secret}`),
  'base64 of x and key': secret => inBase64(`x:${secret}:`),
  'base64 for an address': secret => encodeURIComponent(inBase64(`?${secret}?`)),
  'base64url, escaped': secret => everyOther(Buffer.from(`~${secret}`).toString('base64url'), inJson),
}

/** Decodes the text repeatedly and searches each result. */
export function containsCredential(text: string, secret: string): boolean {
  const texts = new Set([text])
  for (let depth = 0; depth < 3; depth++)
    for (const each of [...texts]) for (const read of readOn(each)) texts.add(read)
  return [...texts].some(each => each.includes(secret) || readBase64(each).some(decoded => decoded.includes(secret)))
}

function readOn(text: string): string[] {
  const character = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  const inHex = (run: string) => Buffer.from(run, 'hex').toString('latin1')
  return [
    text.replace(/\\+u([0-9a-f]{4})/gi, character),
    text.replace(/%([0-9a-f]{2})/gi, character),
    text.replaceAll('\\/', '/'),
    text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))),
    text.replace(/&#x([0-9a-f]+);/gi, character),
    text.replace(/(?:[0-9a-f]{2}){8,}/gi, inHex),
  ]
}

function readBase64(text: string): string[] {
  return [...text.matchAll(/[\w+/-]{12,}/g)].flatMap(([run]) =>
    [0, 1, 2, 3].map(skip => Buffer.from(run.slice(skip), 'base64').toString('latin1')),
  )
}
