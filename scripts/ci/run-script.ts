/** Runs a package script, prints its output as it arrives, and returns the end of it. */

const KEPT_LINES = 12
/** A process that the script left behind may hold its output open for longer. */
const DRAIN_MS = 1000

export interface ScriptResult {
  exitCode: number
  lastLines: string
}

/** `script` is a name with its options, as in `bun run`. */
export async function runScript(
  script: string,
  options: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<ScriptResult> {
  const child = Bun.spawn([process.execPath, 'run', ...script.split(' '), ...options], {
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let end = ''
  const print = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      process.stdout.write(chunk)
      const text = end + decoder.decode(chunk, { stream: true })
      end = text
        .split('\n')
        .slice(-KEPT_LINES - 1)
        .join('\n')
    }
  }
  const printed = Promise.all([print(child.stdout), print(child.stderr)])
  const exitCode = await child.exited
  await Promise.race([printed, Bun.sleep(DRAIN_MS)])
  return { exitCode, lastLines: Bun.stripANSI(end).trimEnd() }
}
