/** Settings of OpenTelemetry, under its own names: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
import type { SettingsReader } from './settings-reader.ts'

export interface TracingConfig {
  /** The address to which spans are sent, with `/v1/traces`. */
  url: string
  headers: Record<string, string>
  serviceName: string
  resourceAttributes: Record<string, string>
  sampler: (typeof SAMPLERS)[number]
  /** The share of traces, from 0 to 1, that a ratio sampler samples. */
  samplerRatio: number
}

const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const

/** Returns null when no endpoint is set: nothing is traced then. */
export function readTracingConfig(read: SettingsReader): TracingConfig | null {
  const example = 'http://127.0.0.1:4318'
  if (read.optionalText('OTEL_EXPORTER_OTLP_ENDPOINT') === null) return null
  return {
    url: `${read.baseUrl('OTEL_EXPORTER_OTLP_ENDPOINT', example)}/v1/traces`,
    headers: readPairs(read, 'OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20…'),
    serviceName: read.text('OTEL_SERVICE_NAME', 'model-proxy'),
    resourceAttributes: readPairs(read, 'OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=production'),
    sampler: read.choice('OTEL_TRACES_SAMPLER', 'parentbased_always_on', SAMPLERS),
    samplerRatio: readRatio(read),
  }
}

/** Reads `name=value` pairs, which are separated by commas and percent-encoded. */
function readPairs(read: SettingsReader, name: string, example: string): Record<string, string> {
  try {
    const pairs = (read.optionalText(name) ?? '').split(',').filter(pair => pair.trim() !== '')
    return Object.fromEntries(pairs.map(readPair))
  } catch {
    read.problem(name, 'name=value pairs, separated by commas and percent-encoded', example)
    return {}
  }
}

function readPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=')
  if (at < 1) throw new Error('no name')
  return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]
}

function readRatio(read: SettingsReader): number {
  const ratio = Number(read.text('OTEL_TRACES_SAMPLER_ARG', '1'))
  if (ratio >= 0 && ratio <= 1) return ratio
  read.problem('OTEL_TRACES_SAMPLER_ARG', 'a share from 0 to 1', 0.1)
  return 1
}
