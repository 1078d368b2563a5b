/**
 * An example of a hook (docs/hooks.md). It rejects requests and responses with card numbers, IBANs, API keys or email addresses, which it
 * detects by pattern and checksum.
 *
 *   HOOK_SECRET=… PORT=8700 bun examples/hook/hook.ts       HOOK_SECRET is the proxy's; set the proxy's HOOK_URL=http://127.0.0.1:8700
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The version of the rules. Change it with the rules: cached responses are then checked again. */
const POLICY = 'personal-data-1'
const { HOOK_SECRET = '', PORT = '8700' } = process.env
const SECRET = Buffer.from(HOOK_SECRET.replace(/^whsec_/, ''), 'base64')
const MAX_AGE_SECONDS = 300
/** Lengths of IBANs by country, https://www.swift.com/standards/data-standards/iban. */
const IBANS = new Map(
  'AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25QA29RO24RS22SA24SC31SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20'
    .match(/.{4}/g)
    ?.map(each => [each.slice(0, 2), Number(each.slice(2))] as const),
)
const KEY =
  /\b(?:sk-[\w-]{16,}|lgw_\w{8,}|gh[opsur]_\w{30,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}\b|AIza[\w-]{35})|-----BEGIN [A-Z ]*PRIVATE KEY-----/

/** Checks a card number with the Luhn algorithm: every second digit from the right counts twice. */
function isCard(number: string): boolean {
  const digits = [...number.replace(/\D/g, '')].reverse().map(Number)
  const sum = digits.reduce(
    (all, digit, at) => all + (at % 2 === 0 ? digit : ([0, 2, 4, 6, 8, 1, 3, 5, 7, 9][digit] ?? 0)),
    0,
  )
  return sum % 10 === 0
}

/** Checks an IBAN by ISO 7064, mod 97: letters count from 10 on, and the first four characters move to the end. */
function isIban(text: string): boolean {
  const given = text.replaceAll(' ', '').toUpperCase()
  const iban = given.slice(0, IBANS.get(given.slice(0, 2)) ?? Number.POSITIVE_INFINITY)
  if (iban.length !== IBANS.get(given.slice(0, 2))) return false
  const number = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, letter => `${letter.charCodeAt(0) - 55}`)
  return BigInt(number) % 97n === 1n
}

/** Returns the first kind of personal data in a text; null if there is none. Normalizes digits and ignores invisible characters. */
export function findPersonalData(text: string): string | null {
  const plain = text.normalize('NFKC').replace(/\p{Cf}/gu, '')
  const cards = plain.match(/(?<![\d.])[2-6](?:[ -]?\d){12,18}(?!\d)/g) ?? []
  if (cards.some(isCard)) return 'a card number'
  const ibans = plain.match(/(?<![a-z\d])[a-z]{2}\d{2}(?: ?[a-z\d]){11,30}/gi) ?? []
  if (ibans.some(isIban)) return 'an IBAN'
  if (KEY.test(plain)) return 'a key'
  return /[\w.+-]@[\w-]+(?:\.[\w-]+)+/.test(plain) ? 'a mail address' : null
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) yield* textsOf(each)
}

function isSigned({ headers }: Request, body: string): boolean {
  const [id, time] = [headers.get('webhook-id'), headers.get('webhook-timestamp')]
  const signature = createHmac('sha256', SECRET).update(`${id}.${time}.${body}`).digest()
  const given = Buffer.from(headers.get('webhook-signature')?.replace(/^v1,/, '') ?? '', 'base64')
  const age = Math.abs(Date.now() / 1000 - Number(time))
  return age < MAX_AGE_SECONDS && given.length === signature.length && timingSafeEqual(given, signature)
}

export default {
  port: Number(PORT),
  hostname: '127.0.0.1',
  async fetch(request: Request): Promise<Response> {
    const body = await request.text()
    if (!isSigned(request, body)) return new Response(null, { status: 401 })
    const { type, request: prompt, answer } = JSON.parse(body)
    const found = textsOf(type === 'before' ? prompt : answer)
      .map(findPersonalData)
      .find(each => each !== null)
    const where = type === 'before' ? 'Your request' : 'The answer'
    return Response.json(
      found
        ? { verdict: 'refuse', message: `${where} holds ${found}, which must not pass.`, policy: POLICY }
        : { verdict: 'allow', policy: POLICY },
    )
  },
}
