/**
 * `bun run bench`: measures each path through the proxy on real stores, relative to a floor in the same run.
 *
 * - --scenarios exact,semantic,miss,… (`scenarios.ts`; by default all but miss-varied)
 * - --connections 1,32,128 --rounds 3 --seconds 2 (per turn) --warm-up 3 --out bench.json
 * - --peers: includes other gateways (`peers.ts`)
 * - --scale: measures again on a large database (`growth.ts`)
 * - --admin: measures what the dashboard reads instead (`admin-reads.ts`)
 * - --starts: measures starts, idle memory and size instead (`starts.ts`)
 */
import { runAdminBench } from './admin-reads.ts'
import { runBench } from './run.ts'
import { runStartBench } from './starts.ts'

if (process.argv.includes('--admin')) await runAdminBench()
else if (process.argv.includes('--starts')) await runStartBench()
else
  await runBench({
    scenarios: 'exact,semantic,miss,miss-off,stream,stream-long,stream-crowd,embed-known,embed-half',
    connections: '1,32,128',
    rounds: '3',
    seconds: '2',
    'warm-up': '3',
    out: 'bench.json',
  })
