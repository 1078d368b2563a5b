/**
 * `bun run bench`: each path through the proxy on real stores, beside a floor of the same run.
 *
 * - --scenarios exact,semantic,miss,… (`scenarios.ts`; by default all but miss-varied)
 * - --connections 1,32,128 --rounds 3 --seconds 2 (of each turn) --warm-up 3 --out bench.json
 * - --peers: other gateways, too (`peers.ts`)
 * - --scale: what growth costs (`growth.ts`)
 */
import { runBench } from './run.ts'

await runBench({
  scenarios: 'exact,semantic,miss,miss-off,stream,stream-long,stream-crowd,embed-known,embed-half',
  connections: '1,32,128',
  rounds: '3',
  seconds: '2',
  'warm-up': '3',
  out: 'bench.json',
})
