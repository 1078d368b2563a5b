/** Owns a sample of each string format JSON Schema names, in as many variants as asked for. */

const twoDigits = (number: number) => String(number).padStart(2, '0')

const date = (variant: number) =>
  `${2024 + Math.floor(variant / 336)}-${twoDigits((Math.floor(variant / 28) % 12) + 1)}-${twoDigits((variant % 28) + 1)}`
const time = (variant: number) => `${twoDigits(Math.floor(variant / 60) % 24)}:${twoDigits(variant % 60)}:00Z`
const hex = (variant: number, digits: number) => variant.toString(16).padStart(digits, '0').slice(-digits)

const FORMATS = new Map<string, (variant: number) => string>([
  ['date-time', variant => `${date(Math.floor(variant / 1440))}T${time(variant)}`],
  ['date', date],
  ['time', time],
  ['duration', variant => `P${variant + 1}D`],
  ['email', variant => `sandbox${variant + 1}@example.com`],
  ['idn-email', variant => `sandbox${variant + 1}@example.com`],
  ['hostname', variant => `sandbox${variant + 1}.example.com`],
  ['idn-hostname', variant => `sandbox${variant + 1}.example.com`],
  ['ipv4', variant => `192.0.${Math.floor(variant / 256) % 256}.${variant % 256}`],
  ['ipv6', variant => `2001:db8::${hex(variant + 1, 4)}`],
  ['uri', variant => `https://example.com/sandbox/${variant + 1}`],
  ['url', variant => `https://example.com/sandbox/${variant + 1}`],
  ['iri', variant => `https://example.com/sandbox/${variant + 1}`],
  ['uri-reference', variant => `/sandbox/${variant + 1}`],
  ['iri-reference', variant => `/sandbox/${variant + 1}`],
  ['uri-template', variant => `/sandbox/${variant + 1}/{id}`],
  ['uuid', variant => `5a4db0c5-0000-4000-8000-${hex(variant + 1, 12)}`],
  ['json-pointer', variant => `/sandbox/${variant}`],
  ['relative-json-pointer', variant => `${variant}`],
  ['regex', variant => `^sandbox${variant + 1}$`],
  ['byte', variant => btoa(`sandbox ${variant + 1}`)],
  ['base64', variant => btoa(`sandbox ${variant + 1}`)],
])

/** The sample, or nothing for a format not known here. */
export function* writeFormat(format: string, variant: number): Generator<string> {
  const write = FORMATS.get(format)
  if (write !== undefined) yield write(variant)
}
