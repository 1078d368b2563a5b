/**
 * Compares versions of the proxy, each with its own database, after a warm-up that lets JIT compilers finish:
 * `bun scripts/bench/compare.ts --checkouts base=/path/to/one,now=. --scenarios exact,semantic,miss,miss-off --connections 32`,
 * with --rounds N (default 10), --seconds N (per turn, default 1), --warm-up N (seconds, default 30).
 */
import { runBench } from './run.ts'

await runBench({
  scenarios: 'exact,semantic,miss,miss-off',
  connections: '32',
  rounds: '10',
  seconds: '1',
  'warm-up': '30',
  out: 'compare.json',
})
