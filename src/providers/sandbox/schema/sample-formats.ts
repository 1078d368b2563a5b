/** Samples of string formats that the schema library does not know or gets wrong, or that must not point at anything real. */
import type { Random } from 'json-schema-faker'

type WriteSample = (random: Random) => string

const number = (random: Random) => random.int(1, 999_999)
/** RFC 2606 reserves these names for examples. */
const email: WriteSample = random => `sandbox${number(random)}@example.com`
const hostname: WriteSample = random => `sandbox${number(random)}.example.com`
const uri: WriteSample = random => `https://example.com/sandbox/${number(random)}`
const base64: WriteSample = random => btoa(`sandbox ${number(random)}`)

export const SAMPLE_FORMATS: Record<string, WriteSample> = {
  email,
  'idn-email': email,
  hostname,
  'idn-hostname': hostname,
  uri,
  url: uri,
  iri: uri,
  'uri-template': random => `/sandbox/${number(random)}/{id}`,
  // RFC 5737 and RFC 3849 reserve these addresses.
  ipv4: random => `192.0.2.${random.int(0, 255)}`,
  ipv6: random => `2001:db8::${random.int(0x1000, 0xffff).toString(16)}`,
  duration: random => `P${number(random)}D`,
  regex: random => `^sandbox${number(random)}$`,
  byte: base64,
  base64,
}
