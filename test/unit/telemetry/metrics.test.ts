import { describe, expect, test } from 'vitest'
import {
  createMetrics,
  formatExposition,
  mergeSnapshots,
  observe,
  withoutGauges,
} from '../../../src/telemetry/metrics.ts'

function measured(count: number) {
  const metrics = createMetrics()
  metrics.valueFamily('asked_total', { type: 'counter', help: 'Asked.', labels: ['model'] }).with('a').value += count
  const seconds = metrics.histogramFamily('seconds', { type: 'histogram', help: 'Time.', labels: [], bounds: [0.1, 1] })
  for (const value of [0.05, 0.1, 0.5, 7]) observe(seconds.with(), value)
  metrics.valueFamily('open', { type: 'gauge', help: 'Open.', labels: ['name'] }, family => {
    family.with('x').value = count
  })
  return metrics.snapshot()
}

describe('metrics', () => {
  test('are written in Prometheus’s text format: buckets are cumulative, and the last has all', () => {
    expect(formatExposition(measured(3))).toBe(
      [
        '# HELP asked_total Asked.',
        '# TYPE asked_total counter',
        'asked_total{model="a"} 3',
        '# HELP seconds Time.',
        '# TYPE seconds histogram',
        'seconds_bucket{le="0.1"} 2',
        'seconds_bucket{le="1"} 3',
        'seconds_bucket{le="+Inf"} 4',
        'seconds_sum 7.65',
        'seconds_count 4',
        '# HELP open Open.',
        '# TYPE open gauge',
        'open{name="x"} 3',
        '',
      ].join('\n'),
    )
  })

  test('escape labels and help texts', () => {
    const metrics = createMetrics()
    metrics
      .valueFamily('n_total', { type: 'counter', help: 'One\nline.', labels: ['name'] })
      .with('a "b"\\\nc').value = 1
    expect(formatExposition(metrics.snapshot())).toBe(
      '# HELP n_total One\\nline.\n# TYPE n_total counter\nn_total{name="a \\"b\\"\\\\\\nc"} 1\n',
    )
  })

  test('are summed over processes, and a transfer between them changes nothing', () => {
    const crossed = JSON.parse(JSON.stringify([measured(3), measured(4)]))
    const text = formatExposition(mergeSnapshots(crossed))
    expect(text).toContain('asked_total{model="a"} 7\n')
    expect(text).toContain('seconds_bucket{le="+Inf"} 8\n')
    expect(text).toContain('open{name="x"} 7\n')
  })

  test('of a process that has ended keep counts and lose gauges', () => {
    expect(withoutGauges(measured(3)).map(({ name }) => name)).toEqual(['asked_total', 'seconds'])
  })

  test('are merged without changes to their sources', () => {
    const [one, other] = [measured(3), measured(4)]
    mergeSnapshots([one, other])
    expect(formatExposition(one)).toBe(formatExposition(measured(3)))
  })
})
