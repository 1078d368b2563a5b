/** `bun run bench`: each path through the proxy; with --peers other gateways beside it, with --scale the cost of growth. */

if (process.argv.includes('--peers')) await import('./peers.ts')
else if (process.argv.includes('--scale')) await import('./growth.ts')
else await import('./bench.ts')
