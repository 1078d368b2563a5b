/**
 * Replays recorded exchanges as an upstream, directly and through a proxy of its own, and tells every difference but the proxy's own
 * headers: `bun run replay [DIR]`. `--serve` keeps the upstream up instead, on `--port` (4011).
 */
import { parseArgs } from 'node:util'
import { checkExchange } from './exchanges/check-exchange.ts'
import { readExchanges } from './exchanges/exchange.ts'
import { startOwnProxy } from './exchanges/own-proxy.ts'
import { startReplayUpstream } from './exchanges/replay-upstream.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { serve: { type: 'boolean', default: false }, port: { type: 'string', default: '4011' } },
})
const print = (line: string) => process.stdout.write(`${line}\n`)
const recorded = await readExchanges(positionals[0])
const upstream = startReplayUpstream(
  recorded.map(({ exchange }) => exchange),
  values.serve ? Number(values.port) : 0,
)

if (values.serve) print(`Replaying ${recorded.length} exchanges at ${upstream.baseUrl}`)
else {
  const proxy = await startOwnProxy(upstream.baseUrl)
  let different = 0
  for (const { name, exchange } of recorded) {
    const found = await checkExchange(exchange, { direct: upstream.baseUrl, through: proxy.baseUrl, key: proxy.key })
    print(`${found.length === 0 ? 'same     ' : 'DIFFERENT'} ${name}`)
    for (const difference of found) print(`  ${difference}`)
    if (found.length > 0) different++
  }
  print(`${recorded.length - different} of ${recorded.length} exchanges are the same through the proxy.`)
  await proxy.stop()
  await upstream.stop()
  process.exitCode = different > 0 || recorded.length === 0 ? 1 : 0
}
