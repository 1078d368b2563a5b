/** Detects whose API a client uses when several vendors share a path: from the base path, else from headers that only one vendor's clients send. */
import { compilePattern, type VendorDirectory } from '../catalogue/vendor-directory.ts'
import type { ClientVendor } from '../providers/pass-through-operations.ts'

/**
 * Base paths of APIs. A client of which only the host was changed keeps the rest of its base URL. The value is null for a base that identifies
 * no vendor.
 */
const KNOWN_BASES: readonly (readonly [string, ClientVendor | null])[] = [
  // Azure.
  ['openai', null],
  // Gateways use this base for Anthropic's clients.
  ['anthropic', 'anthropic'],
  // Gemini uses this base for OpenAI's clients.
  ['v1beta/openai', 'google'],
  // OpenRouter has this base before /v1.
  ['api', 'aggregator'],
]
/** Headers that Anthropic's API requires, or that turn on features that only it has. */
const ANTHROPIC_HEADERS = ['anthropic-version', 'anthropic-beta']
/** Headers of Google's clients: its packages send both. */
const GOOGLE_HEADERS = ['x-goog-api-key', 'x-goog-api-client']
/** The user agent of OpenRouter's packages, which send no header of their own. */
const OPENROUTER_AGENT = /\bai-sdk\/openrouter\/|@openrouter\//

export interface VendorDetector {
  /** Splits a path into the vendor's base and the rest. `vendor` is null when the base identifies none. */
  splitBase(path: string): { rest: string; vendor: ClientVendor | null }
  /** Returns the vendor that the headers identify; null for none. */
  detect(headers: Headers): ClientVendor | null
}

const detectors = new WeakMap<VendorDirectory, VendorDetector>()

/** Returns the detector for these vendors. */
export function vendorDetectorOf(vendors: VendorDirectory): VendorDetector {
  const known = detectors.get(vendors)
  if (known) return known
  const detector = createVendorDetector(vendors)
  detectors.set(vendors, detector)
  return detector
}

function createVendorDetector({ list }: VendorDirectory): VendorDetector {
  const bases = new Map<string, ClientVendor | null>([
    // Groq and others have a base before /v1. They use OpenAI's format, so the base identifies no vendor.
    ...list
      .map(({ base_url }): [string, null] => [base_url === null ? '' : basePathOf(base_url), null])
      .filter(([base]) => base !== ''),
    ...KNOWN_BASES,
  ])
  // The longest first: one may begin with another.
  const sorted = [...bases.keys()].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(`^(?:/v1)?/(${sorted.map(RegExp.escape).join('|')})(?=/)`)
  /** User agents of vendors' packages that send no header of their own. */
  const agents = list.flatMap(({ name, client_agent }) => {
    const agent = compilePattern(client_agent)
    return agent === null ? [] : [[name, agent] as const]
  })
  agents.push(['aggregator', OPENROUTER_AGENT])
  return {
    splitBase(path) {
      const [base = '', name = ''] = pattern.exec(path) ?? []
      return { rest: path.slice(base.length), vendor: bases.get(name) ?? null }
    },
    detect(headers) {
      const form = detectApiHeaders(headers)
      if (form !== null) return form
      const agent = headers.get('user-agent') ?? ''
      return agents.find(([, pattern]) => pattern.test(agent))?.[0] ?? null
    },
  }
}

/** Returns the vendor whose API the headers belong to; null for any other. */
export function detectApiHeaders(headers: Headers): 'anthropic' | 'google' | null {
  if (ANTHROPIC_HEADERS.some(name => headers.has(name))) return 'anthropic'
  return GOOGLE_HEADERS.some(name => headers.has(name)) ? 'google' : null
}

function basePathOf(address: string): string {
  return new URL(address).pathname.replace(/^\//, '').replace(/\/?v1$/, '')
}
