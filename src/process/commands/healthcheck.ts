/** `healthcheck`: the health check of the container image, which has no other program. Exits with 0 if the proxy at PORT is alive. */
import { readConfig } from '../../config/config.ts'

const LIMIT_MS = 2_500

export async function run(): Promise<number> {
  const { port } = readConfig()
  const response = await fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(LIMIT_MS) })
  return response.ok ? 0 : 1
}
